"""What the stream side of the server asks of the match side: who puts bots at tables, and keeps time for them.

A protocol, so that streams can be tried without a match; the lobby is what plays it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from cutpurse.server.finished_match import Identity

if TYPE_CHECKING:
    from cutpurse.server.streams.server_session import ServerSession

__all__ = ["Matches"]


class Matches(Protocol):
    """Who starts matches between sessions and keeps them going: the lobby."""

    wake: Callable[[], None]
    """Called, on any thread, when `tick` may have something to do sooner than was said."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being played or stored."""

    @property
    def is_storing(self) -> bool:
        """Whether results can be stored, as far as is known; no match is started while they cannot."""

    def ladders(self, owner: str = "") -> Mapping[str, Sequence[str]]:
        """List the ladders of each game, without those that this owner cannot see."""

    def check(self, identity: Identity, wanted: Mapping[str, Sequence[str]], forgets: bool) -> None:
        """Whether a bot that wants to play these ladders, by game, may come in.  Raises CallRefused if it may not.

        forgets: it keeps nothing from one match to the next.
        """

    def enter(self, session: ServerSession) -> None:
        """Admit a bot, for the first time or again."""

    def leave(self, session: ServerSession) -> None:
        """Note that a bot's stream is gone. Its open tables go on."""

    def changed(self, session: ServerSession) -> None:
        """Note that a bot has more or fewer free tables."""

    def tick(self, now: float) -> None:
        """Let time pass: close what is late, start matches."""

    def next_event_at(self) -> float | None:
        """When `tick` has something to do at the latest; None: not before something happens."""

    def credit(self, seconds: float) -> None:
        """Credit a stall of the server to every clock."""

    def drain(self, now: float) -> None:
        """No new matches from now on."""

    def void_all(self) -> None:
        """End every match that is still open, void by the server."""
