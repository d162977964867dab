"""The match side of the server, as the streams require it: it seats bots and keeps time.

This is a protocol, so that streams can be tested without a match. The lobby implements it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from cutpurse.leaderboard.results import Identity
from cutpurse.server.matches.loop_hooks import LoopHooks

if TYPE_CHECKING:
    from cutpurse.server.streams.server_session import ServerSession

__all__ = ["Matches"]


class Matches(Protocol):
    """The lobby, as the streams see it."""

    wake: Callable[[], None]
    """Called, on any thread, when `tick` may have something to do sooner than was said."""

    hooks: LoopHooks
    """Listeners on the event loop."""

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being played or stored."""

    @property
    def is_storing(self) -> bool:
        """Whether results can be stored, as far as known; no match starts while they cannot."""

    def ladders(self, owner: str = "") -> Mapping[str, Sequence[str]]:
        """List the names of the ladders by game, without those that `owner` cannot see."""

    def check(self, identity: Identity, wanted: Mapping[str, Sequence[str]], forgets: bool) -> None:
        """Check that a bot may enter for these ladders by game.

        `forgets` means that the bot keeps no memory between matches.

        Raises:
            CallRefused: If it may not.
        """

    def check_submitted(self, identity: Identity, wanted: Mapping[str, Sequence[str]], forgets: bool) -> None:
        """Check that a bot may be submitted for these ladders.

        Raises:
            CallRefused: If it may not.
        """

    def enter(self, session: ServerSession) -> None:
        """Admit a bot for the first time or after a reconnect."""

    def leave(self, session: ServerSession) -> None:
        """Note that a bot lost its stream. Its open matches go on."""

    def changed(self, session: ServerSession) -> None:
        """Note that a bot's number of free tables changed."""

    def tick(self, now: float) -> None:
        """Close late decisions and start matches."""

    def next_event_at(self) -> float | None:
        """Return when `tick` is next due if nothing else happens; None means never."""

    def credit(self, seconds: float) -> None:
        """Credit a stall of the server, in seconds, to every clock."""

    def lose(self, bots: Collection[Identity], why: str) -> None:
        """Void the matches of these bots by the server's fault, and pair them no more until they connect again."""

    def drain(self, now: float) -> None:
        """Start no more matches."""

    def void_all(self) -> None:
        """Void every open match by the server's fault."""
