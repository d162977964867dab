"""A moment of a recorded match, from which other matches are played on.

Each of them begins in a world of its own: a full state drawn by `imagine`, which agrees with what the seat saw that was
asked at this moment. So neither a bot nor the result depends on what the seat could not know. The true world, if it is
chosen, has the cards as they lay; what chance draws from there on is new each time.

    moment = moment_of(record, 41)
    compare("greed", "new_bot.py", "old_bot.py", moment=moment)

This module reads no file and knows no bot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cutpurse.engine.chance import Chance
from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import imagine
from cutpurse.engine.record import Record, replay
from cutpurse.engine.view import View
from cutpurse.games import game_named

__all__ = ["RecordedMoment", "moment_of"]


@dataclass(frozen=True)
class RecordedMoment:
    """A decision of a recorded match; can be sent to another process.

    Attributes:
        rules: The game.
        names: Names of the bots in the record, by seat.
        seat: The seat that was asked.
        at: Number of the decision in the record.
        decisions: Number of decisions in the record.
        ask: The question.
        view: What the seat saw.
        true: The true world, as saved; None for imagined ones.
    """

    rules: type[Game]
    names: tuple[str, ...]
    seat: int
    at: int
    decisions: int
    ask: str
    view: View
    true: Mapping[str, Any] | None = None

    def position(self, key: bytes) -> Game:
        """Return the world with this key."""
        chance = Chance(key)
        if self.true is None:
            return imagine(self.view, chance)
        game = self.rules.load(self.true)
        game.chance = chance
        return game

    def settings(self) -> dict[str, object]:
        """Return the settings of the match that differ from their defaults."""
        return {**self.view.settings.changed()}

    def identity(self) -> dict[str, object]:
        """Return what the worlds depend on, as JSON values."""
        world = self.view.to_bytes() if self.true is None else repr(sorted(self.true.items())).encode()
        return {"seat": self.seat, "world": sha256(world).hexdigest(), "is_true": self.true is not None}

    def text(self) -> str:
        """Describe the moment in one line."""
        worlds = "in imagined worlds" if self.true is None else "in the true world"
        return f"from decision {self.at} of {self.decisions} on ({self.ask}, seat {self.seat}), {worlds}"


def moment_of(record: Record, at: int, is_true: bool = False) -> RecordedMoment:
    """Return decision number `at` of a record, counted from 0.

    Raises:
        UsageError: If no bot was asked there.
        RecordError: Where the record and the rules part, as in a record of another version of the rules.
    """
    rules = game_named(record.game)
    asked_at = []
    for match, open_decision, _ in replay(record, rules):
        if len(match.choices) == at:
            true = match.game.save() if is_true else None
            view = match.game.view(open_decision.seat)
            return RecordedMoment(
                rules, record.seats, open_decision.seat, at, len(record.choices), open_decision.ask, view, true
            )
        asked_at.append(len(match.choices))
    if not 0 <= at < len(record.choices):
        has = f"has decisions 0 to {len(record.choices) - 1}" if record.choices else "has no decision"
        raise UsageError(f"--at {at}: the record {has}")
    near = sorted(sorted(asked_at, key=lambda other: abs(other - at))[:4])
    raise UsageError(
        f"--at {at}: nobody was asked there, as the seat had been taken over; nearest decisions of bots: "
        f"{', '.join(map(str, near)) or 'none'}"
    )
