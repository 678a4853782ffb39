"""What a repository says to the bot: `.github/agent-fix.yml`, strictly read.

`agent-fix.schema.json` beside this module is its JSON schema, for editors and for `check-jsonschema`;
`python -m bot.repo_config` prints it anew.
"""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.errors import BadInput
from sandbox.errors import BadRecipeFile
from sandbox.recipe_file import PATH, RecipeFile, explained, load


class RepoConfig(BaseModel):
    """The settings of one repository. Every key is optional."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, title="agent-fix.yml")

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
