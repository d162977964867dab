"""A table with friends before its match begins: a link, the people who have come, and what each of them reads.

House bots take the seats that are free when the match begins. This module knows no HTTP, no key of a seat and no
server.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final, Protocol

from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import gettext, gettext_noop, ngettext, speaking
from cutpurse.page.match_view.drawing import rendered

__all__ = ["FriendsTable", "JoinRefused"]

LINK_BYTES: Final = 32
OPENER_LEFT: Final = gettext_noop("the person who opened the table has left it, so it is closed; ask for a new link")


class JoinRefused(Exception):
    """A seat at a table with friends that is not given; the text says why, in one line."""


class Waits(Protocol):
    """A person who waits at the table: a `Person`."""

    @property
    def language(self) -> Language:
        """The language of the person."""

    @property
    def name(self) -> str:
        """The person's name; empty if they gave none."""

    def wait(self, status: str, html: str) -> None:
        """Show how far the table is."""

    def call_off(self, why: str) -> None:
        """End the wait: there will be no match."""


class FriendsTable:
    """A table that one person opened for others."""

    def __init__(self, game: str, title: str, bots: Sequence[str], origin: str) -> None:
        """Open a table without people.

        Args:
            game: Game to play.
            title: Title of the game.
            bots: House bots that take free seats, the first one first; there is one more seat than bots.
            origin: Beginning of the link, such as "https://example.org".
        """
        self.game: Final = game
        self.title: Final = title
        self.secret: Final = secrets.token_urlsafe(LINK_BYTES)
        self.link: Final = f"{origin}/join/{self.secret}"
        self.people: list[Waits] = []  # by time of coming; the first opened the table
        self.has_begun = False
        self.problem = ""  # why nobody can come any more
        self._bots: Final = tuple(bots)

    @property
    def seats(self) -> int:
        """Number of seats."""
        return len(self._bots) + 1

    @property
    def house(self) -> Sequence[str]:
        """The house bots that play if the match begins now."""
        return self._bots[: self.seats - len(self.people)]

    def check(self) -> None:
        """Check that somebody can sit down.

        Raises:
            JoinRefused: If not.
        """
        if self.problem:
            raise JoinRefused(gettext("Nobody can join by this link: %(why)s.", why=gettext(self.problem)))
        if self.has_begun:
            text = gettext("The match of this link has begun, so nobody can join it any more; ask for a new link.")
            raise JoinRefused(text)
        if len(self.people) >= self.seats:
            text = gettext(
                "People sit in all %(seats)s seats of this table already; ask for a new link.", seats=self.seats
            )
            raise JoinRefused(text)

    def add(self, person: Waits) -> None:
        """Seat a person, of whom all others read at once.

        Raises:
            JoinRefused: If there is no free seat.
        """
        self.check()
        self.people.append(person)
        self._show()

    def begin(self, person: Waits) -> None:
        """Begin the match: the link is of no use from now on.

        Raises:
            JoinRefused: If somebody else opened the table, or the match has begun.
        """
        if person is not self.people[0]:
            raise JoinRefused(gettext("Only the person who opened this table can begin the match."))
        if self.has_begun:
            raise JoinRefused(gettext("The match has begun already."))
        self.has_begun = True
        for one in self.people:
            with speaking(one.language):
                one.wait(gettext("Your table is being set."), "")

    def leave(self, person: Waits) -> None:
        """Give up a seat before the match begins; without the person who opened it, the table is closed."""
        if self.has_begun or person not in self.people:
            return
        if person is self.people[0]:
            self.close(OPENER_LEFT)
        else:
            self.people.remove(person)
            self._show()

    def close(self, why: str) -> None:
        """Close a table whose match has not begun."""
        if self.has_begun or self.problem:
            return
        self.problem = why
        for person in self.people:
            with speaking(person.language):
                person.call_off(gettext(why))

    def _show(self) -> None:
        count = len(self.people)
        for place, person in enumerate(self.people):
            with speaking(person.language):
                self._show_to(person, count, opens=place == 0)

    def _show_to(self, person: Waits, count: int, *, opens: bool) -> None:
        html = rendered(
            "waiting_room.html",
            title=self.title,
            link=self.link,
            opens=opens,
            people=count,
            seats=self.seats,
            house=self.house,
            names=[other.name or gettext("a person without a name") for other in self.people if other is not person],
        )
        here = ngettext(
            "%(num)s of %(seats)s seats has a person.",
            "%(num)s of %(seats)s seats have a person.",
            count,
            seats=self.seats,
        )
        begins = gettext("Begin when your friends are here.") if opens else gettext("Your friend begins.")
        person.wait(f"{here} {begins}", html)
