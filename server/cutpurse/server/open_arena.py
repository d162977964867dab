"""An open arena, put together: a database, its ladders, a lobby and the address where bots dial in.

Open: whoever reaches it plays under the name that he says, so it listens on this machine only. This module knows no
command line.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from cutpurse.leaderboard.store import Store
from cutpurse.server.address import checked
from cutpurse.server.host import Arena
from cutpurse.server.ladders import Ladder
from cutpurse.server.ledger import Ledger
from cutpurse.server.limits import Limits
from cutpurse.server.lobby import Lobby
from cutpurse.server.logs import Logger

__all__ = ["OpenArena", "open_arena"]


@dataclass(frozen=True)
class OpenArena:
    """What `open_arena` puts together."""

    arena: Arena
    lobby: Lobby
    store: Store


@contextmanager
def open_arena(
    address: str, database: Path, ladders: Sequence[Ladder], log: Logger, limits: Limits | None = None
) -> Iterator[OpenArena]:
    """An arena that can be started; when the block is left, everything that it was told is stored.

    Raises AddressError for an address that other machines could reach, StoreError for a database that cannot be used,
    Refused for a ladder that was another one before.
    """
    checked(address)  # before there is a database
    with Store(database) as store:
        ledger = Ledger(store, ladders)
        try:
            lobby = Lobby(ladders, ledger, entropy=secrets.token_bytes, utc=lambda: datetime.now(UTC), log=log)
            yield OpenArena(Arena(address, lobby, log=log, limits=limits), lobby, store)
        finally:
            ledger.close()
