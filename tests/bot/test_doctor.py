"""The doctor looks at everything, and each finding says how to mend it."""

from __future__ import annotations

from pathlib import Path

from bot.doctor import examine
from bot.settings import load_settings


def test_each_thing_is_looked_at_and_what_is_wrong_names_the_cure(tmp_path: Path) -> None:
    settings = load_settings(state_dir=tmp_path, openai_api_key="x", openai_base_url="http://127.0.0.1:9/v1")
    found = {one.name: one for one in examine(settings)}
    assert {"engine", "base image", "model", "git", "disk"} <= set(found)
    assert found["engine"].well
    assert found["base image"].well
    assert found["git"].well
    assert not found["model"].well
    assert "OPENAI_BASE_URL" in found["model"].text


def test_a_missing_key_image_or_runtime_is_named(tmp_path: Path) -> None:
    settings = load_settings(state_dir=tmp_path, base_image="no-such-image:1", runtime="no-such-runtime", memory="9TB")
    found = {one.name: one for one in examine(settings.model_copy(update={"openai_api_key": None}))}
    assert "OPENAI_API_KEY" in found["model"].text
    assert "sandbox.base_image" in found["base image"].text
    assert "there are" in found["runtime"].text
    assert "AGENT_FIX_MEMORY" in found["memory"].text
