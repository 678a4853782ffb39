"""Webhook deliveries, as GitHub recorded them and with fields changed, read into events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.forge.events import (
    HIDDEN_TAG,
    BadPayload,
    BadSignature,
    CheckRerequested,
    Command,
    Ignored,
    InstallationChanged,
    Labelled,
    Reviewed,
    Rules,
    Verb,
    Withdrawn,
    parse_command,
    read,
    receive,
)
from tests.fakes.github_server.webhooks import changed, headers, recorded

SECRET = "it is secret"
RULES = Rules(bots=frozenset({("helper[bot]", 77)}))
FIX = {"name": "agent:fix"}
WILL = {"login": "will", "id": 5, "type": "User"}


def payload(event: str, action: str, **changes: Any) -> bytes:
    found = recorded(event, action)
    assert found is not None
    return json.dumps(changed(found, {"sender": WILL} | changes)).encode()


def seen(event: str, action: str, **changes: Any) -> Any:
    return read(event, payload(event, action, **changes), guid="g-1", rules=RULES)


def test_the_label_starts_and_the_text_is_the_one_of_that_moment() -> None:
    event = seen(
        "issues", "labeled", label=FIX, issue={"number": 7, "title": "It breaks", "body": "So:", "state": "open"}
    )
    assert isinstance(event, Labelled)
    assert event.labels == ("agent:fix",)
    assert (event.issue.number, event.issue.title, event.issue.body) == (7, "It breaks", "So:")
    assert (event.origin.guid, event.origin.sender.login, event.origin.repository) == (
        "g-1",
        "will",
        "Codertocat/Hello-World",
    )


def test_an_issue_opened_with_the_label_starts_too() -> None:
    assert isinstance(seen("issues", "opened", issue={"labels": [{"name": "bug"}, FIX]}), Labelled)
    assert isinstance(seen("issues", "opened", issue={"labels": [{"name": "bug"}]}), Ignored)


@pytest.mark.parametrize("name", ["agent:fix ", "Agent:Fix", "agent:fix-later", "bug"])
def test_only_the_exact_label_starts(name: str) -> None:
    """The label that was just set counts, not those that are there."""
    assert isinstance(seen("issues", "labeled", label={"name": name}, issue={"labels": [FIX]}), Ignored)


@pytest.mark.parametrize(
    "changes",
    [
        {"issue": {"state": "closed"}},
        {"issue": {"pull_request": {"url": "u"}}},
        {"sender": {"login": "evil[bot]", "id": 9, "type": "Bot"}},
        {"sender": {"login": "helper[bot]", "id": 9, "type": "Bot"}},
        {"sender": {"login": "helper", "id": 77, "type": "Bot"}},
        {"sender": {"login": "octo", "id": 9, "type": "Organization"}},
    ],
    ids=["closed", "pull request", "bot", "right name of a bot", "right id of a bot", "organization"],
)
def test_what_does_not_start(changes: dict[str, Any]) -> None:
    assert isinstance(seen("issues", "labeled", **({"label": FIX} | changes)), Ignored)


def test_a_bot_listed_by_login_and_id_may_start() -> None:
    sender = {"login": "helper[bot]", "id": 77, "type": "Bot"}
    assert isinstance(seen("issues", "labeled", label=FIX, sender=sender), Labelled)


@pytest.mark.parametrize(
    ("action", "changes"),
    [("unlabeled", {"label": FIX}), ("closed", {}), ("deleted", {}), ("closed", {"sender": {"type": "Bot"}})],
)
def test_whoever_may_end_an_issue_ends_the_run(action: str, changes: dict[str, Any]) -> None:
    event = seen("issues", action, issue={"number": 7}, **changes)
    assert isinstance(event, Withdrawn)
    assert event.number == 7


def test_another_label_taken_away_ends_nothing() -> None:
    assert isinstance(seen("issues", "unlabeled", label={"name": "bug"}), Ignored)
    assert seen("issues", "unlabeled", label=FIX).label == "agent:fix"
    assert seen("issues", "closed").label == ""


def test_which_of_several_labels_was_set_is_told() -> None:
    """A repository may have chosen any of them, which is not known here."""
    rules = Rules(frozenset({"agent:fix", "bot: please"}))
    body = payload("issues", "labeled", label={"name": "bot: please"}, issue={"labels": [FIX], "state": "open"})
    event = read("issues", body, guid="g", rules=rules)
    assert isinstance(event, Labelled)
    assert event.labels == ("bot: please",)


@pytest.mark.parametrize(
    ("comment", "verb", "text"),
    [
        ("/agent-fix", Verb.RUN, ""),
        ("  /agent-fix retry\n", Verb.RETRY, ""),
        ("/agent-fix STOP now", Verb.STOP, "now"),
        ("/agent-fix revise use a set\nand test it", Verb.REVISE, "use a set\nand test it"),
        ("/agent-fix please use a set", Verb.REVISE, "please use a set"),
        ("/agent-fix\r\nuse a set", Verb.REVISE, "use a set"),
        ("/agent-fix explain", Verb.EXPLAIN, ""),
    ],
)
def test_commands(comment: str, verb: Verb, text: str) -> None:
    assert parse_command(comment, "/agent-fix") == (verb, text)


@pytest.mark.parametrize(
    "comment",
    [
        "",
        "agent-fix",
        "/agent-fixer",
        "> /agent-fix",
        "see /agent-fix",
        "/agent-fix-retry",
        f"{HIDDEN_TAG}x -->\n/agent-fix",
    ],
)
def test_what_is_no_command(comment: str) -> None:
    assert parse_command(comment, "/agent-fix") is None


def test_a_command_comes_from_a_new_comment_of_a_user() -> None:
    body = {"id": 3, "body": "/agent-fix retry"}
    event = seen("issue_comment", "created", comment=body, issue={"number": 7})
    assert isinstance(event, Command)
    assert (event.verb, event.comment, event.on_pull) == (Verb.RETRY, 3, False)
    assert event.at.tzinfo is not None
    assert seen("issue_comment", "created", comment=body, issue={"pull_request": {"url": "u"}}).on_pull
    assert isinstance(seen("issue_comment", "edited", comment=body), Ignored)
    assert isinstance(seen("issue_comment", "created", comment=body, sender={"type": "Bot"}), Ignored)


def pull(ref: str = "agent-fix/issue-7", repository: int = 186853002) -> dict[str, Any]:
    return {"number": 8, "head": {"ref": ref, "sha": "a" * 40, "repo": {"id": repository}}}


def test_a_review_and_its_comments_are_one_piece_of_work() -> None:
    review = {"id": 5, "state": "changes_requested", "body": "No"}
    first = seen("pull_request_review", "submitted", pull_request=pull(), review=review)
    remark = {"id": 31, "pull_request_review_id": 5, "body": "why?"}
    second = seen("pull_request_review_comment", "created", pull_request=pull(), comment=remark)
    assert isinstance(first, Reviewed)
    assert isinstance(second, Reviewed)
    assert (first.remark, second.remark) == (None, 31)
    assert (
        (first.number, first.review, first.head)
        == (second.number, second.review, second.head)
        == (8, 5, "agent-fix/issue-7")
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"pull_request": pull(ref="feature")},
        {"pull_request": pull(repository=1)},
        {"pull_request": pull() | {"head": {"repo": None}}},
        {"review": {"state": "commented", "body": None}},
        {"review": {"state": "commented", "body": f"{HIDDEN_TAG}answer -->\nDone"}},
        {"sender": {"login": "agent-fix[bot]", "type": "Bot"}},
    ],
    ids=["other branch", "fork", "deleted fork", "wordless", "own words", "bot"],
)
def test_reviews_that_are_no_work(changes: dict[str, Any]) -> None:
    given = {"pull_request": pull(), "review": {"id": 5, "state": "changes_requested", "body": "No"}} | changes
    assert isinstance(seen("pull_request_review", "submitted", **given), Ignored)


def test_a_closed_pull_request_of_the_bot_ends_its_run() -> None:
    assert isinstance(seen("pull_request", "closed", pull_request=pull()), Withdrawn)
    assert isinstance(seen("pull_request", "closed", pull_request=pull(repository=1)), Ignored)
    assert isinstance(seen("pull_request", "synchronize", pull_request=pull()), Ignored)


def test_a_check_is_run_again_by_the_id_the_bot_gave_it() -> None:
    check = {"external_id": "run-1", "head_sha": "b" * 40}
    assert seen("check_run", "rerequested", check_run=check).run == "run-1"
    assert isinstance(seen("check_run", "rerequested", check_run=check), CheckRerequested)
    assert isinstance(seen("check_run", "rerequested", check_run={"external_id": ""}), Ignored)
    assert isinstance(seen("check_run", "created", check_run=check), Ignored)


def test_installations_change_what_is_reached() -> None:
    made = seen("installation", "created", repositories=[{"id": 5, "full_name": "o/a"}])
    assert isinstance(made, InstallationChanged)
    assert (made.added, made.removed) == (("o/a",), ())
    gone = seen("installation", "deleted", repositories=[{"id": 5, "full_name": "o/a"}])
    assert (gone.added, gone.removed) == ((), ("o/a",))
    less = seen(
        "installation_repositories",
        "removed",
        repositories_removed=[{"id": 6, "full_name": "o/b"}],
        repositories_added=[],
    )
    assert (less.added, less.removed, less.removed_ids) == ((), ("o/b",), (6,))


def test_other_events_are_ignored_by_name() -> None:
    assert read("ping", b"{}", guid="g", rules=RULES) == Ignored("ping events do not matter here")


@pytest.mark.parametrize("change", [b"", b" "])
def test_the_signature_is_the_bodys(change: bytes) -> None:
    body = payload("issues", "labeled", label=FIX)
    signed = headers("issues", body, secret=SECRET, guid="g-2")
    if not change:
        event = receive(signed, body, secret=SECRET, rules=RULES)
        assert isinstance(event, Labelled)
        assert event.origin.guid == "g-2"
        return
    with pytest.raises(BadSignature):
        receive(signed, body + change, secret=SECRET, rules=RULES)


@pytest.mark.parametrize(
    "signature", [None, "", "sha256=", "sha1=" + "0" * 40, "sha256=" + "0" * 64, "sha256=ü", "SHA256=" + "0" * 64]
)
def test_nothing_unsigned_is_even_parsed(signature: str | None) -> None:
    given_headers = {"X-GitHub-Event": "issues", "X-GitHub-Delivery": "g"}
    if signature is not None:
        given_headers["X-Hub-Signature-256"] = signature
    with pytest.raises(BadSignature):
        receive(given_headers, b"not json", secret=SECRET, rules=RULES)


def test_without_a_secret_nothing_is_taken() -> None:
    body = payload("issues", "labeled", label=FIX)
    with pytest.raises(BadSignature):
        receive(headers("issues", body, secret="", guid="g"), body, secret="", rules=RULES)


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("issues", b"payload=%7B%7D"),
        ("issues", b"{}"),
        ("issues", b"[]"),
        ("issues", b'{"action": "labeled", "repository": {"id": "x"}}'),
        ("issue_comment", b"[" * 100_000),
        ("check_run", b"\xff\xfe"),
    ],
)
def test_a_signed_body_of_another_form_is_refused_with_its_place(event: str, body: bytes) -> None:
    with pytest.raises(BadPayload, match="content type must be application/json"):
        receive(headers(event, body, secret=SECRET, guid="g"), body, secret=SECRET, rules=RULES)


def test_headers_that_name_no_event_are_refused() -> None:
    signed = headers("issues", b"{}", secret=SECRET, guid="g")
    del signed["X-GitHub-Event"]
    with pytest.raises(BadPayload):
        receive(signed, b"{}", secret=SECRET, rules=RULES)


PATHS = [
    ("issues", "labeled"),
    ("issue_comment", "created"),
    ("pull_request_review", "submitted"),
    ("check_run", "rerequested"),
]
JUNK = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.lists(st.integers())
    | st.dictionaries(st.text(), st.integers())
)


@given(st.sampled_from(PATHS), st.data())
def test_no_field_of_another_kind_gets_past(kind: tuple[str, str], data: st.DataObject) -> None:
    """Whatever stands at any place of a payload, it is an event, ignored or refused: never another error."""
    body = json.loads(payload(*kind))
    place = body
    while isinstance(place, dict) and place:
        key = data.draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or data.draw(st.booleans()):
            place[key] = data.draw(JUNK)
            break
        place = place[key]
    try:
        read(kind[0], json.dumps(body).encode(), guid="g", rules=RULES)
    except BadPayload:
        return
