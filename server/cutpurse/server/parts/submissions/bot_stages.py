"""The stages of a hosted bot, by what its process does, as a table."""

from __future__ import annotations

from enum import Enum
from typing import Final

from cutpurse.server.state_table import StateTable

__all__ = ["BOT_STAGES", "BotEvent", "BotStage"]


class BotStage(Enum):
    """What the process of a hosted bot does."""

    WAITING = "waiting"  # there is none; one starts when its wait is over, unless the version is paused
    RUNNING = "running"  # it plays, or has ended since the last check
    STOPPING = "stopping"  # it has played its one match, or was silent for too long, and has a grace to end


class BotEvent(Enum):
    """What can happen to the process of a hosted bot."""

    START = "start"  # it starts
    STOP = "stop"  # it is asked to end, and the next one starts at once
    END = "end"  # it has ended or was stopped, or could not be started


BOT_STAGES: Final[StateTable[BotStage, BotEvent]] = {
    BotStage.WAITING: {BotEvent.START: BotStage.RUNNING, BotEvent.END: BotStage.WAITING},
    BotStage.RUNNING: {BotEvent.STOP: BotStage.STOPPING, BotEvent.END: BotStage.WAITING},
    BotStage.STOPPING: {BotEvent.END: BotStage.WAITING},
}
