"""The environment of a run: a recipe for the base commit that was proved by the project's own tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from repo_tools.checkout import Commit
from repo_tools.tree import Tree
from sandbox.memory import RecipeMemory
from sandbox.port import Sandbox
from sandbox.proving import Proof, prove
from sandbox.recipe import candidates


def established(
    commit: Commit,
    repository: str,
    sandbox: Sandbox,
    recipes: RecipeMemory,
    *,
    targets: Iterable[str],
    base_image: str,
    seconds: float,
) -> Proof:
    """The first recipe that gives a sound test report on `commit`, and that report; it is remembered.

    `repository` is what recipes are remembered by. `targets` are the files that the change will likely be in.
    `seconds` limits one run of the suite. Raises what `prove` and `candidates` raise.
    """
    tree, mounted = Tree(commit), commit.submodules()
    found = candidates(
        tree,
        remembered=recipes.recall(repository, tree, mounted),
        target_paths=targets,
        as_of=commit.day,
        submodules=mounted,
        base_image=base_image,
    )
    proof = prove(sandbox, tree, found, seconds=seconds)
    recipes.remember(repository, tree, mounted, proof.recipe)
    # A proof is stored, and a tree, which is read from a repository, cannot be: who goes on prepares for a tree anyway.
    return replace(proof, environment=replace(proof.environment, base=None))
