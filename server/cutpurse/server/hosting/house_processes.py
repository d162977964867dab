"""House bots: built-in bots that a server runs itself, so that no bot waits for opponents.

Each is a separate process that connects over gRPC as other bots do. Its owner is `house`, by a token that is made for
this run, kept in memory and passed in the environment. House bots play few matches at a time. They end with the server.
If it cannot end them, as after kill -9, they find no server at their address and exit. The pairing decides on which
ladders they play.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.leaderboard.tokens import Token, new_token
from cutpurse.process.interpreter import module_command
from cutpurse.server.hosting.supervisor import ServiceSpawner, ServiceSpec, Supervisor
from cutpurse.server.house_bots import HOUSE_BOTS
from cutpurse.server.logs import Logger
from cutpurse.server.people import built_in_bot, people_bot
from cutpurse.wire.server_address import SERVER_VARIABLE, TOKEN_VARIABLE

__all__ = ["House"]

PATIENCE_S: Final = 3.0  # seconds without a server after which they exit


class House(Supervisor):
    """The house bots of one run of a server; leaving the `with` block ends all of them."""

    def __init__(
        self,
        bots: Sequence[str],
        log: Logger,
        processes: ServiceSpawner | None = None,
        *,
        people: int = 0,
        people_ladders: Sequence[str] = (),
    ) -> None:
        """Set up the house bots.

        Args:
            bots: Valid names.
            log: The server's log.
            processes: Runs the processes; real ones by default.
            people: Number of people who may play at once; each bot has a second process for them.
            people_ladders: Ladders on which people play.
        """
        self.token: Final[Token] = new_token()
        self._people = people
        self._people_ladders = people_ladders
        names = [*bots, *(people_bot(bot) for bot in bots if people)]
        super().__init__(names, self._bot, log, noun="house bot", processes=processes)

    def _bot(self, name: str, address: str) -> ServiceSpec:
        bot = built_in_bot(name)
        kind = HOUSE_BOTS[bot]
        is_for_people = bot != name
        tables = self._people if is_for_people else kind.tables
        # People arrive together, as a class does, and choose slowly: a bot that adds a table after some decisions
        # would keep them waiting for minutes.
        first = ("--first-tables", str(tables)) if is_for_people else ()
        ladders = [word for ladder in self._people_ladders for word in ("--ladder", ladder)] if is_for_people else []
        command = (
            *(*module_command("cutpurse.cli"), "bot", "run", bot, "--name", name, "--quiet"),
            *("--tables", str(tables), "--reconnect-timeout", f"{PATIENCE_S:g}"),
            *first,
            *ladders,
        )
        environment = {**kind.environment, SERVER_VARIABLE: address, TOKEN_VARIABLE: self.token.reveal()}
        return ServiceSpec(command, environment)
