"""The stages of a match on a server, from the deal to the opened deal, as a table."""

from __future__ import annotations

from enum import Enum
from typing import Final

from cutpurse.server.state_table import StateTable

__all__ = ["BEGUN", "MATCH_STAGES", "MatchEvent", "MatchStage"]


class MatchStage(Enum):
    """What the bots of a match know of it."""

    DEALT = "dealt"  # nothing
    SEATED = "seated"  # nothing, but each has a table for it; its announcement is being stored
    ASKED = "asked"  # that it begins; its cards are dealt once the nonces of its board are settled
    PLAYING = "playing"  # that it began; ended games stay here until the result is settled
    SEALED = "sealed"  # the result, but not the deal, which other matches of the board still play
    OVER = "over"  # the result and the deal
    DROPPED = "dropped"  # nothing: the match is void and never began


class MatchEvent(Enum):
    """What can happen to a match."""

    SEAT = "seat"  # its bots are assigned tables
    ASK = "ask"  # its announcement is stored, and the nonces of its board are missing
    BEGIN = "begin"  # its announcement is stored, and the nonces are settled or not wanted
    CLOSE = "close"  # its result is settled
    CLOSE_SEALED = "close_sealed"  # its result is settled, while other matches of its board are open
    UNSEAL = "unseal"  # the last match of its board is closed


MATCH_STAGES: Final[StateTable[MatchStage, MatchEvent]] = {
    MatchStage.DEALT: {
        MatchEvent.SEAT: MatchStage.SEATED,
        MatchEvent.CLOSE: MatchStage.DROPPED,
        MatchEvent.CLOSE_SEALED: MatchStage.DROPPED,
    },
    MatchStage.SEATED: {
        MatchEvent.ASK: MatchStage.ASKED,
        MatchEvent.BEGIN: MatchStage.PLAYING,
        MatchEvent.CLOSE: MatchStage.DROPPED,
        MatchEvent.CLOSE_SEALED: MatchStage.DROPPED,
    },
    MatchStage.ASKED: {
        MatchEvent.BEGIN: MatchStage.PLAYING,
        MatchEvent.CLOSE: MatchStage.OVER,
        MatchEvent.CLOSE_SEALED: MatchStage.SEALED,
    },
    MatchStage.PLAYING: {MatchEvent.CLOSE: MatchStage.OVER, MatchEvent.CLOSE_SEALED: MatchStage.SEALED},
    MatchStage.SEALED: {MatchEvent.UNSEAL: MatchStage.OVER},
    MatchStage.OVER: {},
    MatchStage.DROPPED: {MatchEvent.UNSEAL: MatchStage.DROPPED},
}
BEGUN: Final = frozenset({MatchStage.PLAYING, MatchStage.SEALED, MatchStage.OVER})  # it waits for no nonces any more
