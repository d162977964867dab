"""The stages of a session, by its stream and what the bot knows of it, as a table."""

from __future__ import annotations

from enum import Enum
from typing import Final

from cutpurse.server.state_table import StateTable

__all__ = ["SESSION_STAGES", "SessionEvent", "SessionStage"]


class SessionStage(Enum):
    """What connects a session with its bot."""

    OPENED = "opened"  # nothing yet
    WELCOMED = "welcomed"  # its first stream; the bot may not have its secret, so it gets no match
    ONLINE = "online"  # a stream, and the bot has its secret
    LOST = "lost"  # nothing; the bot can resume it for a while
    FORGOTTEN = "forgotten"  # nothing, and it can no longer be resumed


class SessionEvent(Enum):
    """What can happen to a session."""

    CONNECT = "connect"  # a stream is attached, the newest one; only a bot with the secret gets a second
    ACKNOWLEDGE = "acknowledge"  # the bot acknowledges its Welcome
    DISCONNECT = "disconnect"  # its stream has ended, or was closed for a newer one
    FORGET = "forget"  # the server gives it up; may happen again when its last stream ends


SESSION_STAGES: Final[StateTable[SessionStage, SessionEvent]] = {
    SessionStage.OPENED: {
        SessionEvent.CONNECT: SessionStage.WELCOMED,
        SessionEvent.FORGET: SessionStage.FORGOTTEN,
    },
    SessionStage.WELCOMED: {
        SessionEvent.CONNECT: SessionStage.ONLINE,
        SessionEvent.ACKNOWLEDGE: SessionStage.ONLINE,
        SessionEvent.DISCONNECT: SessionStage.LOST,
    },
    SessionStage.ONLINE: {
        SessionEvent.CONNECT: SessionStage.ONLINE,
        SessionEvent.DISCONNECT: SessionStage.LOST,
    },
    SessionStage.LOST: {
        SessionEvent.CONNECT: SessionStage.ONLINE,
        SessionEvent.FORGET: SessionStage.FORGOTTEN,
    },
    SessionStage.FORGOTTEN: {SessionEvent.FORGET: SessionStage.FORGOTTEN},
}
