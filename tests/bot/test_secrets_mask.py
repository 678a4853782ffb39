"""Secrets never pass, in any of their usual encodings; ordinary code, hashes and prose always do."""

from __future__ import annotations

import base64
import hashlib
import json
import time
import uuid
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot
from bot.secrets_mask import SHORTEST, Mask

URL_SAFE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
ALNUM = URL_SAFE[:-2]
secrets = st.text(st.characters(blacklist_categories=["Cs", "Cc", "Z"]), min_size=SHORTEST, max_size=60)


def letters(alphabet: str, low: int, high: int) -> st.SearchStrategy[str]:
    """Random characters of a token, with at least one digit, as real ones of such lengths have."""
    return st.builds(lambda text: text + "7", st.text(alphabet, min_size=low - 1, max_size=high - 1))


part = letters(URL_SAFE, 20, 200)
TOKENS = {
    "classic app token": letters(ALNUM, 36, 36).map("ghs_{}".format),
    "app token that holds a web token": st.tuples(part, part, part).map(
        lambda parts: f"ghs_123456_eyJ{parts[0]}.eyJ{parts[1]}.{parts[2]}"
    ),
    "personal token": letters(ALNUM, 36, 40).map("ghp_{}".format),
    "oauth token": letters(ALNUM, 36, 36).map("gho_{}".format),
    "fine-grained token": letters(ALNUM + "_", 60, 82).map("github_pat_{}".format),
    "openai": letters(ALNUM, 48, 48).map("sk-{}".format),
    "openai project": letters(URL_SAFE, 100, 150).map("sk-proj-{}".format),
    "anthropic": letters(URL_SAFE, 90, 100).map("sk-ant-api03-{}".format),
    "aws": st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", min_size=16, max_size=16).map("AKIA{}".format),
    "aws secret": letters(ALNUM + "/+", 40, 40).map("aws_secret_access_key = {}".format),
    "slack": letters(ALNUM + "-", 40, 60).map("xoxb-{}".format),
    "google": letters(URL_SAFE, 35, 35).map("AIza{}".format),
    "web token": st.tuples(part, part, part).map(lambda p: f"eyJ{p[0]}.eyJ{p[1]}.{p[2]}"),
    "header": letters(ALNUM, 20, 40).map("Authorization: Bearer {}".format),
    "clone address": letters(ALNUM, 20, 40).map("https://x-access-token:{}@github.com/o/r".format),
}


def hidden(masked: str, token: str) -> bool:
    """No piece of twelve characters of the random end of `token` is left."""
    tail = token.split("@", maxsplit=1)[0][-20:]
    return not any(tail[i : i + 12] in masked for i in range(len(tail) - 11))


@pytest.mark.parametrize("kind", TOKENS)
def test_a_token_is_masked_wherever_it_stands(kind: str) -> None:
    @given(TOKENS[kind], st.sampled_from(["{}", "token={}", '{{"a": "{}"}}', "'{}'\n", "see {}, please", "\t{}\r\n"]))
    def check(token: str, place: str) -> None:
        masked = Mask()(place.format(token))
        assert hidden(masked, token), masked
        assert Mask()(masked) == masked

    check()


@given(secrets, st.text(max_size=20), st.text(max_size=20))
def test_a_configured_value_is_masked_in_all_its_encodings(secret: str, before: str, after: str) -> None:
    mask = Mask([secret])
    forms = [secret, quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]]
    forms += [json.dumps(json.dumps({"a": secret})), base64.b64encode(secret.encode()).decode()]
    forms += [base64.urlsafe_b64encode(f"user:{secret}".encode()).decode().rstrip("=")]
    for form in forms:
        masked = mask(f"{before} {form} {after}")
        assert secret not in masked
        assert form not in masked
        assert "masked]" in masked


@given(secrets, st.binary(max_size=5), st.binary(max_size=5))
def test_base64_of_something_around_a_configured_value_is_masked(secret: str, before: bytes, after: bytes) -> None:
    encoded = base64.b64encode(before + secret.encode() + after).decode()
    left = Mask([secret])(encoded).replace("[secret masked]", "")
    assert len(left) <= len(encoded) - (len(secret.encode()) * 8 // 6 - 1), "only characters that hold other bits too"


@given(st.lists(secrets, max_size=4), st.text(max_size=200))
def test_masking_twice_changes_nothing_more(values: list[str], text: str) -> None:
    mask = Mask(values)
    once = mask(text)
    assert mask(once) == once


PEM = "\n".join(
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        *[hashlib.sha256(bytes([i])).hexdigest() for i in range(20)],
        "abc=",
        "-----END RSA PRIVATE KEY-----",
    ]
)


@pytest.mark.parametrize(
    "shown",
    [
        PEM,
        PEM.replace("\n", "\r\n"),
        json.dumps(PEM),
        repr(PEM),
        "\n".join(f"+    '{line}'" for line in PEM.splitlines()),
        "\n".join(f"{number:4} | {line}" for number, line in enumerate(PEM.splitlines())),
        PEM[:700],
        PEM.replace("RSA ", ""),
        PEM.replace("RSA ", "OPENSSH "),
    ],
    ids=["plain", "crlf", "json", "repr", "diff", "numbered", "cut off", "pkcs8", "openssh"],
)
def test_a_private_key_is_masked_as_it_is_shown(shown: str) -> None:
    masked = Mask()(f"key:\n{shown}\nafter")
    assert "private-key masked" in masked
    assert masked.endswith("\nafter")
    whole = [hashlib.sha256(bytes([i])).hexdigest() for i in range(10)]
    assert not any(line in masked for line in whole)


def test_each_line_of_a_configured_key_is_masked_alone() -> None:
    mask = Mask([PEM])
    for line in PEM.splitlines()[1:-2]:
        assert line not in mask(f"log: {line} (line)")


@given(st.binary(min_size=1, max_size=40))
def test_hashes_and_ids_stay(data: bytes) -> None:
    digests = [hashlib.new(name, data).hexdigest() for name in ("sha1", "sha256", "sha512", "md5")]
    ids = [str(uuid.UUID(bytes=hashlib.md5(data).digest())), base64.b64encode(hashlib.sha512(data).digest()).decode()]
    text = "\n".join([*digests, *ids, f"sha512-{ids[1]}", f"image@sha256:{digests[1]}"])
    assert Mask()(text) == text


ORDINARY = [
    "def ghs_some_function_with_a_long_descriptive_name_indeed(): ...",
    ".sk-fading-circle-animation-delay-of-the-second-dot { }",
    "task-0123456789012345678901234567890123456789",
    "risk-4f2a9c0d4f2a9c0d4f2a9c0d4f2a9c0d4f2a9c0d",
    'headers["Authorization"] = "Bearer " + token',
    "Authorization: Bearer {token}",
    "http://user:password@example.com/path",
    'aws_secret_access_key=os.environ["AWS_SECRET_ACCESS_KEY"]',
    'BEGIN = "-----BEGIN PRIVATE KEY-----"\nEND = "-----END PRIVATE KEY-----"\n'
    + "def load_a_key(data):\n    return data[len(BEGIN):-len(END)]\n" * 3
    + 'x = "-----END PRIVATE KEY-----"',
    "AKIATASHAVINGMANYLETTERS_IN_IT",
    "eyJustAWord.with.dots",
    "xoxo-hugs-and-kisses-for-everyone-here",
    "the token ghp_ is a prefix, as are gho_ and ghs_",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert Mask(["short", "", "   "])(text) == text


def test_this_projects_own_code_stays() -> None:
    for path in Path(bot.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        assert Mask()(text) == text


@pytest.mark.parametrize(
    "piece", ["A" * 76 + "\n", "eyJ" * 30 + ".", "ghs_", "-----BEGIN PRIVATE KEY-----\n", "sk-", "a" * 99]
)
def test_long_text_takes_little_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    Mask(["a configured secret"])(text)
    assert time.process_time() - start < 5
