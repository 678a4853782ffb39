"""The strategies by name."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from functools import partial
from typing import Any

from bot.team import testing_roles
from bot.team.architect import ARCHITECT
from bot.team.delivery import Delivery
from bot.team.evidence import Assignment
from bot.team.organization import roles as organization_roles
from bot.team.outfitter import OUTFITTER
from bot.team.roles import ROLES as COMMON_ROLES
from bot.team.steps import Step
from bot.team.strategies.agentcoder import agentcoder, sampling
from bot.team.strategies.self_collaboration import self_collaboration
from bot.team.strategies.self_organized import self_organized
from bot.team.strategies.single import single
from bot.team.strategies.team import team

STRATEGIES: Mapping[str, Callable[[Assignment], Generator[Step, Any, Delivery]]] = {
    "team": team,
    "agentcoder": agentcoder,
    "agentcoder-sampling": sampling,
    "self-collaboration": self_collaboration,
    "self-organized": self_organized,
    "single": single,
}
DEFAULT = "team"

ABLATIONS: Mapping[str, Callable[[Assignment], Generator[Step, Any, Delivery]]] = {
    f"self-collaboration:{'+'.join(roles)}": partial(self_collaboration, roles=frozenset(roles))
    for roles in (("coder",), ("analyst", "coder"), ("coder", "tester"))
}
"""Self-collaboration without some of its roles, to measure what each of them brings; no repository chooses them."""

PLAYABLE = {**STRATEGIES, **ABLATIONS}
"""All that a run can be given by name."""

ROLES = (
    *COMMON_ROLES,
    *(role.name for role in (ARCHITECT, OUTFITTER, *testing_roles.ROLES, *organization_roles.ROLES)),
)
"""The names of all roles that any strategy asks: each may have a model of its own."""
