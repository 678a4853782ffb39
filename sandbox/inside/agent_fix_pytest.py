"""A pytest plugin: gives each test in the JUnit report the id by which pytest takes it back on its command line.

The names in JUnit XML do not tell folders, files and classes apart, nor where an inherited test was collected.
"""

import json
import os
from typing import Any, List


def pytest_configure(config: Any) -> None:
    """Tests that start another pytest must not find this plugin's folder on their path."""
    library = os.environ.pop("AGENT_FIX_LIB", "")
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder != library]
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)
    if not any(folders):
        del os.environ["PYTHONPATH"]


def pytest_collection_modifyitems(config: Any, items: List[Any]) -> None:
    """Ids count from the folder that pytest was started in, whichever its root is."""
    for item in items:
        _, mark, rest = item.nodeid.partition("::")
        path = os.path.relpath(str(getattr(item, "path", None) or item.fspath), str(config.invocation_params.dir))
        item.user_properties.append(("agent-fix-id", json.dumps(path.replace(os.sep, "/") + mark + rest)))
