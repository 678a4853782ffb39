"""Environment images: made once for the same inputs, and what must not get into one or out of one."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import docker
import pytest

from sandbox.container import labels
from sandbox.docker_engine import DockerSandbox, sweep
from sandbox.errors import SandboxStopped, SandboxUnavailable, SetupFailed
from sandbox.health import examine
from sandbox.images import evict, ground_key, lock, own_size, project_key, stamp
from sandbox.manifests import is_manifest
from sandbox.port import Recipe, TestOutcome
from sandbox.settings import SandboxSettings
from tests.sandbox.conftest import recipe
from tests.sandbox.snapshots import Files

TREE = Files(
    {"pyproject.toml": "[project]\nname = 'a'\n", "src/a.py": "one\n", "ci/tools.txt": "x\n", "deep/go.mod": ""}
)
QUICK = recipe(setup=("date +%s%N > ~/made",), reporter="exit-code", test_command="true", tests=())


def test_the_same_and_changed_sources_build_nothing(sandbox: DockerSandbox) -> None:
    first = sandbox.prepare(QUICK, TREE)
    assert first.built
    for tree in (TREE, TREE.but(**{"src/a.py": "two\n", "src/b.py": ""})):
        again = sandbox.prepare(QUICK, tree)
        assert (again.built, again.id) == (False, first.id)
        assert sandbox.run(again, tree, "cat src/*", seconds=20).output.encode() == tree.read("src/a.py")


def test_git_knows_the_tree_that_a_run_started_from_and_not_that_of_the_image(sandbox: DockerSandbox) -> None:
    first = sandbox.prepare(QUICK, TREE)
    later = TREE.but(**{"src/a.py": "two\n", "src/b/c.py": "new\n", "ci/tools.txt": None})
    again = sandbox.prepare(QUICK, later)
    assert again.id == first.id
    shown = ("git show HEAD:src/a.py", "git log --oneline | wc -l", "git ls-files", "echo", "git status --short")
    back = "git stash -q; cat src/a.py"
    said = sandbox.run(again, later.but(**{"src/a.py": "three\n"}), "; ".join([*shown, back]), seconds=20).output
    assert said == "two\n1\ndeep/go.mod\npyproject.toml\nsrc/a.py\nsrc/b/c.py\n\n M src/a.py\ntwo\n"
    assert sandbox.run(first, TREE, "git status --short", seconds=20).output == ""


def test_hooks_that_a_set_up_installs_do_not_judge_what_the_tree_is(sandbox: DockerSandbox) -> None:
    hook = "mkdir ~/hooks && printf '#!/bin/sh\\nexit 1\\n' > ~/hooks/pre-commit && chmod +x ~/hooks/pre-commit"
    hooked = dataclasses.replace(QUICK, setup=(*QUICK.setup, hook, "git config core.hooksPath ~/hooks"))
    first = sandbox.prepare(hooked, TREE)
    later = TREE.but(**{"src/a.py": "two\n"})
    again = sandbox.prepare(hooked, later)
    assert again.id == first.id
    assert sandbox.run(again, later, "git show HEAD:src/a.py", seconds=20).output == "two\n"


def test_a_changed_manifest_is_set_up_anew(sandbox: DockerSandbox) -> None:
    first = sandbox.prepare(QUICK, TREE)
    changed = TREE.but(**{"pyproject.toml": "[project]\nname = 'b'\n"})
    again = sandbox.prepare(QUICK, changed)
    assert again.built
    assert again.id != first.id
    assert sandbox.run(again, changed, "cat pyproject.toml", seconds=20).output == "[project]\nname = 'b'\n"


def test_a_tree_that_has_drifted_far_is_set_up_anew(
    settings: SandboxSettings, sandbox: DockerSandbox, engine: docker.DockerClient
) -> None:
    first = sandbox.prepare(QUICK, TREE)
    tree = TREE.but(**{f"src/m{number}.py": "" for number in range(10)})
    with contextlib.closing(DockerSandbox(dataclasses.replace(settings, drift=9))) as strict:
        again = strict.prepare(QUICK, tree)
        assert again.built
        assert again.id != first.id
        assert not strict.prepare(QUICK, tree).built
    assert sandbox.run(again, tree, "ls src | wc -l; git status --short", seconds=20).output == "11\n"
    assert sandbox.run(first, TREE, "ls src", seconds=20).output == "a.py\n"  # for who still has it


def test_an_image_in_whose_place_another_was_built_goes_when_nobody_has_used_it_lately(
    settings: SandboxSettings, sandbox: DockerSandbox, engine: docker.DockerClient
) -> None:
    first = [sandbox.prepare(QUICK, TREE) for _ in range(2)][-1]
    assert not first.built
    with contextlib.closing(DockerSandbox(dataclasses.replace(settings, drift=0))) as strict:
        strict.prepare(QUICK, TREE.but(**{"src/a.py": "two\n"}))
    assert evict(engine, settings, keep=()) == []
    os.utime(stamp(settings, first.id), (0, 0))
    assert evict(engine, settings, keep=()) == [first.id]


@pytest.mark.parametrize(
    "path",
    [
        *("pyproject.toml", "deep/go.mod", "ci/tools.txt", "requirements/dev.txt", ".nvmrc"),
        *("ci/base.txt", "ci/base.in", "Makefile", "tools/more.mk"),
    ],
)
def test_every_file_that_a_set_up_reads_is_in_its_key(path: str) -> None:
    """A file that a set-up command names is one, whatever its name; and what such a file includes, and a target's."""
    wanted = dataclasses.replace(QUICK, setup=(*QUICK.setup, "cat ../ci/tools.txt", "make deps"), workdir="src")
    assert key(wanted, TREE) != key(wanted, TREE.but(**{path: "[changed]\n"}))
    for other in ("src/a.py", "docs/base.txt", "ci/base.py"):
        assert key(wanted, TREE) == key(wanted, TREE.but(**{other: "changed\n"}))
    assert key(QUICK, TREE) == key(QUICK, TREE.but(Makefile="changed\n"))


def test_one_repository_gets_nothing_of_another(settings: SandboxSettings, sandbox: DockerSandbox) -> None:
    """Of the same manifests and commands, too: an image holds the files of the repository that it was made for."""
    secret = dataclasses.replace(settings, repository=f"{settings.run_id}/private")
    with contextlib.closing(DockerSandbox(secret)) as private:
        first = private.prepare(QUICK, TREE.but(**{"src/a.py": "private\n"}))
    second = sandbox.prepare(QUICK, TREE)
    assert second.built
    assert second.id != first.id


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"setup": ("true",)}, False),
        ({"env": {"A": "b"}}, False),
        ({"workdir": "src"}, False),
        ({"build": ("true",)}, False),
        ({"packages": ("hello",)}, False),
        ({"test_command": "make test", "reporter": "tap", "tests": ("a",), "sources": {"setup": "guess"}}, True),
    ],
)
def test_a_key_has_what_a_set_up_does(changes: dict[str, object], same: bool) -> None:
    assert (key(QUICK, TREE) == key(dataclasses.replace(QUICK, **changes), TREE)) is same  # type: ignore[arg-type]


def key(of: Recipe, tree: Files) -> str:
    return project_key("", of, tree.entries(), ground_key(of, "base"))


def test_debian_packages_are_there(lasting: DockerSandbox) -> None:
    environment = lasting.prepare(dataclasses.replace(QUICK, packages=("hello",)), TREE)
    assert lasting.run(environment, TREE, "hello", seconds=20).output == "Hello, world!\n"


@pytest.mark.parametrize("name", ["-o=x", "a b", "$(id)", "../x.deb", "", "A"])
def test_what_is_no_name_of_a_package_is_refused(name: str, sandbox: DockerSandbox) -> None:
    with pytest.raises(ValueError, match="not the name of a Debian package"):
        sandbox.prepare(dataclasses.replace(QUICK, packages=(name,)), TREE)


def test_two_at_once_build_one_image(settings: SandboxSettings, sandbox: DockerSandbox) -> None:
    slow = dataclasses.replace(QUICK, setup=(*QUICK.setup, "sleep 1"))
    with contextlib.closing(DockerSandbox(settings)) as other, ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda of: of.prepare(slow, TREE), [sandbox, other])
    assert one.id == two.id
    assert {one.built, two.built} == {True, False}


def test_the_set_up_may_reach_the_network_and_keeps_its_log(sandbox: DockerSandbox) -> None:
    wanted = dataclasses.replace(QUICK, setup=("ls /sys/class/net", "echo said; echo so >&2"))
    for _ in range(2):
        log = sandbox.prepare(wanted, TREE).log
        assert "$ ls /sys/class/net" in log
        assert "eth0" in log
        assert "said\nso\n" in log


def test_a_failed_set_up_shows_the_lines_that_matter(sandbox: DockerSandbox) -> None:
    noise = "for i in $(seq 300); do echo noise $i; done"
    wanted = dataclasses.replace(
        QUICK, setup=("echo good", f"{noise}; echo 'ERROR: no such thing'; {noise}; false", "echo never")
    )
    with pytest.raises(SetupFailed) as caught:
        sandbox.prepare(wanted, TREE)
    text = str(caught.value)
    assert "exit code 1" in text
    assert "ERROR: no such thing" in text
    assert text.count("\n") < 30
    assert "$ echo good" in caught.value.log
    assert "never" not in caught.value.log
    with pytest.raises(SetupFailed):
        sandbox.prepare(wanted, TREE)


def test_a_failing_command_in_a_pipe_fails_the_set_up(sandbox: DockerSandbox) -> None:
    with pytest.raises(SetupFailed):
        sandbox.prepare(dataclasses.replace(QUICK, setup=("false | cat",)), TREE)


def test_a_set_up_without_end_is_ended(settings: SandboxSettings, sandbox: DockerSandbox) -> None:
    sandbox.prepare(QUICK, TREE)
    hasty = DockerSandbox(dataclasses.replace(settings, setup_seconds=1))
    with contextlib.closing(hasty), pytest.raises(SetupFailed, match=r"not done after \d+ seconds"):
        hasty.prepare(dataclasses.replace(QUICK, setup=("sleep 100",)), TREE)


def test_a_stop_ends_the_set_up_and_those_who_wait_for_it(settings: SandboxSettings, sandbox: DockerSandbox) -> None:
    slow = dataclasses.replace(QUICK, setup=("sleep 100",))
    with contextlib.closing(DockerSandbox(settings)) as other, ThreadPoolExecutor(2) as pool:
        running = [pool.submit(one.prepare, slow, TREE) for one in (sandbox, other)]
        time.sleep(1.5)
        told = time.monotonic()
        sandbox.stop()
        other.stop()
        for one in running:
            with pytest.raises(SandboxStopped):
                one.result(20)
        assert time.monotonic() - told < 8


def test_nothing_of_the_operators_set_up_stays_in_the_image(
    settings: SandboxSettings, sandbox: DockerSandbox, engine: docker.DockerClient
) -> None:
    mirror = dataclasses.replace(settings, setup_env={"PIP_INDEX_URL": "https://mirror.invalid/it's"})
    with contextlib.closing(DockerSandbox(mirror)) as given:
        environment = given.prepare(dataclasses.replace(QUICK, setup=('echo "$PIP_INDEX_URL" | grep s$',)), TREE)
    found = sandbox.run(environment, TREE, "env; ls -A /agent-fix/in /cache /tmp; ls -A ~", seconds=20).output
    assert "mirror.invalid" not in found
    assert "ca.pem" not in found
    inspected = json.dumps([engine.images.get(environment.id).attrs, engine.images.get(environment.id).history()])
    assert "mirror.invalid" not in inspected


def test_root_has_no_part_in_the_set_up(sandbox: DockerSandbox) -> None:
    log = sandbox.prepare(dataclasses.replace(QUICK, setup=("id -u", "touch /usr/x || echo kept out")), TREE).log
    assert "10001" in log
    assert "kept out" in log


def test_the_project_is_a_repository_of_one_commit(sandbox: DockerSandbox) -> None:
    ignored = TREE.but(**{".gitignore": "*.txt\n"})
    environment = sandbox.prepare(QUICK, ignored)
    command = "git log --oneline | wc -l; git remote; git status --short; git ls-files ci"
    assert sandbox.run(environment, ignored, command, seconds=20).output.split() == ["1", "ci/tools.txt"]


def test_what_is_compiled_follows_its_sources(sandbox: DockerSandbox) -> None:
    compiling = dataclasses.replace(QUICK, build=("tr a-z A-Z < src/a.py > ~/compiled",), build_inputs=("src/*.py",))
    environment = sandbox.prepare(compiling, TREE)
    for tree, said in ((TREE, "ONE"), (TREE.but(**{"src/a.py": "two\n"}), "TWO"), (TREE.but(other="x"), "ONE")):
        assert sandbox.run(environment, tree, "cat ~/compiled", seconds=20).output.split()[-1] == said
    gone = TREE.but(**{"src/a.py": None})
    report = sandbox.test(environment, gone, seconds=20)
    assert report.tests == {"true": TestOutcome.FAILED}
    assert "src/a.py" in report.messages["true"]


def test_a_cache_serves_its_repository_alone_and_set_up_alone(
    settings: SandboxSettings, sandbox: DockerSandbox, engine: docker.DockerClient
) -> None:
    def prepared(cache: str, *setup: str) -> str:
        with contextlib.closing(DockerSandbox(dataclasses.replace(settings, repository=cache))) as cached:
            return cached.prepare(dataclasses.replace(QUICK, setup=setup), TREE).id

    mine, other = f"{settings.run_id}/mine", f"{settings.run_id}/other"
    first = prepared(mine, "echo kept > $PIP_CACHE_DIR.txt")
    prepared(mine, "cat /cache/pip.txt")
    prepared(other, "! cat /cache/pip.txt")
    with contextlib.closing(DockerSandbox(dataclasses.replace(settings, repository=mine))) as cached:
        environment = dataclasses.replace(cached.prepare(QUICK, TREE), id=first)
        assert cached.run(environment, TREE, "ls -A /cache", seconds=20).output == ""
    volume, _ = engine.volumes.list(filters={"label": f"agent-fix.run={settings.run_id}"})
    assert evict(engine, settings, keep=()) == []
    os.utime(stamp(settings, str(volume.name)), (0, 0))
    assert evict(engine, settings, keep=()) == [volume.name]


def test_the_longest_unused_go_when_there_are_too_many(
    settings: SandboxSettings, sandbox: DockerSandbox, engine: docker.DockerClient
) -> None:
    fill = "head -c 5000000 /dev/urandom > ~/fill"
    environments = [sandbox.prepare(dataclasses.replace(QUICK, setup=(fill, f"echo {n}")), TREE) for n in range(3)]
    images = [engine.images.get(environment.id) for environment in environments]
    assert all(5_000_000 < own_size(engine, image) < 9_000_000 for image in images)
    small = dataclasses.replace(settings, images=13_000_000)
    assert evict(engine, small, keep=()) == []  # all are fresh
    (told,) = (one for one in examine(small) if one.name == "images")
    assert not told.well
    assert "stay; raise AGENT_FIX_IMAGES" in told.text
    for image, days in zip(images, (2, 3, 1), strict=True):
        then = time.time() - days * 86400
        os.utime(stamp(settings, image.tags[0]), (then, then))
    with lock(small, images[1].tags[0]):  # somebody has just found it, and has not noted it as used yet
        assert evict(engine, small, keep={images[0].id, images[2].id}) == []
    assert evict(engine, small, keep=()) == images[1].tags
    assert evict(engine, small, keep=()) == []
    with pytest.raises(SandboxUnavailable, match="prepare the environment again"):
        sandbox.run(environments[1], TREE, "true", seconds=20)
    assert next(one for one in examine(dataclasses.replace(small, images=10**9)) if one.name == "images").well
    assert sandbox.run(environments[0], TREE, "echo here", seconds=20).output == "here\n"


def test_a_missing_base_image_is_said(sandbox: DockerSandbox) -> None:
    with pytest.raises(SandboxUnavailable, match=r"no image 'nobody/has:it'.*python -m sandbox.base_image"):
        sandbox.prepare(dataclasses.replace(QUICK, base_image="nobody/has:it"), TREE)


def test_an_engine_that_is_not_there_is_said(settings: SandboxSettings) -> None:
    nowhere = dataclasses.replace(settings, docker_host="tcp://127.0.0.1:1")
    with pytest.raises(SandboxUnavailable, match="start it"):
        DockerSandbox(nowhere).prepare(QUICK, TREE)
    with pytest.raises(SandboxUnavailable, match="start it"):
        sweep(nowhere)


@pytest.fixture
def leftovers(settings: SandboxSettings, engine: docker.DockerClient) -> Iterator[dict[str, str]]:
    """Containers as a killed process leaves them: of this run, of another whose time is over, of one at work, and of
    another installation's run of the same name."""
    made, another = {}, dataclasses.replace(settings, state=settings.state / "another")
    for name, whose, until in (
        ("mine", settings, time.time() + 900),
        ("over", dataclasses.replace(settings, run_id=settings.run_id + "-other"), time.time() - 9),
        ("at work", dataclasses.replace(settings, run_id=settings.run_id + "-third"), time.time() + 900),
        ("not mine", another, time.time() + 900),
    ):
        told = labels(whose) | {"agent-fix.until": str(int(until))}
        container = engine.containers.run(settings.base_image, ["sleep", "900"], labels=told, detach=True)
        made[name] = str(container.id)
    yield made
    for identity in made.values():
        with contextlib.suppress(docker.errors.NotFound):
            engine.containers.get(identity).remove(force=True)


def test_a_sweep_removes_what_crashes_left(
    settings: SandboxSettings, engine: docker.DockerClient, leftovers: dict[str, str]
) -> None:
    assert sweep(settings, run_id=settings.run_id) >= 1  # another run of the suite may have swept what is over
    left = {str(container.id) for container in engine.containers.list(all=True, ignore_removed=True)}
    assert left & set(leftovers.values()) == {leftovers["at work"], leftovers["not mine"]}


@pytest.mark.parametrize(
    ("path", "decides"),
    [
        ("pyproject.toml", True),
        ("packages/a/package.json", True),
        ("dev-requirements.txt", True),
        ("requirements/test.txt", True),
        (".cargo/config.toml", True),
        ("src/package.json.py", False),
        ("my_pyproject.toml", False),
        ("src/a.c", False),
    ],
)
def test_manifests_are_known_by_name(path: str, decides: bool) -> None:
    assert is_manifest(path) is decides
