"""Positions from which a match is played on: what one seat of a finished match knew when it was asked.

Only the view of that seat is kept, so no card that it did not know can come into the new match. Hidden cards are dealt
anew from the key of the new match. This module knows no store and no session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import imagine, share_knowledge
from cutpurse.engine.record import Record, replay
from cutpurse.engine.view import View
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder

__all__ = ["StartPosition", "position_of"]


@dataclass(frozen=True, slots=True)
class StartPosition:
    """A position to play on from.

    Attributes:
        match: ID of the finished match.
        choice: Number of choices before the decision.
        seat: Seat that was asked.
        view: What the seat knew.
    """

    match: str
    choice: int
    seat: int
    view: View

    @property
    def params(self) -> Mapping[str, object]:
        """The position as the parameters of a deal name it."""
        return {"choice": self.choice, "match": self.match, "seat": self.seat}

    @property
    def shown(self) -> str:
        """The position in words, for people."""
        return (
            f"seat {self.seat} plays on from decision {self.choice} of match {self.match[:8]}, hidden cards dealt anew"
        )

    def imagined(self, key: bytes) -> Game:
        """Deal the hidden cards anew, to fit what the seat knew.

        The other seats are assumed to know as large a share of each other's cards as this seat does.
        """
        chance = Chance(key)
        game = imagine(self.view, chance)
        share_knowledge(game, self.view, chance)
        return game


def position_of(match: str, record: Record, ladder: Ladder, choice: int, seat: int) -> StartPosition:
    """Find a position in the record of a finished match.

    Args:
        match: ID of the match.
        record: Its record.
        ladder: Ladder on which it is played on.
        choice: Number of choices before the decision.
        seat: Seat that was asked.

    Raises:
        CallRefused: SETTINGS, if the ladder has other rules, or the seat was not asked then.
        RecordError: If the record does not verify.
    """
    rules, seats = ladder.rules, len(record.seats)
    settings = rules.check(ladder.seats, ladder.settings).changed()
    if (record.game, seats) != (ladder.game, ladder.seats):
        raise CallRefused("SETTINGS", f"match {match} is {record.game} with {seats} seats; {ladder.name} is not")
    if record.rules != rules.words.version or record.settings != settings:
        raise CallRefused("SETTINGS", f"match {match} was played with other rules or settings than {ladder.name} has")
    for played, asked, _ in replay(record, rules):
        if len(played.choices) == choice:
            if asked.seat != seat:
                break
            return StartPosition(match, choice, seat, played.game.view(seat))
    raise CallRefused("SETTINGS", f"in match {match}, seat {seat} was not asked after {choice} choices")
