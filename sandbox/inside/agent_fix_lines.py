"""Writes down which lines of some files run in this process; a pytest plugin too.

The files stand in `watch.json` beside this module, as absolute paths. What is left in the folder of reports is
`lines-<process>.json`: {path: {"able": [lines that can run], "ran": [lines that did]}}. Where Python can tell of each
line once (3.12), that is used; before, a trace function, which another measurement may replace meanwhile: it is
taken back before each test.
"""

import atexit
import dis
import json
import os
import sys
import threading
from typing import Any, Dict, Optional, Set

_WATCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "watch.json")
_OUT = os.environ.get("AGENT_FIX_OUT") or os.environ.get("AGENT_FIX_LINES", "")
_ran: Dict[str, Set[int]] = {}
_names: Dict[str, Optional[str]] = {}


def _watched(name: str) -> Optional[str]:
    """The watched file that a code object's name of a file stands for."""
    if name not in _names:
        real = os.path.realpath(name)
        _names[name] = real if real in _ran else None
    return _names[name]


def _able(path: str) -> Set[int]:
    """The lines of a file at which something begins to run."""
    lines: Set[int] = set()
    try:
        with open(path, "rb") as file:
            codes = [compile(file.read(), path, "exec", dont_inherit=True)]
    except (OSError, SyntaxError, ValueError):
        return lines
    while codes:
        code = codes.pop()
        lines.update(line for _, line in dis.findlinestarts(code) if line)
        codes += [constant for constant in code.co_consts if hasattr(constant, "co_consts")]
    return lines


def _called(frame: Any, event: str, argument: Any) -> Any:
    return _line if _watched(frame.f_code.co_filename) else None


def _line(frame: Any, event: str, argument: Any) -> Any:
    if event == "line":
        _ran[_watched(frame.f_code.co_filename) or ""].add(frame.f_lineno)
    return _line


def _told(code: Any, line: int) -> Any:
    path = _watched(code.co_filename)
    if path:
        _ran[path].add(line)
    return getattr(sys, "monitoring").DISABLE  # noqa: B009 - not in every version


def _begin() -> None:
    with open(_WATCH) as file:
        _ran.update((os.path.realpath(path), set()) for path in json.load(file))
    os.environ["AGENT_FIX_LINES"] = _OUT
    monitoring = getattr(sys, "monitoring", None)
    if monitoring is not None:
        tool = next(number for number in (4, 3, 5, 2, 0, 1) if monitoring.get_tool(number) is None)
        monitoring.use_tool_id(tool, "agent-fix")
        monitoring.register_callback(tool, monitoring.events.LINE, _told)
        monitoring.set_events(tool, monitoring.events.LINE)
    else:
        threading.settrace(_called)
    again()
    atexit.register(_end)


def again() -> None:
    """Trace this thread, if it must be traced and is not."""
    if not hasattr(sys, "monitoring") and sys.gettrace() is not _called:
        sys.settrace(_called)


def _end() -> None:
    """The process ends: what a trace function needs may be taken down before it."""
    if not hasattr(sys, "monitoring"):
        sys.settrace(None)
    write()


def write() -> None:
    """Leave what is known by now."""
    found = {path: {"able": sorted(_able(path)), "ran": sorted(ran)} for path, ran in _ran.items()}
    with open(os.path.join(_OUT, "lines-{}.json".format(os.getpid())), "w") as file:
        json.dump(found, file)


def pytest_collection() -> None:
    """Test files are about to be loaded."""
    again()


def pytest_runtest_logstart(nodeid: str, location: Any) -> None:
    """A test begins."""
    again()


def pytest_unconfigure(config: Any) -> None:
    """A process of several may end without further notice."""
    write()


if os.path.exists(_WATCH):
    _begin()
