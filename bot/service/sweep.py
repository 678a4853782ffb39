"""What no webhook told of: labelled issues, and the deliveries that failed."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.errors import AgentFixError, Refused
from bot.forge.port import Host, NotThere
from bot.service.decision import Decision
from bot.service.desk import Desk
from bot.service.intake import Intake

LOG = logging.getLogger("agent-fix.publisher")
BACK = timedelta(days=2)
"""Failed deliveries that are older are left; GitHub keeps them for three days."""
AT_MOST = 50
"""Deliveries that one sweep asks for."""


@dataclass(frozen=True)
class Sweep:
    """Looks for what was missed, for one process."""

    host: Host
    intake: Intake
    desk: Desk
    grace: timedelta

    def waiting(self) -> list[tuple[str, int]]:
        """Repository and number of every labelled open issue, the longest waiting of each repository first."""
        found = []
        for repository in self.host.repositories():
            try:
                label = self.intake.policy(self.host.forge(repository)).label
                found += [(repository, number) for number in self.host.labelled(repository, label)]
            except (NotThere, Refused) as error:
                # Gone, blocked, or out of reach of this identity: that is no reason to pass over the others.
                LOG.warning("sweep: %s passed over: %s", repository, error)
        return found

    def decided(self, repository: str, number: int) -> Decision:
        """What to do about one of them; nothing if its run is known already."""
        try:
            return self.intake.found(repository, number)
        except AgentFixError as error:
            return Decision(because=str(error))

    def ask_again(self) -> int:
        """Ask for the deliveries of the last days that nobody took; gives how many."""
        now = datetime.now(UTC)
        missed = [one for one in self.host.missed(now - BACK) if now - one.at >= self.grace]
        for delivery in missed[:AT_MOST]:
            self.host.redeliver(delivery)
        return len(missed)
