"""House bots for people: a second process of each house bot, which plays at the tables of people only.

So people take no table from the other ladders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.leaderboard.tokens import Token, new_token
from cutpurse.server.hosting.house_processes import house_bot
from cutpurse.server.hosting.supervisor import ServiceSpawner, ServiceSpec, Supervisor
from cutpurse.server.logs import Logger
from cutpurse.wire.person_names import built_in_bot, people_bot

__all__ = ["PeopleHouse"]


class PeopleHouse(Supervisor):
    """The house bots that play with people; leaving the `with` block ends all of them."""

    def __init__(
        self,
        bots: Sequence[str],
        ladders: Sequence[str],
        people: int,
        log: Logger,
        processes: ServiceSpawner | None = None,
    ) -> None:
        """Set up the house bots.

        Args:
            bots: Valid names.
            ladders: Ladders on which people play.
            people: Number of people who may play at once.
            log: The server's log.
            processes: Runs the processes; real ones by default.
        """
        self.token: Final[Token] = new_token()
        # People arrive together, as a class does, and choose slowly: a bot that adds a table after some decisions
        # would keep them waiting for minutes.
        tables = ("--tables", str(people), "--first-tables", str(people))
        self._words = (*tables, *(word for ladder in ladders for word in ("--ladder", ladder)))
        super().__init__([people_bot(bot) for bot in bots], self._bot, log, noun="house bot", processes=processes)

    def _bot(self, name: str, address: str) -> ServiceSpec:
        return house_bot(built_in_bot(name), name, address, self.token, self._words)
