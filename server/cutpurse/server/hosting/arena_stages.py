"""The stages of an arena, from its start to its end, as a table."""

from __future__ import annotations

from enum import Enum
from typing import Final

from cutpurse.server.state_table import StateTable

__all__ = ["ARENA_STAGES", "ENDING", "RUNNING", "ArenaEvent", "ArenaStage"]


class ArenaStage(Enum):
    """What an arena does."""

    STARTING = "starting"  # it does not listen yet, or nothing drives its matches yet
    OPEN = "open"  # it accepts bots and starts matches
    DRAINING = "draining"  # it accepts no new bots; open matches go on until they are over or void
    CLOSING = "closing"  # it ends every call, by force if necessary
    STOPPED = "stopped"  # nothing any more


class ArenaEvent(Enum):
    """What can happen to an arena."""

    START = "start"  # it listens, and its timers run
    DRAIN = "drain"  # a stop begins, maybe not the first
    CLOSE = "close"  # its matches are over, or its start has failed; again after a repeated stop
    END = "end"  # all its calls have ended


ARENA_STAGES: Final[StateTable[ArenaStage, ArenaEvent]] = {
    ArenaStage.STARTING: {ArenaEvent.START: ArenaStage.OPEN},
    ArenaStage.OPEN: {ArenaEvent.DRAIN: ArenaStage.DRAINING, ArenaEvent.CLOSE: ArenaStage.CLOSING},
    ArenaStage.DRAINING: {ArenaEvent.DRAIN: ArenaStage.DRAINING, ArenaEvent.CLOSE: ArenaStage.CLOSING},
    ArenaStage.CLOSING: {
        ArenaEvent.DRAIN: ArenaStage.CLOSING,
        ArenaEvent.CLOSE: ArenaStage.CLOSING,
        ArenaEvent.END: ArenaStage.STOPPED,
    },
    ArenaStage.STOPPED: {
        ArenaEvent.DRAIN: ArenaStage.STOPPED,
        ArenaEvent.CLOSE: ArenaStage.STOPPED,
        ArenaEvent.END: ArenaStage.STOPPED,
    },
}
RUNNING: Final = frozenset({ArenaStage.OPEN, ArenaStage.DRAINING, ArenaStage.CLOSING})  # its timers run
ENDING: Final = frozenset({ArenaStage.CLOSING, ArenaStage.STOPPED})  # its matches are driven no more
