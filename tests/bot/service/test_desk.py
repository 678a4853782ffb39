"""What was said of runs is found again in the database."""

from __future__ import annotations

from pathlib import Path

from bot.publish.comment import Progress
from bot.service.database import prepare
from bot.service.desk import Desk
from bot.service.requests import Told
from bot.service.telling import QUEUED, STAGES


def test_what_was_said_last_comes_first_whatever_it_is_about(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'service.sqlite'}"
    prepare(database)
    desk = Desk(database)
    try:
        for number, run in enumerate(("12-7-l1", "12-9-c2", "12-8-l3", "12-7-c4", "12-9-c2")):
            progress = Progress(run, STAGES, QUEUED, detail=str(number))
            desk.tell(f"{run}:tell:{number:03}", Told(repository="octo/widgets", number=7, progress=progress))
        for prefixes in (("12-9-", "12-7-"), ("12-7-", "12-9-")):
            found = [(one.progress.run, one.progress.detail) for one in desk.told(prefixes)]
            assert found == [("12-9-c2", "4"), ("12-7-c4", "3"), ("12-7-l1", "0")]
    finally:
        desk.close()
