"""A decision of a finished match as its seat was asked it: the message that a bot in that seat gets, without events.

It is made from the seat's own view, so what another bot thinks of it rests on nothing that the seat could not see. This
module knows no process and no network.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.match import Match, OpenDecision
from cutpurse.engine.text import option_text
from cutpurse.page.language.game_words import spoken
from cutpurse.wire.encode import MatchEncoder

__all__ = ["SeatQuestion", "seat_question"]

TABLE: Final = 1  # as on any stream with one match


@dataclass(frozen=True, slots=True)
class SeatQuestion:
    """A question to a bot."""

    game: str  # name of the game
    settings: dict[str, str]  # settings that differ from their defaults
    seats: int  # number of seats
    seat: int  # seat that is asked
    message: bytes  # bytes of its Decision message
    options: tuple[str, ...]  # its options in words

    def to_bytes(self, bot: str) -> bytes:
        """Encode the question to a built-in bot, as `cutpurse.sdk.second_opinion` reads it."""
        head = {"bot": bot, "game": self.game, "settings": self.settings, "seats": self.seats, "seat": self.seat}
        return json.dumps(head).encode() + b"\n" + self.message


def seat_question(match: Match, asked: OpenDecision, base_ms: int) -> SeatQuestion:
    """Return the question of an open decision, with so much base time and no bank."""
    game, seat = match.game, asked.seat
    encoder = MatchEncoder(match.rules, game.settings, game.n)
    view = game.view(seat)
    message = encoder.decision(
        table=TABLE,
        number=asked.number,
        ask=asked.ask,
        options=asked.options,
        observation=encoder.observation(view, agenda=True),
        events=b"",
        first_event=0,
        base_left_ms=base_ms,
        bank_left_ms=0,
        safe_option=asked.options.index(game.safe_option(seat, asked.options)),
    )
    texts = tuple([option_text(view, option, spoken(game.words)) for option in asked.options])
    return SeatQuestion(game.words.game, game.settings.changed(), game.n, seat, message, texts)
