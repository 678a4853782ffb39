"""Who may call the bot, and for what: the operator's word, and what a repository says for itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from bot import repo_config
from bot.errors import BadInput
from bot.forge.events import Rules
from bot.forge.port import Access, Actor, Forge


@dataclass(frozen=True)
class Policy:
    """What holds for all repositories, or for one."""

    rules: Rules
    label: str
    """The one that calls the bot; the listener lets through all that any repository may have chosen."""
    needs: Access
    strategy: str
    base_branch: str | None = None
    grace: timedelta = timedelta(minutes=5)
    """How old a label must be for the sweep to care."""
    wrong: str = ""
    """What is wrong with the repository's own settings: nothing is begun there until it is mended."""


def in_repository(policy: Policy, forge: Forge) -> Policy:
    """The policy in one repository: its `.github/agent-fix.yml`, as it stands on the default branch, is heeded.

    It may ask for a higher role than the operator does, never for a lower one: the money is the operator's.
    """
    text = forge.code.file(repo_config.PATH)
    if text is None:
        return policy
    try:
        own = repo_config.read(text)
    except BadInput as error:
        return replace(policy, wrong=f"The repository's settings cannot be used. {error}")
    unheard = _unheard(own, policy)
    return replace(
        policy,
        label=policy.label if unheard else own.label or policy.label,
        needs=max(policy.needs, Access[own.needs.upper()] if own.needs else Access.NONE),
        strategy=own.strategy or policy.strategy,
        base_branch=own.base_branch or policy.base_branch,
        wrong=unheard or _missing(own, forge),
    )


def refusal_of(policy: Policy, forge: Forge, actor: Actor) -> str | None:
    """Why this account may not call the bot here, or nobody may; None if it may."""
    if (actor.login, actor.id) in policy.rules.bots:
        return policy.wrong or None
    if actor.type != "User":
        return f"`{actor.login}` is no user, and no bot that is listed by login and id in the bot's settings."
    has, needs = forge.access(actor.login), policy.needs
    if has >= needs:
        return policy.wrong or None
    return (
        f"`{actor.login}` has the role {has.name.lower()} here; calling the bot takes {needs.name.lower()} or "
        "more. Have somebody call it who has that."
    )


def _unheard(own: repo_config.RepoConfig, policy: Policy) -> str:
    if own.label is None or own.label in policy.rules.labels:
        return ""
    heard = ", ".join(f"`{label}`" for label in sorted(policy.rules.labels))
    return (
        f"{repo_config.PATH} names the label `{own.label}`, for which this bot does not listen: choose among {heard}, "
        "or have its operator add the name to AGENT_FIX_MORE_LABELS."
    )


def _missing(own: repo_config.RepoConfig, forge: Forge) -> str:
    branch = own.base_branch
    if branch is None or branch in forge.code.branches(branch):
        return ""
    return f"{repo_config.PATH} names the base branch `{branch}`, which does not exist: make it, or name another."
