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
from cutpurse.wire.server_address import SERVER_VARIABLE, TOKEN_VARIABLE

__all__ = ["House", "house_bot"]

PATIENCE_S: Final = 10.0  # seconds without a server after which they exit; a busy one may stand still for some


class House(Supervisor):
    """The house bots of one run of a server; leaving the `with` block ends all of them."""

    def __init__(self, bots: Sequence[str], log: Logger, processes: ServiceSpawner | None = None) -> None:
        """Set up the house bots.

        Args:
            bots: Valid names.
            log: The server's log.
            processes: Runs the processes; real ones by default.
        """
        self.token: Final[Token] = new_token()
        super().__init__(bots, self._bot, log, noun="house bot", processes=processes)

    def _bot(self, name: str, address: str) -> ServiceSpec:
        return house_bot(name, name, address, self.token, ("--tables", str(HOUSE_BOTS[name].tables)))


def house_bot(bot: str, name: str, address: str, token: Token, more: Sequence[str]) -> ServiceSpec:
    """Return the program of a house bot under a name, with more words of its command."""
    command = (
        *(*module_command("cutpurse.cli"), "bot", "run", bot, "--name", name, "--quiet"),
        *("--reconnect-timeout", f"{PATIENCE_S:g}", *more),
    )
    return ServiceSpec(
        command, {**HOUSE_BOTS[bot].environment, SERVER_VARIABLE: address, TOKEN_VARIABLE: token.reveal()}
    )
