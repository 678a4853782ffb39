"""A pytest plugin: gives each test in the JUnit report the id by which pytest takes it back on its command line.

The names in JUnit XML do not tell folders, files and classes apart, nor where an inherited test was collected.
Since a run that is ended or crashes leaves no such report, outcomes are also written down one by one, as JSON lines
of {"id": ..., "outcome": ..., "message": ...}; `running` is the outcome of a test that has begun.
"""

import json
import os
from typing import Any, Dict, List

_ids: Dict[str, str] = {}
_lines: List[Any] = []


def pytest_configure(config: Any) -> None:
    """Tests that start another pytest must not find this plugin's folder on their path."""
    library = os.environ.pop("AGENT_FIX_LIB", "")
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder != library]
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)
    if not any(folders):
        del os.environ["PYTHONPATH"]
    out = os.environ.pop("AGENT_FIX_OUT", "")
    if out and not hasattr(config, "workerinput"):  # of several processes one writes
        _lines.append(open(os.path.join(out, "pytest.jsonl"), "w"))


def pytest_unconfigure(config: Any) -> None:
    """The file is complete."""
    while _lines:
        _lines.pop().close()


def pytest_collection_modifyitems(config: Any, items: List[Any]) -> None:
    """Ids count from the folder that pytest was started in, whichever its root is."""
    for item in items:
        _, mark, rest = item.nodeid.partition("::")
        path = os.path.relpath(str(getattr(item, "path", None) or item.fspath), str(config.invocation_params.dir))
        _ids[item.nodeid] = path.replace(os.sep, "/") + mark + rest
        item.user_properties.append(("agent-fix-id", json.dumps(_ids[item.nodeid])))


def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    """A test begins."""
    if nodeid in _ids:
        _write(_ids[nodeid], "running", "")


def pytest_runtest_logreport(report: Any) -> None:
    """A phase of a test has ended: its set-up, the test itself, its tear-down."""
    name = dict(report.user_properties).get("agent-fix-id")
    if name and (report.when == "call" or report.outcome != "passed"):
        outcome = "error" if report.outcome == "failed" and report.when != "call" else report.outcome
        _write(json.loads(name), outcome, report.longreprtext if report.outcome == "failed" else "")


def _write(name: str, outcome: str, message: str) -> None:
    for lines in _lines:
        lines.write(json.dumps({"id": name, "outcome": outcome, "message": message}) + "\n")
        lines.flush()
