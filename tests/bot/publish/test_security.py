"""A planted weakness is found; what was there before, moved, or stands in tests is not the change's doing."""

from __future__ import annotations

import time

import pytest

from bot.publish.gate import objections
from tests.bot.publish.test_gate import DEFAULT, found, tree

SAFE = "import subprocess\n\n\ndef show(name):\n    return subprocess.run(['ls', name])\n"
SHELL = SAFE.replace("['ls', name]", "'ls ' + name, shell=True")


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("import subprocess\nsubprocess.run('ls ' + name, shell=True)\n", "B602"),
        ("import os\nos.system('ls ' + name)\n", "B605"),
        ("eval(text)\n", "B307"),
        ("import pickle\npickle.loads(data)\n", "B301"),
        ("import yaml\nyaml.load(text)\n", "B506"),
        ("import requests\nrequests.get(url, verify=False)\n", "B501"),
        ("import tempfile\ntempfile.mktemp()\n", "B306"),
        ("db.execute(f'SELECT * FROM t WHERE name = {name}')\n", "B608"),
        ("import hashlib\nhashlib.md5(password)\n", "B324"),
        ("eval(text)  # nosec\n", "B307"),
    ],
)
def test_a_planted_weakness_is_named_with_its_place(code: str, rule: str) -> None:
    old = "import os\n"
    one = next(one for one in found({"a/b.py": old}, {"a/b.py": old + code}) if one.rule == "security")
    assert not one.blocks, "a person decides: it makes a draft"
    line = code.count("\n") + 1
    assert f"`a/b.py:{line}`" in one.text
    assert f"bandit {rule}" in one.text
    assert code.splitlines()[-1][:10] in one.text


def test_a_new_file_is_looked_at_too() -> None:
    assert [one.rule for one in found({}, {"new.py": SHELL})] == ["security"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a.py": SHELL}, {"a.py": SHELL + "\n\nX = 1\n"}),
        ({"a.py": SHELL}, {"a.py": SHELL.replace("name", "folder")}),
        ({"a.py": SHELL}, {"a.py": None, "b.py": SHELL}),
        ({"a.py": SHELL}, {"a.py": SAFE}),
        ({"a.py": SAFE}, {"a.py": SAFE.replace("show", "list_")}),
        ({}, {"tests/test_new.py": "eval('1')\nassert 1\n"}),
        ({}, {"notes.txt": "eval(text)\n"}),
        ({"a.py": SAFE}, {"a.py": "def broken(\n"}),
        ({"a.py": SAFE}, {"a.py": SAFE.replace("name)", "name)\r") + "\ud800"}),
    ],
    ids=["there before", "reworded", "moved", "mended", "harmless", "a test", "no code", "no syntax", "no characters"],
)
def test_what_the_change_did_not_bring_is_not_held_against_it(
    before: dict[str, str | bytes], after: dict[str, str | bytes | None]
) -> None:
    texts = {
        path: text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for path, text in after.items()
    }
    assert [one for one in found(before, texts) if one.rule == "security"] == []


def test_one_more_of_the_same_kind_is_new() -> None:
    more = SHELL + "\n\ndef again(name):\n    subprocess.run(name, shell=True)\n"
    texts = [one.text for one in found({"a.py": SHELL}, {"a.py": more}) if one.rule == "security"]
    assert len(texts) == 1
    assert "`a.py:9`" in texts[0]


def test_nothing_of_the_change_is_run() -> None:
    objections(tree({}, {"a.py": "raise SystemExit('run')\neval('1')\n"}), (), DEFAULT)


@pytest.mark.parametrize(
    ("path", "weak", "harmless"),
    [
        ("a.js", "eval(text)", "evaluate(text); parser.eval(node)"),
        ("a.ts", "const f = new Function(body)", "const f = new Functional(body)"),
        ("a.mjs", "exec(`ls ${name}`)", "execFile('ls', [name]); pattern.exec(text)"),
        ("a.ts", "execSync('ls ' + name)", "execSync('ls -l')"),
        ("a.js", "request({ rejectUnauthorized: false })", "request({ rejectUnauthorized: true })"),
        ("a.jsx", "<p dangerouslySetInnerHTML={{ __html: text }} />", "<p>{text}</p>"),
        ("a.js", "box.innerHTML = text", "box.textContent = text; if (box.innerHTML === text) {}; box.innerHTML = ''"),
        ("a.go", 'exec.Command("sh", "-c", "ls "+name)', 'exec.Command("ls", name); exec.Command("sh", "-c", "ls")'),
        ("a.go", "&tls.Config{InsecureSkipVerify: true}", "&tls.Config{InsecureSkipVerify: false}"),
        ("a.go", 'db.Query(fmt.Sprintf("SELECT %s", name))', 'db.Query("SELECT ?", name)'),
        ("A.java", 'Runtime.getRuntime().exec("ls " + name);', 'new ProcessBuilder("ls", name).start();'),
        ("A.java", 'statement.executeQuery("SELECT " + name);', 'connection.prepareStatement("SELECT ?");'),
        ("A.kt", "ObjectInputStream(input) ; new ObjectInputStream(input)", "ObjectMapper().readValue(input)"),
        ("a.rb", 'system("ls #{name}")', 'system("ls", name)'),
        ("a.rb", "Marshal.load(data)", "JSON.parse(data)"),
        ("a.rb", "eval(text)", "evaluate(text); Integer.eval"),
        ("a.php", "shell_exec($command);", "escapeshellarg($command);"),
        ("a.php", "unserialize($data);", "json_decode($data);"),
        ("a.php", "eval($code);", "evaluate($code);"),
    ],
)
def test_other_languages_have_patterns_of_their_own(path: str, weak: str, harmless: str) -> None:
    assert [one.rule for one in found({path: "x\n"}, {path: f"x\n{weak}\n"})] == ["security"]
    assert found({path: "x\n"}, {path: f"x\n{harmless}\n"}) == []
    assert found({path: "x\n"}, {path: f"x\n// {weak}\n"}) == []
    assert found({path: f"{weak}\n"}, {path: f"{weak}\ny\n"}) == []


def test_no_line_takes_long() -> None:
    long = "exec(" + "`${" * 300
    begun = time.monotonic()
    found({}, {"a.js": f"{long}\n" * 2_000, "a.php": f"{long}\n" * 2_000})
    assert time.monotonic() - begun < 5
