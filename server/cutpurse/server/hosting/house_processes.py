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
from cutpurse.sdk.online.server_address import SERVER_VARIABLE, TOKEN_VARIABLE
from cutpurse.sdk.playing.interpreter import module_command
from cutpurse.server.hosting.supervisor import ServiceSpawner, ServiceSpec, Supervisor
from cutpurse.server.house_bots import HOUSE_BOTS
from cutpurse.server.logs import Logger

__all__ = ["House"]

PATIENCE_S: Final = 3.0  # seconds without a server after which they exit


class House(Supervisor):
    """The house bots of one run of a server; leaving the `with` block ends all of them."""

    def __init__(self, bots: Sequence[str], log: Logger, processes: ServiceSpawner | None = None) -> None:
        """Set up the house bots. `bots` are valid names."""
        self.token: Final[Token] = new_token()
        super().__init__(bots, self._bot, log, noun="house bot", processes=processes)

    def _bot(self, bot: str, address: str) -> ServiceSpec:
        kind = HOUSE_BOTS[bot]
        command = (
            *(*module_command("cutpurse.sdk.cli"), "bot", "run", bot, "--name", bot, "--quiet"),
            *("--tables", str(kind.tables), "--reconnect-timeout", f"{PATIENCE_S:g}"),
        )
        environment = {**kind.environment, SERVER_VARIABLE: address, TOKEN_VARIABLE: self.token.reveal()}
        return ServiceSpec(command, environment)
