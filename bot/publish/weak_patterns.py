"""Lines that are seldom harmless, for the languages that no security scanner here parses; one pattern, one weakness.

Few and plain on purpose: what they find makes a draft. A project's own scanner knows its language better.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Weakness:
    """A pattern within one line, and what it is a sign of."""

    name: str
    pattern: re.Pattern[str]
    text: str


CODE = "Text that is run as code must not come from outside."
SHELL = "A shell command is put together from parts: pass its arguments as a list."
TLS = "Certificates are not checked, so anybody in between can read and change what is sent."
QUERY = "A query is put together from parts: pass its values as parameters."
DATA = "Reading such data runs what its writer put into it."
HTML = "Text is put into a page as it is: what looks like markup in it becomes markup."


def _weakness(name: str, pattern: str, text: str) -> Weakness:
    return Weakness(name, re.compile(pattern), text)


_JAVASCRIPT = (
    _weakness("js-eval", r"(?<![\w.])eval\s*\(\s*[^\s\"')]|\bnew\s+Function\s*\(", CODE),
    _weakness("js-shell", r"\bexec(?:Sync)?\s*\(\s*(?:`[^`]*\$\{|[\"'][^\"']*[\"']\s*\+|\w+\s*\+)", SHELL),
    _weakness("js-tls", r"\brejectUnauthorized\s*:\s*false|NODE_TLS_REJECT_UNAUTHORIZED[\"']?\]?\s*=\s*[\"']?0", TLS),
    _weakness("js-html", r"\bdangerouslySetInnerHTML\b|\.(?:inner|outer)HTML\s*\+?=\s*[^=\s\"'`]", HTML),
)
_JAVA = (
    _weakness("java-shell", r"getRuntime\(\)\s*\.exec\s*\([^)]*\+", SHELL),
    _weakness("java-tls", r"NoopHostnameVerifier|ALLOW_ALL_HOSTNAME_VERIFIER", TLS),
    _weakness(
        "java-query", r"\b(?:executeQuery|executeUpdate|prepareStatement|createQuery)\s*\(\s*\"[^\"]*\"\s*\+", QUERY
    ),
    _weakness("java-data", r"\bnew\s+ObjectInputStream\s*\(", DATA),
)
PATTERNS: dict[str, tuple[Weakness, ...]] = {
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), _JAVASCRIPT),
    **dict.fromkeys((".java", ".kt"), _JAVA),
    ".go": (
        _weakness("go-shell", r"exec\.Command(?:Context)?\(.*\"(?:ba)?sh\",\s*\"-c\",(?!\s*\"[^\"]*\"\s*\))", SHELL),
        _weakness("go-tls", r"\bInsecureSkipVerify\s*:\s*true", TLS),
        _weakness("go-query", r"\.(?:Query|QueryRow|Exec)(?:Context)?\(\s*(?:ctx,\s*)?fmt\.Sprintf", QUERY),
    ),
    ".rb": (
        _weakness(
            "ruby-eval", r"(?<![\w.])eval(?:\s+|\s*\(\s*)[a-z_@]|\b(?:instance|class|module)_eval\s*\(\s*[a-z_@]", CODE
        ),
        _weakness(
            "ruby-shell", r"\b(?:system|exec|spawn|popen)\s*\(?\s*\"[^\"]*#\{|%x[({\[][^)}\]]*#\{|`[^`]*#\{", SHELL
        ),
        _weakness("ruby-tls", r"\bVERIFY_NONE\b", TLS),
        _weakness("ruby-data", r"\bMarshal\.load\b|\bYAML\.unsafe_load\b", DATA),
    ),
    ".php": (
        _weakness("php-eval", r"\beval\s*\(\s*[$\"]|\bcreate_function\s*\(", CODE),
        _weakness(
            "php-shell",
            r"\b(?:shell_exec|passthru|system|exec|popen|proc_open)\s*\(\s*(?:\$|\"[^\"]*\$|[\"'][^\"']*[\"']\s*\.)",
            SHELL,
        ),
        _weakness("php-data", r"\bunserialize\s*\(\s*\$", DATA),
        _weakness("php-tls", r"CURLOPT_SSL_VERIFYPEER\s*(?:,|=>)\s*(?:false|0)\b", TLS),
    ),
}
"""End of a file's name -> what is looked for in it."""
COMMENT = re.compile(r"\s*(?://|/\*|\*|#)")


def weak_lines(path: str, text: str) -> Iterator[tuple[int, str, Weakness]]:
    """The lines of a file, counted from 1, that have a weakness, each with the line."""
    patterns = next((found for suffix, found in PATTERNS.items() if path.endswith(suffix)), ())
    for number, line in enumerate(text.split("\n") if patterns else (), 1):
        if len(line) <= 1_000 and not COMMENT.match(line):
            yield from ((number, line, one) for one in patterns if one.pattern.search(line))
