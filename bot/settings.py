"""Every setting, and the only place that reads the environment.

A setting is taken from, first to last: what the command line gave, the environment, `config.toml` in the user's
configuration folder (`AGENT_FIX_CONFIG` names another file), the default here. Variables are called `AGENT_FIX_` and
the field's name; the model's key and address keep the names that everyone knows.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote, urlsplit

from pydantic import AliasChoices, ByteSize, Field, FilePath, PositiveFloat, PositiveInt, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from bot.errors import BadInput
from bot.llm.budget import Limits

PREFIX = "AGENT_FIX_"
CONFIG_VARIABLE = "AGENT_FIX_CONFIG"
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""What says nothing of a machine, and stands in ordinary text."""


def _folder(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or Path.home() / default) / "agent-fix"


class RoleSettings(BaseSettings):
    """What each role may have of its own."""

    model_analyst: str | None = None
    model_coder: str | None = None
    model_tester: str | None = None
    model_single: str | None = None
    model_reproducer: str | None = None
    model_challenger: str | None = None
    model_outfitter: str | None = None
    model_programmer: str | None = None
    model_test_designer: str | None = None
    model_arbiter: str | None = None
    model_architect: str | None = None
    model_mother: str | None = None
    model_child: str | None = None

    request_tokens_analyst: PositiveInt | None = None
    request_tokens_coder: PositiveInt | None = None
    request_tokens_tester: PositiveInt | None = None
    request_tokens_single: PositiveInt | None = None
    request_tokens_reproducer: PositiveInt | None = None
    request_tokens_challenger: PositiveInt | None = None
    request_tokens_outfitter: PositiveInt | None = None
    request_tokens_programmer: PositiveInt | None = None
    request_tokens_test_designer: PositiveInt | None = None
    request_tokens_arbiter: PositiveInt | None = None
    request_tokens_architect: PositiveInt | None = None
    request_tokens_mother: PositiveInt | None = None
    request_tokens_child: PositiveInt | None = None


class Settings(RoleSettings):
    """The settings of one process. Sizes are bytes (`2GiB` is understood), times are seconds unless the name says."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, extra="forbid", frozen=True, populate_by_name=True
    )

    openai_api_key: SecretStr | None = Field(None, validation_alias=AliasChoices("OPENAI_API_KEY"))
    openai_base_url: str = Field("https://api.openai.com/v1", validation_alias=AliasChoices("OPENAI_BASE_URL"))
    model: str = "gpt-5-mini"
    """The model of every role that has none of its own."""
    tools: Literal["native", "text"] = "native"
    """`text` writes tools into the prompt and reads calls from the reply, for models that know no tools."""
    request_seconds: PositiveFloat = 300.0
    retries: Annotated[int, Field(ge=0, le=20)] = 4
    request_tokens: PositiveInt = 100_000
    """The largest request that any role may send, in estimated tokens."""

    budget_usd: PositiveFloat = 3.0
    budget_tokens: PositiveInt = 2_000_000
    budget_calls: PositiveInt = 120
    max_minutes: PositiveFloat = 30.0

    state_dir: Path = Field(default_factory=lambda: _folder("XDG_STATE_HOME", ".local/state"))
    database_url: SecretStr | None = None
    """`None` is an SQLite file in `state_dir`."""

    github_api: str = "https://api.github.com"
    """Of a GitHub Enterprise Server: `https://HOST/api/v3`."""
    github_app_id: str | None = None
    github_app_key: FilePath | None = None
    """The App's private key, a PEM file."""
    github_token: SecretStr | None = None
    """A personal or an Actions token, in place of an App; to a worker of its own, one that can only read."""
    github_pause: Annotated[float, Field(ge=0)] = 1.0
    """Seconds between two writes, as GitHub asks."""
    github_retries: Annotated[int, Field(ge=0, le=20)] = 4
    github_seconds: PositiveInt = 20
    """How long one answer of GitHub's is waited for."""
    github_longest_wait: PositiveFloat = 60.0
    """Seconds; asked for more patience than this by GitHub, an act is put off instead of waiting in its place."""
    webhook_secret: SecretStr | None = None
    repositories: tuple[str, ...] = ()
    """`owner/name`; with a token, those that are served and swept. An App knows its own."""
    label: str = "agent:fix"
    """The exact name of the label that calls the bot."""
    more_labels: tuple[str, ...] = ()
    """Other names that a repository may choose for it in its `.github/agent-fix.yml`."""
    command: str = "/agent-fix"
    needs: Literal["triage", "write", "maintain", "admin"] = "write"
    """What somebody must be allowed to do in a repository to call the bot there; a repository may ask for more."""
    bots: dict[str, int] = {}
    """Login and id of the bots that may call this one."""
    strategy: str | None = None
    """Which team works on an issue; `None` is the default one."""
    base_branch: str | None = None
    """Where pull requests go; `None` is each repository's default branch."""
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8010
    runs_at_once: PositiveInt = 4
    """Of all machines together."""
    runs_per_machine: PositiveInt = 2
    runs_per_repository: PositiveInt = 1
    sweep_minutes: Annotated[int, Field(ge=1, le=60)] = 10
    """How often missed labels and deliveries are looked for: in the minutes of the hour that it divides."""
    grace_minutes: Annotated[float, Field(ge=0)] = 5.0
    """How old a label must be for the sweep to care: a webhook may still be on its way."""

    sandbox: Literal["docker", "local"] = "docker"
    base_image: str = "agent-fix-base:bookworm"
    docker_host: str | None = Field(None, validation_alias=AliasChoices("AGENT_FIX_DOCKER_HOST", "DOCKER_HOST"))
    """The engine's address; `None` is this machine's own."""
    runtime: str | None = None
    """The container runtime, such as `runsc`; `None` is the engine's own default."""
    ca_bundle: FilePath | None = Field(
        None, validation_alias=AliasChoices("AGENT_FIX_CA_BUNDLE", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
    )
    """Certificates that set-up commands trust. A machine that needs its own names them for itself already."""
    setup_env: dict[str, str] = {}
    """Variables that set-up commands see, such as the addresses of package mirrors. No secrets: they stay in images."""
    memory: ByteSize = ByteSize(2 * 1024**3)
    cpus: PositiveFloat = 2.0
    pids: PositiveInt = 512
    images: ByteSize = ByteSize(20 * 1000**3)
    """What environment images may hold on disk; the longest unused go, but none that was used in the last six hours."""
    setup_seconds: PositiveFloat = 1800.0
    test_seconds: PositiveFloat = 900.0
    command_seconds: PositiveFloat = 120.0

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic's signature
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Command line, environment, configuration file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, config_file())

    def model_for(self, role: str) -> str:
        """The name of the model that plays `role`."""
        return self._own("model", role) or self.model

    def request_tokens_for(self, role: str) -> int:
        """The largest request that `role` may send, in estimated tokens."""
        return self._own("request_tokens", role) or self.request_tokens

    def _own(self, setting: str, role: str) -> Any:
        return getattr(self, f"{setting}_{role.replace('-', '_')}", None)

    @property
    def limits(self) -> Limits:
        """What one run may spend."""
        return Limits(self.budget_usd, self.budget_tokens, self.budget_calls, self.max_minutes)

    @property
    def database(self) -> str:
        """The address of the database, SQLAlchemy's way of writing it. May hold a password."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.state_dir / 'agent-fix.sqlite'}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every secret that is configured, for masking."""
        hidden = (self.openai_api_key, self.github_token, self.webhook_secret)
        known = [one.get_secret_value() for one in hidden if one is not None]
        addresses = (self.database, self.openai_base_url, self.docker_host or "", *self.setup_env.values())
        for password in filter(None, map(_password, addresses)):
            known += [password, unquote(password)]
        if self.github_app_key is not None:
            with contextlib.suppress(OSError, ValueError):  # said by what needs it
                known.append(self.github_app_key.read_text("utf-8"))
        return tuple(dict.fromkeys(filter(None, known)))

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where the servers and files of this installation are: not for everyone who reads what is posted."""
        own = self.openai_base_url if self.openai_base_url != Settings.model_fields["openai_base_url"].default else ""
        places = [place for place in (own, self.docker_host or "", *self.setup_env.values()) if "://" in place]
        hosts = [place.partition("://")[2].partition("/")[0].rpartition("@")[2] for place in (*places, self.database)]
        files = (str(self.state_dir), str(self.ca_bundle or ""))
        return tuple(value for value in (*places, *hosts, *files) if value and value not in LOOPBACK)


def _password(address: str) -> str | None:
    try:
        return urlsplit(address).password
    except ValueError:
        return None  # no address at all


class Job(BaseSettings):
    """What GitHub Actions tells each of its jobs."""

    model_config = SettingsConfigDict(env_prefix="GITHUB_", frozen=True)

    event_name: str
    event_path: Path
    repository: str
    run_id: str = "0"
    run_attempt: str = "1"
    output: Path | None = None
    step_summary: Path | None = None
    api_url: str = "https://api.github.com"


def load_job() -> Job:
    """The Actions job that this process belongs to. Raises `BadInput` if it belongs to none."""
    try:
        return Job()  # type: ignore[call-arg]
    except ValidationError:
        raise BadInput("This is no job of GitHub Actions: use `agent-fix run` or `agent-fix serve` here.") from None


def config_file() -> Path:
    """Where the configuration file is, or would be."""
    named = os.environ.get(CONFIG_VARIABLE)
    return Path(named) if named else _folder("XDG_CONFIG_HOME", ".config") / "config.toml"


def load_settings(**given: Any) -> Settings:
    """The settings, with what was `given` (on the command line; `None` is not given) before all else.

    Raises `BadInput` that names each wrong setting, where it stands and, for a wrong name, the nearest right one.
    """
    names = variables()
    wrong = [_unknown(name, names) for name in sorted(os.environ) if name.startswith(PREFIX) and name not in names]
    if CONFIG_VARIABLE in os.environ and not config_file().is_file():
        wrong.append(f"{CONFIG_VARIABLE} names {config_file()}, which is no file.")
    if wrong:
        raise BadInput("\n".join(wrong))
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        raise BadInput("\n".join(_explain(dict(each), names) for each in error.errors())) from None
    except SettingsError as error:
        raise BadInput(f"{error}: {error.__cause__}") from None
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{config_file()} is not TOML: {error}.") from None


def variables() -> dict[str, str]:
    """Name of a variable in the environment -> name of the setting that it sets."""
    names = {CONFIG_VARIABLE: "the configuration file"}
    for field, info in Settings.model_fields.items():
        alias = info.validation_alias
        choices = (
            [str(choice) for choice in alias.choices] if isinstance(alias, AliasChoices) else [PREFIX + field.upper()]
        )
        names.update(dict.fromkeys(choices, field))
    return names


def _unknown(name: str, names: dict[str, str]) -> str:
    own = {each.removeprefix(PREFIX): each for each in names}
    near = _nearest(name.removeprefix(PREFIX), list(own))
    return f"There is no setting {name}" + (f": did you mean {own[near]}?" if near else f": there are {_list(names)}.")


def _nearest(name: str, right: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(name, list(right), 1)), None)


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _explain(error: dict[str, Any], names: dict[str, str]) -> str:
    """One line about one wrong value. The value stays out of it: it may be a secret."""
    place = str(error["loc"][0])
    if error["type"] == "extra_forbidden":
        near = _nearest(place, Settings.model_fields)
        hint = f"did you mean {near}?" if near else f"there are {_list(Settings.model_fields)}."
        return f"{config_file()}: there is no setting {place}: {hint}"
    field = names.get(place, place)
    called = next((name for name, sets in names.items() if sets == field and os.environ.get(name)), None)
    return f"The setting {called or field} is wrong: {error['msg']}."
