"""The stages of a table of a session, by what the bot's current stream has sent of it, as a table."""

from __future__ import annotations

from enum import Enum
from typing import Final

from cutpurse.server.state_table import StateTable

__all__ = ["TABLE_STAGES", "TableEvent", "TableStage"]


class TableStage(Enum):
    """What the current stream has sent of a table."""

    SEATED = "seated"  # nothing, because the match has not begun
    BEGUN = "begun"  # nothing yet
    STARTED = "started"  # the start of the match
    ENDED = "ended"  # its end; the table is free


class TableEvent(Enum):
    """What can happen to a table until the bot acknowledges its end."""

    BEGIN = "begin"  # the match begins
    SEND_START = "send_start"  # MatchStarted is being sent
    SEND_END = "send_end"  # MatchEnded is being sent
    RECONNECT = "reconnect"  # a new stream begins, on which everything is sent again


TABLE_STAGES: Final[StateTable[TableStage, TableEvent]] = {
    TableStage.SEATED: {TableEvent.BEGIN: TableStage.BEGUN, TableEvent.RECONNECT: TableStage.SEATED},
    TableStage.BEGUN: {TableEvent.SEND_START: TableStage.STARTED, TableEvent.RECONNECT: TableStage.BEGUN},
    TableStage.STARTED: {TableEvent.SEND_END: TableStage.ENDED, TableEvent.RECONNECT: TableStage.BEGUN},
    TableStage.ENDED: {TableEvent.RECONNECT: TableStage.BEGUN},
}
