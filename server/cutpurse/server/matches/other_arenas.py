"""The other arenas of the league, the ladders that they play, and where they are dialled.

This module knows no stream, no clock and no database.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.ladder_terms import may_see

__all__ = ["OtherArena", "OtherArenas", "elsewhere", "key_of", "moving"]


class OtherArena(NamedTuple):
    """Another arena of the league.

    Attributes:
        address: Where it is dialled.
        key: Its key, see `key_of`.
    """

    address: str
    key: str


class OtherArenas:
    """The ladders that this arena does not play, and the other arenas."""

    def __init__(self) -> None:
        self._ladders: Mapping[str, _OtherLadder] = {}
        self._present: Collection[OtherArena] = ()
        self.lags: Mapping[str, float] = {}  # seconds since an arena renewed its leases, by address

    def set(self, ladders: Iterable[tuple[Ladder, OtherArena | None]]) -> None:
        """Set the ladders, each with its arena; None where none has it now."""
        self._ladders = {ladder.name: _OtherLadder(ladder, arena) for ladder, arena in ladders}

    def set_present(self, arenas: Iterable[OtherArena]) -> None:
        """Set the arenas that are known to be there; those that have ladders are known by these, too."""
        self._present = tuple(arenas)

    def ladders(self, owner: str) -> Iterable[Ladder]:
        """Return the ladders that `owner` can see."""
        return (other.ladder for other in self._ladders.values() if may_see(other.ladder, owner))

    def ladder_named(self, name: str) -> Ladder | None:
        """Return the ladder of this name, or None."""
        other = self._ladders.get(name)
        return None if other is None else other.ladder

    def ladders_at(self, address: str) -> list[str]:
        """Return the names of the ladders of the arena at this address, without inner ones."""
        return [
            name
            for name, other in self._ladders.items()
            if other.arena and other.arena.address == address and not other.ladder.is_for_people
        ]

    def address_of(self, ladder: str) -> str:
        """Return the address of the arena of a ladder; empty if this arena has it, or none."""
        arena = self.arena_of(ladder)
        return "" if arena is None else arena.address

    def arena_of(self, ladder: str) -> OtherArena | None:
        """Return the arena of a ladder; None if this arena has it, or none."""
        other = self._ladders.get(ladder)
        return None if other is None else other.arena

    @property
    def arenas(self) -> Collection[OtherArena]:
        """The other arenas, with and without ladders."""
        with_ladders = (other.arena for other in self._ladders.values() if other.arena is not None)
        return dict.fromkeys((*with_ladders, *self._present))

    def wanted(self, plays: Callable[[str, str], bool], owner: str) -> Sequence[tuple[str, str]]:
        """Return the ladders that a connected bot wants to play and may, each with its address, if it has one."""
        return [
            (name, "" if other.arena is None else other.arena.address)
            for name, other in self._ladders.items()
            if plays(other.ladder.game, name) and _admits(other.ladder, owner)
        ]


def _admits(ladder: Ladder, owner: str) -> bool:
    owners = ladder.terms.owners
    return ladder.boards != "rotation" and (not owners or owner in owners)


class _OtherLadder(NamedTuple):
    ladder: Ladder
    arena: OtherArena | None


def key_of(process: str) -> str:
    """Return the key of an arena: who sends it knows the name of its process, as the arenas of its database do."""
    return sha256(f"cutpurse arena {process}".encode()).hexdigest()


def moving(ladder: str) -> CallRefused:
    """Return the refusal of a call about a ladder that no arena has now, or that moves to another one."""
    return CallRefused("SILENT", f"no server has ladder {ladder} now; one takes it within 20 s: ask again then")


def elsewhere(ladder: str, address: str) -> CallRefused:
    """Return the refusal for a ladder that another arena plays."""
    return CallRefused("ELSEWHERE", f"ladder {ladder} is played at {address}: dial there", address)
