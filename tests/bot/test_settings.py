"""Where a setting comes from, and what a wrong one says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.errors import BadInput
from bot.llm.budget import Limits
from bot.secrets_mask import Mask
from bot.settings import Settings, load_settings, variables
from bot.team.strategies import ROLES
from bot.wiring import models

ELSEWHERE = ("OPENAI_", "AGENT_FIX_", "XDG_", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(ELSEWHERE):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


def config(tmp_path: Path, text: str) -> Path:
    path = tmp_path / ".config" / "agent-fix" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_nothing_need_be_set(tmp_path: Path) -> None:
    settings = load_settings()
    assert settings.openai_api_key is None
    assert settings.limits == Limits(3.0, 2_000_000, 120, 30.0)
    assert settings.state_dir == tmp_path / ".local/state/agent-fix"
    assert settings.database == f"sqlite:///{tmp_path}/.local/state/agent-fix/agent-fix.sqlite"
    assert settings.ca_bundle is None
    assert settings.model_for("coder") == settings.model
    assert settings.request_tokens_for("coder") == settings.request_tokens


def test_command_line_before_environment_before_file_before_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config(tmp_path, 'model = "file"\nmodel_coder = "file"\nmodel_tester = "file"\n[setup_env]\nA = "b"\n')
    monkeypatch.setenv("AGENT_FIX_MODEL_CODER", "environment")
    monkeypatch.setenv("AGENT_FIX_MODEL_TESTER", "environment")
    settings = load_settings(model_tester="given", budget_usd=None)
    assert [settings.model_for(role) for role in ("analyst", "coder", "tester")] == ["file", "environment", "given"]
    assert settings.setup_env == {"A": "b"}
    assert settings.budget_usd == 3.0


def test_each_role_has_its_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FIX_REQUEST_TOKENS_CODER", "5000")
    settings = load_settings()
    assert (settings.request_tokens_for("coder"), settings.request_tokens_for("tester")) == (5000, 100_000)


def test_a_role_without_settings_of_its_own_has_the_common_ones() -> None:
    assert load_settings(model="m").model_for("test-designer") == "m"


def test_the_model_is_found_where_everyone_puts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-secret")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    settings = load_settings()
    assert settings.openai_base_url == "http://127.0.0.1:1/v1"
    assert settings.secrets == ("sk-something-secret",)
    assert "something" not in repr(settings)


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.setenv("AGENT_FIX_BUDGET_USD", "")
    assert load_settings().openai_api_key is None


def test_the_password_of_the_database_is_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FIX_DATABASE_URL", "postgresql://u:pass-word-1@host/db")
    settings = load_settings()
    assert settings.database == "postgresql://u:pass-word-1@host/db"
    assert settings.secrets == ("pass-word-1",)
    assert "pass-word-1" not in repr(settings)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AGENT_FIX_DATABASE_URL", "postgresql://u:pass%2Fword-1@host/db"),
        ("OPENAI_BASE_URL", "https://u:pass%2Fword-1@gateway.example/v1"),
        ("DOCKER_HOST", "tcp://u:pass%2Fword-1@engine.example:2376"),
        (
            "AGENT_FIX_SETUP_ENV",
            '{"PIP_INDEX_URL": "https://u:pass%2Fword-1@mirror.example/simple", "X": "http://[:1"}',
        ),
    ],
)
def test_the_password_in_any_address_is_a_secret_as_it_is_written_and_as_it_is_meant(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert load_settings().secrets == ("pass%2Fword-1", "pass/word-1")


def test_the_key_of_the_app_is_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = tmp_path / "app.pem"
    key.write_text("-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n")
    monkeypatch.setenv("AGENT_FIX_GITHUB_APP_KEY", str(key))
    assert load_settings().secrets == (key.read_text(),)
    key.write_bytes(b"\xff")
    assert load_settings().secrets == ()


def test_certificates_are_the_machines_own_unless_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "AGENT_FIX_CA_BUNDLE"):
        (tmp_path / name).touch()
        monkeypatch.setenv(name, str(tmp_path / name))
        assert load_settings().ca_bundle == tmp_path / name


def test_sizes_are_written_as_people_write_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FIX_MEMORY", "4GiB")
    assert load_settings().memory == 4 * 1024**3


WRONG = {
    "a slip": ({"AGENT_FIX_MODEL_CODR": "x"}, "no setting AGENT_FIX_MODEL_CODR: did you mean AGENT_FIX_MODEL_CODER?"),
    "a setting without prefix": ({"AGENT_FIX_API_KEY": "x"}, "did you mean OPENAI_API_KEY?"),
    "nothing near": ({"AGENT_FIX_QQQQ": "x"}, "there are AGENT_FIX_BASE_BRANCH, AGENT_FIX_BASE_IMAGE, "),
    "no number": ({"AGENT_FIX_BUDGET_USD": "three"}, "AGENT_FIX_BUDGET_USD is wrong: Input should be a valid number"),
    "out of range": ({"AGENT_FIX_MAX_MINUTES": "-1"}, "AGENT_FIX_MAX_MINUTES is wrong: .* greater than 0"),
    "no choice": ({"AGENT_FIX_SANDBOX": "vm"}, "AGENT_FIX_SANDBOX is wrong: Input should be 'docker' or 'local'"),
    "no JSON": ({"AGENT_FIX_SETUP_ENV": "{"}, "setup_env"),
    "no file": ({"SSL_CERT_FILE": "/no/such/file"}, "SSL_CERT_FILE is wrong: Path does not point to a file"),
    "no configuration": ({"AGENT_FIX_CONFIG": "/no/such/file"}, "/no/such/file, which is no file"),
    "two at once": ({"AGENT_FIX_CPUS": "a", "AGENT_FIX_PIDS": "b"}, "(?s)AGENT_FIX_CPUS.*AGENT_FIX_PIDS"),
}


@pytest.mark.parametrize(("environment", "said"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_variable_is_named(environment: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BadInput, match=said):
        load_settings()


def test_a_wrong_value_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FIX_BUDGET_USD", "sk-pasted-into-the-wrong-place")
    with pytest.raises(BadInput) as wrong:
        load_settings()
    assert "pasted" not in str(wrong.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('modl_coder = "x"', r"config.toml: there is no setting modl_coder: did you mean model_coder\?"),
        ("budget_usd = 'x'", "budget_usd is wrong"),
        ("model = ", "config.toml is not TOML"),
    ],
)
def test_a_wrong_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    config(tmp_path, text)
    with pytest.raises(BadInput, match=said):
        load_settings()


def test_another_file_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.toml").write_text('model = "mine"')
    monkeypatch.setenv("AGENT_FIX_CONFIG", str(tmp_path / "mine.toml"))
    assert load_settings().model == "mine"


def test_every_setting_has_a_variable() -> None:
    assert set(Settings.model_fields) <= set(variables().values())


@pytest.mark.parametrize("role", ROLES)
def test_every_role_may_have_a_model_and_a_size_of_its_own(role: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = role.replace("-", "_").upper()
    monkeypatch.setenv(f"AGENT_FIX_MODEL_{name}", "another")
    monkeypatch.setenv(f"AGENT_FIX_REQUEST_TOKENS_{name}", "1234")
    settings = load_settings(model="common")
    assert settings.model_for(role) == "another"
    assert settings.request_tokens_for(role) == 1234
    assert models(settings) == {one: "another" if one == role else "common" for one in ROLES}


def test_where_servers_and_files_are_is_known_and_nothing_that_says_nothing(tmp_path: Path) -> None:
    own = load_settings(
        openai_base_url="http://models.corp.example:8000/v1",
        docker_host="tcp://10.1.2.3:2375",
        database_url="postgresql://bot:secret@db.corp.example/runs",
        setup_env={"PIP_INDEX_URL": "https://packages.corp.example/simple", "CI": "true"},
        state_dir=tmp_path / "state",
    )
    mask = Mask(own.addresses)
    for said in (
        "http://models.corp.example:8000/v1 is away",
        "models.corp.example:8000",
        "10.1.2.3:2375",
        "db.corp.example",
        "Looking in https://packages.corp.example/simple",
        f"{tmp_path}/state/mirrors/x.git",
    ):
        masked = mask(said)
        assert not [part for part in ("corp.example", "10.1.2.3", str(tmp_path)) if part in masked], masked
    plain = load_settings(state_dir=Path("/srv"), database_url="postgresql://b:secret@localhost/runs")
    text = "https://api.openai.com/v1, localhost and true"
    assert Mask(plain.addresses)(text) == text


@pytest.mark.parametrize("minutes", ["0", "61", "120"])
def test_a_sweep_that_the_engines_clock_cannot_tell_is_refused(monkeypatch: pytest.MonkeyPatch, minutes: str) -> None:
    monkeypatch.setenv("AGENT_FIX_SWEEP_MINUTES", minutes)
    with pytest.raises(BadInput, match=r"(?i)sweep_minutes"):
        load_settings()
