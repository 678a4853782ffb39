"""What untrusted code may try, and what becomes of it. The `sandbox` fixture checks that no container is left."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import docker
import pytest

from sandbox.container import IPV6
from sandbox.docker_engine import DockerSandbox
from sandbox.errors import SandboxDied, SandboxStopped, SandboxUnavailable
from sandbox.port import Environment, TestOutcome
from sandbox.settings import SandboxSettings
from tests.sandbox.conftest import PROJECT
from tests.sandbox.snapshots import LINK


def test_an_endless_loop_is_ended_at_its_limit(sandbox: DockerSandbox, environment: Environment) -> None:
    started = time.monotonic()
    result = sandbox.run(environment, PROJECT, "echo begun; while :; do :; done", seconds=2)
    assert (result.ended, result.exit_code, result.output) == ("timeout", None, "begun\n")
    assert time.monotonic() - started < 20


def test_a_fork_bomb_is_held_by_the_limit_of_processes(sandbox: DockerSandbox, environment: Environment) -> None:
    result = sandbox.run(environment, PROJECT, "bomb() { bomb | bomb & }; bomb; sleep 60", seconds=3)
    assert result.ended == "timeout"
    assert sandbox.run(environment, PROJECT, "echo well", seconds=20).output == "well\n"


def test_a_daemon_does_not_outlive_its_command(sandbox: DockerSandbox, environment: Environment) -> None:
    started = time.monotonic()
    result = sandbox.run(environment, PROJECT, "setsid nohup sleep 500 & echo left it", seconds=60)
    assert (result.exit_code, result.output) == (0, "left it\n")
    assert time.monotonic() - started < 30


def test_a_daemon_with_closed_streams_does_not_hide_the_end(sandbox: DockerSandbox, environment: Environment) -> None:
    result = sandbox.run(environment, PROJECT, "exec >&- 2>&- <&-; sleep 1; exit 5", seconds=30)
    assert (result.exit_code, result.ended) == (5, "exit")


def test_orphans_are_reaped(sandbox: DockerSandbox, environment: Environment) -> None:
    """Twice as many as there may be processes at once."""
    command = "for i in $(seq 400); do (true &) ; done; sleep 0.5; ls -d /proc/[0-9]* | wc -l"
    result = sandbox.run(environment, PROJECT, command, seconds=60)
    assert int(result.output) < 20


def test_a_gigabyte_of_output_stays_small(sandbox: DockerSandbox, environment: Environment) -> None:
    result = sandbox.run(environment, PROJECT, "echo first; yes 0123456789 | head -c 1000000000; echo last", seconds=60)
    assert result.ended == "output"
    assert result.output.startswith("first\n")
    assert "bytes cut" in result.output
    assert len(result.output) < 110_000


def test_of_a_long_output_the_end_is_kept_too(sandbox: DockerSandbox, environment: Environment) -> None:
    result = sandbox.run(environment, PROJECT, "echo first; yes | head -c 2000000; echo last", seconds=60)
    assert result.ended == "exit"
    assert result.output.startswith("first\n")
    assert result.output.endswith("last\n")


def test_a_memory_eater_is_named(sandbox: DockerSandbox, environment: Environment) -> None:
    result = sandbox.run(environment, PROJECT, "exec python3 -c \"b'x' * 2_000_000_000\"", seconds=60)
    assert (result.ended, result.exit_code) == ("memory", None)


def test_a_memory_eater_among_others_is_told_of(sandbox: DockerSandbox, environment: Environment) -> None:
    result = sandbox.run(environment, PROJECT, "python3 -c \"b'x' * 2_000_000_000\"; echo went on", seconds=60)
    assert (result.ended, result.exit_code) == ("exit", 0)
    assert "went on\n\n[one of its processes was killed" in result.output


def test_a_disk_filler_is_ended(sandbox: DockerSandbox, environment: Environment) -> None:
    command = "for i in $(seq 10000); do head -c 20000000 /dev/zero > fill$i; sleep 0.01; done"
    result = sandbox.run(environment, PROJECT, command, seconds=60)
    assert result.ended == "disk"
    one = sandbox.run(environment, PROJECT, "head -c 2000000000 /dev/zero > one; stat -c %s one", seconds=60)
    assert int(one.output.splitlines()[-1]) <= 300_000_000


def test_memory_backed_folders_are_bounded(sandbox: DockerSandbox, environment: Environment) -> None:
    result = sandbox.run(environment, PROJECT, "head -c 900000000 /dev/zero > /tmp/fill; du -m /tmp/fill", seconds=60)
    assert int(result.output.splitlines()[-1].split()[0]) <= 50


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("kill -9 $$", 137),
        ("sleep 9 & kill -9 -1; exit 4", 4),
        ("kill -9 1; kill 1; kill -INT 1; kill -HUP 1; kill -QUIT 1; sleep 0.5; exit 137", 137),
        ("kill -9 1; kill 1; kill -INT 1; exit 0", 0),
        ("kill $$", 143),
    ],
)
def test_killing_its_own_processes_is_an_exit_code(
    command: str, code: int, sandbox: DockerSandbox, environment: Environment
) -> None:
    result = sandbox.run(environment, PROJECT, command, seconds=20)
    assert (result.exit_code, result.ended) == (code, "exit")


@pytest.mark.parametrize("end", ["kill", "remove"])
def test_a_container_lost_to_the_outside_is_an_error(
    end: str,
    sandbox: DockerSandbox,
    environment: Environment,
    settings: SandboxSettings,
    engine: docker.DockerClient,
) -> None:
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, environment, PROJECT, "sleep 60", seconds=60)
        victim = running_container(engine, settings)
        victim.kill() if end == "kill" else victim.remove(force=True)
        with pytest.raises(SandboxDied):
            running.result(20)


def test_a_stopped_sandbox_ends_what_runs_and_starts_nothing(
    sandbox: DockerSandbox, environment: Environment, settings: SandboxSettings, engine: docker.DockerClient
) -> None:
    with ThreadPoolExecutor(2) as pool:
        running = [pool.submit(sandbox.run, environment, PROJECT, "sleep 60", seconds=60) for _ in range(2)]
        running_container(engine, settings)
        told = time.monotonic()
        sandbox.stop()
        for one in running:
            with pytest.raises(SandboxStopped):
                one.result(20)
        assert time.monotonic() - told < 8
    with pytest.raises(SandboxStopped):
        sandbox.run(environment, PROJECT, "true", seconds=20)


def running_container(engine: docker.DockerClient, settings: SandboxSettings) -> docker.models.containers.Container:
    for _ in range(200):
        found = engine.containers.list(
            filters={"label": f"agent-fix.run={settings.run_id}", "status": "running"}, ignore_removed=True
        )
        if found:
            return found[0]
        time.sleep(0.05)
    raise AssertionError("no container came to run")


def test_it_has_no_rights(sandbox: DockerSandbox, environment: Environment) -> None:
    command = (
        "id -u; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'; "
        "touch /etc/x /usr/x /agent-fix/x 2>/dev/null || echo kept out; "
        "mount -t tmpfs x /mnt 2>/dev/null || echo no mount; "
        "ls /var/run/docker.sock 2>/dev/null || echo no socket; cat /sys/class/net/*/operstate | wc -l"
    )
    assert sandbox.run(environment, PROJECT, command, seconds=20).output.splitlines() == [
        "10001",
        "CapEff:0000000000000000",
        "CapBnd:0000000000000000",
        "NoNewPrivs:1",
        "Seccomp:2",
        "kept out",
        "no mount",
        "no socket",
        "1",
    ]


def test_it_reaches_nobody_but_itself(sandbox: DockerSandbox, environment: Environment) -> None:
    command = (
        'python3 -c "import socket\n'
        "for place in [('1.1.1.1', 53), ('172.17.0.1', 22), ('pypi.org', 443)]:\n"
        "    try: socket.create_connection(place, 3); print('reached', place)\n"
        "    except OSError: print('nobody')\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname()); print('itself')\n"
        "print(socket.gethostbyname(socket.gethostname()))\n"
        "try: socket.create_server(('::1', 0), family=socket.AF_INET6); print('IPv6')\n"
        "except OSError: print('IPv4')\""
    )
    assert sandbox.run(environment, PROJECT, command, seconds=30).output.split() == [
        *["nobody"] * 3,
        "itself",
        "127.0.0.1",
        "IPv6" if IPV6.exists() else "IPv4",
    ]


def test_it_finds_no_secret(sandbox: DockerSandbox, environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-the-host")
    output = sandbox.run(environment, PROJECT, "env; cat /proc/*/environ | tr '\\0' '\\n'", seconds=20).output
    assert "HOME=/home/agent" in output
    assert "a-key-of-the-host" not in output


def test_a_change_through_a_link_stays_inside(sandbox: DockerSandbox, environment: Environment) -> None:
    """The files of a tree are put where the tree says, whatever links the image has at that place."""
    linked = PROJECT.but(out=(b"/etc", LINK), up=(b"../../../../../../etc/passwd", LINK))
    command = "readlink out up; grep -c root: up"
    assert sandbox.run(environment, linked, command, seconds=20).output.split() == [
        "/etc",
        "../../../../../../etc/passwd",
        "1",
    ]
    through = PROJECT.but(**{"sums/__init__.py": None, "sums/inner/file": "mine", "tests": (b"/etc", LINK)})
    through = through.but(**{"tests/test_add.py": None})
    command = "readlink tests; ls /etc/passwd; cat sums/inner/file"
    assert sandbox.run(environment, through, command, seconds=20).output.split() == ["/etc", "/etc/passwd", "mine"]


@pytest.mark.parametrize(
    "path",
    ["../out", "/etc/passwd", "a/../../b", ".git/hooks/pre-commit", "sub/.GIT/config", "a//b", "./a", "", "a\0b"],
)
def test_a_path_outside_the_tree_is_refused(path: str, sandbox: DockerSandbox, environment: Environment) -> None:
    with pytest.raises(ValueError, match="not a path inside a repository"):
        sandbox.run(environment, PROJECT.but(**{path: "x"}), "true", seconds=20)


def test_tests_that_write_their_own_report_are_not_believed(sandbox: DockerSandbox, environment: Environment) -> None:
    evil = {
        "huge": "open(out, 'wb').truncate(290_000_000); os._exit(0)",
        "entities": "open(out, 'w').write('<!DOCTYPE a [<!ENTITY b \"c\">]><testsuite>&b;</testsuite>'); os._exit(0)",
        "deep": "open(out, 'w').write('<testsuite>' * 100_000); os._exit(0)",
        "link": "os.symlink('/etc/passwd', out); os._exit(0)",
        "fifo": "os.mkfifo(out); os._exit(0)",
        "nonsense": "open(out, 'wb').write(b'\\xff\\0<'); os._exit(0)",
        "nothing": "os._exit(0)",
    }
    for name, code in evil.items():
        test = f"import os\nout = os.environ.get('AGENT_FIX_OUT', '/agent-fix/out') + '/junit.xml'\n{code}\n"
        report = sandbox.test(environment, PROJECT.but(**{"tests/test_add.py": test}), seconds=60)
        assert report.tests == {"python -m pytest": TestOutcome.ERROR}, name
        assert not report.good


def test_ten_at_once_all_end(sandbox: DockerSandbox, environment: Environment) -> None:
    with ThreadPoolExecutor(10) as pool:
        results = list(pool.map(lambda n: sandbox.run(environment, PROJECT, f"echo {n}", seconds=60), range(10)))
    assert [result.output for result in results] == [f"{n}\n" for n in range(10)]
    assert threading.active_count() < 5


def test_an_image_that_is_gone_is_said(sandbox: DockerSandbox, environment: Environment) -> None:
    gone = Environment("sha256:" + "0" * 64, environment.recipe, built=False, log="", seconds=0)
    with pytest.raises(SandboxUnavailable, match="prepare the environment again"):
        sandbox.run(gone, PROJECT, "true", seconds=20)
