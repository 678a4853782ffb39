"""A client generated from GitHub's own description of its API, to ask the stand-in with."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from githubkit import AppAuthStrategy, GitHub, TokenAuthStrategy
from githubkit.cache import MemCacheStrategy
from githubkit.exception import RequestFailed

from tests.fakes.github_server.stage import Stage

OWNER, NAME = "octo", "widgets"
Kit = GitHub[Any]


@functools.cache  # the client holds itself by a weak reference only
def kit(scene: Stage, token: str) -> Kit:
    return GitHub(TokenAuthStrategy(token), base_url=scene.github.api, http_cache=False, auto_retry=False)


@functools.cache
def app_kit(scene: Stage) -> Kit:
    auth = AppAuthStrategy(str(scene.app.id), scene.app.private_key)
    kept = MemCacheStrategy()  # of its own: the common one keeps JWTs by the App's id
    return GitHub(auth, base_url=scene.github.api, http_cache=False, auto_retry=False, cache_strategy=kept)


def installation_token(scene: Stage, **narrowed: Any) -> str:
    made = app_kit(scene).rest.apps.create_installation_access_token(scene.installation.id, data=narrowed)
    return made.parsed_data.token


def status(call: Any) -> int:
    with pytest.raises(RequestFailed) as failed:
        call()
    return failed.value.response.status_code


def message(call: Any) -> dict[str, Any]:
    with pytest.raises(RequestFailed) as failed:
        call()
    return dict(failed.value.response.json())
