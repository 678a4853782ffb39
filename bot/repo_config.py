"""What a repository says to the bot: `.github/agent-fix.yml`, strictly read.

`agent-fix.schema.json` beside this module is its JSON schema, for editors and for `check-jsonschema`;
`python -m bot.repo_config` prints it anew.
"""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import BadInput
from sandbox.errors import BadRecipeFile
from sandbox.recipe_file import PATH, Line, RecipeFile, explained, load

Strategy = Literal["team", "self-collaboration", "self-organized", "agentcoder", "agentcoder-sampling", "single"]
Needs = Literal["triage", "write", "maintain", "admin"]


class RepoConfig(BaseModel):
    """The settings of one repository. Every key is optional."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, title="agent-fix.yml")

    label: Line | None = Field(
        None, description="The exact name of the label that calls the bot here, among those that it listens for."
    )
    base_branch: Line | None = Field(
        None, description="Where pull requests go; the repository's default branch if it is not given."
    )
    strategy: Strategy | None = Field(None, description="Which team works on an issue.")
    needs: Needs | None = Field(
        None, description="The role that calling the bot takes here, if that is more than its operator asks for."
    )
    environment: RecipeFile | None = Field(None, description="How to set up and test; found out if it is not given.")


def read(text: str) -> RepoConfig:
    """The settings in the text of the file. Raises `BadInput` with line, mistake and the nearest right key."""
    try:
        data, tree = load(text)
    except BadRecipeFile as error:
        raise BadInput(str(error)) from error
    try:
        return RepoConfig.model_validate(data)
    except ValidationError as error:
        raise BadInput(explained(error, tree, (), RepoConfig)) from error


def schema() -> str:
    """The JSON schema of the file, as it is shipped."""
    made = {"$schema": "https://json-schema.org/draft/2020-12/schema", **RepoConfig.model_json_schema()}
    return json.dumps(made, indent=2) + "\n"


__all__ = ["PATH", "RepoConfig", "read", "schema"]

if __name__ == "__main__":
    print(schema(), end="")  # noqa: T201  # the schema is what it is run for
