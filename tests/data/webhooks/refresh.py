"""Fetch the recorded webhook payloads again: `python tests/data/webhooks/refresh.py` (needs npm).

They come from the npm package `@octokit/webhooks-examples` (MIT), in which the community keeps real deliveries of
github.com. Of each kind that the bot reads, or must pass over, one is kept as it is.
"""

from __future__ import annotations

import json
import subprocess
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "@octokit/webhooks-examples@7.6.1"
WANTED = {
    "issues": ("opened", "labeled", "unlabeled", "edited", "reopened", "deleted"),
    "issue_comment": ("created", "edited"),
    "pull_request": ("opened", "closed", "synchronize", "labeled"),
    "pull_request_review": ("submitted",),
    "pull_request_review_comment": ("created",),
    "check_run": ("created", "rerequested"),
    "installation": ("created", "deleted"),
    "installation_repositories": ("added", "removed"),
    "ping": (None,),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.PIPE, text=True
        )
        with tarfile.open(Path(folder, packed.stdout.strip())) as archive:
            member = archive.extractfile("package/api.github.com/index.json")
            assert member is not None
            examples = {kind["name"]: kind["examples"] for kind in json.load(member)}
    kept = {}
    for event, actions in WANTED.items():
        for action in actions:
            of_action = [one for one in examples[event] if one.get("action") == action]
            # The newest forms have the most fields; without an organisation GitHub sends no field of that name.
            alone = [one for one in of_action if "organization" not in one] or of_action
            kept[f"{event}.{action}" if action else event] = max(alone, key=len)
    text = json.dumps(kept, indent=1, ensure_ascii=False)
    Path(__file__).with_name("recorded.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
