"""The environment of a run: a recipe for the base commit that was proved by the project's own tests."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from bot.errors import AgentFixError, Cancelled, TimedOut
from bot.llm.port import Completion, Request
from bot.service.effects import Steps
from bot.team import outfitter
from repo_tools.checkout import Commit
from repo_tools.tree import Tree
from sandbox.errors import SetupFailed, TestsUnrunnable
from sandbox.memory import RecipeMemory
from sandbox.port import Recipe, Sandbox
from sandbox.proving import Proof, prove
from sandbox.recipe import candidates


@dataclass(frozen=True)
class Establishing:
    """What the environment of a run is made with. `step` carries out a step, `ask` gives one paid completion.

    `seconds` limits one run of the suite. `check_time` is called before each step of the search, and ends it by
    what it raises when the run's time is spent.
    """

    step: Steps
    ask: Callable[[Request], Completion]
    sandbox: Sandbox
    recipes: RecipeMemory
    base_image: str
    seconds: float
    check_time: Callable[[], None]

    def proof(self, commit: Commit, repository: str, targets: Callable[[], Iterable[str]]) -> Proof:
        """The first recipe that gives a sound test report on `commit`, and that report; it is remembered.

        If none does, a model is asked once for another. `repository` is what recipes are remembered by; `targets`
        gives the files that the change will likely be in. Raises what `prove` and `candidates` raise.
        """
        try:
            return self.step("environment and baseline", lambda: self._found(commit, repository, targets()))
        except (SetupFailed, TestsUnrunnable) as failure:
            recipe = self._asked(commit, failure)
            if recipe is None:
                raise
            tried = functools.partial(self._tried, commit, repository, recipe, failure)
            return self.step("environment by a model's answer", tried)

    def _asked(self, commit: Commit, failure: SetupFailed | TestsUnrunnable) -> Recipe | None:
        try:
            said = self.ask(outfitter.request(Tree(commit), f"{failure}"))
        except (Cancelled, TimedOut):
            raise
        except AgentFixError:
            return (
                None  # what failed is the project's set-up; that nobody could be asked for help changes nothing of it
            )
        return outfitter.answer(said, self.base_image)

    def _found(self, commit: Commit, repository: str, targets: Iterable[str]) -> Proof:
        tree, mounted = Tree(commit), commit.submodules()
        found = candidates(
            tree,
            remembered=self.recipes.recall(repository, tree, mounted),
            target_paths=targets,
            as_of=commit.day,
            submodules=mounted,
            base_image=self.base_image,
        )
        return self._proved(commit, repository, found)

    def _tried(self, commit: Commit, repository: str, recipe: Recipe, before: SetupFailed | TestsUnrunnable) -> Proof:
        try:
            return self._proved(commit, repository, [recipe])
        except (SetupFailed, TestsUnrunnable) as error:
            raise TestsUnrunnable(f"{before}\nA model's answer did not work either: {error}") from error

    def _proved(self, commit: Commit, repository: str, recipes: list[Recipe]) -> Proof:
        tree = Tree(commit)
        proof = prove(self.sandbox, tree, recipes, seconds=self.seconds, on_attempt=lambda _: self.check_time())
        self.recipes.remember(repository, tree, commit.submodules(), proof.recipe)
        # A proof is stored, and a tree, which is read from a repository, cannot be: who goes on prepares for a tree
        # anyway.
        return replace(proof, environment=replace(proof.environment, base=None))
