"""What the bot says on an issue or a pull request: how a run stands, that it saw something, why it did what it did."""

from __future__ import annotations

import logging
from collections.abc import Callable

from bot.errors import Refused
from bot.forge.port import Host, NotThere, Unavailable
from bot.publish.comment import progress_comment
from bot.service.decision import Seen
from bot.service.requests import Told

LOG = logging.getLogger("agent-fix.publisher")


class Talking:
    """For one process. Each method may be done again after a crash."""

    def __init__(self, host: Host, mask: Callable[[str], str]) -> None:
        """`mask` takes secrets, and this installation's own addresses, out of every text before it is shown."""
        self._host = host
        self._mask = mask

    def tell(self, told: Told) -> None:
        """Show how a run stands. An issue that is gone or closed to the bot has no reader: nothing is shown."""
        try:
            forge = self._host.forge(told.repository)
            forge.issues.progress(told.number, self._mask(progress_comment(told.progress)))
            forge.issues.mark(told.number, told.label)
        except (NotThere, Refused):
            return

    def saw(self, repository: str, number: int, seen: Seen) -> None:
        """Show that what somebody did was seen. It is a courtesy: if it cannot be done now, it is not done."""
        try:
            forge = self._host.forge(repository)
            if seen.remark is not None:
                forge.reviews.saw(number, seen.remark)
            else:
                forge.issues.saw(seen.issue or number, seen.comment)
        except (Unavailable, NotThere, Refused) as error:
            LOG.info("%s#%s: %s", repository, number, error)

    def answer(self, repository: str, number: int, comment: int, said: str) -> None:
        """Answer a comment."""
        try:
            self._host.forge(repository).issues.answer(number, comment, self._mask(said))
        except (NotThere, Refused) as error:
            LOG.info("%s#%s: %s", repository, number, error)
