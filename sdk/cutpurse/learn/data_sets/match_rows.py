"""The decisions of a match as columns: a row for each decision with a choice, made while a record is replayed.

This module knows no file and no particular game.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from cutpurse.engine.knowledge_level import PROOF, level_named
from cutpurse.engine.match import Chosen, Match, OpenDecision
from cutpurse.engine.view import View
from cutpurse.learn.event_rows import EventTrail
from cutpurse.learn.rewards import REWARDS
from cutpurse.learn.space import Arrays, Space
from cutpurse.sdk.matches.match_file import FiledMatch, check

__all__ = ["MatchRows", "RowMaker"]

_NOTHING: Final = None, None  # reported


@dataclass(frozen=True, slots=True, eq=False)
class MatchRows:
    """The rows of one match."""

    game: str
    seats: int  # number of them
    match: str  # its ID
    deal: str
    settings: Mapping[str, str]  # that differ from the game's defaults
    columns: Mapping[str, Sequence[Any]]  # those with one value a row, by name; Any: texts and numbers
    arrays: Arrays  # what the seats saw, a row for each decision: planes or rows, numbers, history
    options: npt.NDArray[np.int32]  # the numbers of the options of all rows
    starts: npt.NDArray[np.int32]  # where the options of each row begin, and the end of the last
    features: npt.NDArray[np.int32] | None  # a row for each of `options`

    def __len__(self) -> int:
        return len(self.arrays["numbers"])


class RowMaker:
    """Makes the rows of matches, one after the other."""

    def __init__(self, features: bool = False, history: int = 0, rows: bool = False, knowledge: str = PROOF) -> None:
        """Prepare to make rows.

        Args:
            features: Make the features of the options, too.
            history: Number of last events that a row has.
            rows: Make one row a zone, instead of planes.
            knowledge: What the seats know of hidden cards (see `cutpurse.engine.knowledge_level`).

        Raises:
            UsageError: If there is no such level.
        """
        self.features = features
        self.knowledge = level_named(knowledge)
        self._options = history, rows, knowledge
        self._spaces: dict[tuple[str, int], Space] = {}

    def rows(
        self,
        filed: FiledMatch,
        thinking_ms: Sequence[Sequence[int]] = (),
        usages: Sequence[Mapping[int, tuple[int, int]]] = (),
    ) -> MatchRows | None:
        """Replay and check a match, and return its rows; None if it is void or nothing was chosen in it.

        Args:
            filed: The match.
            thinking_ms: The thinking time of each decision, by seat; empty if it is not known.
            usages: Reported tokens and cost by decision of the seat, from 0, by seat; empty if they are not known.

        Raises:
            RecordError: If the match is not as the file says.
            UsageError: If its game is not installed, or has no numbers.
        """
        decisions = _Decisions(self)
        check(filed, decisions.visit, self.knowledge)
        match, head = decisions.match, filed.head
        if match is None or not decisions.views or match.result().voided or (head is not None and head.void_cause):
            return None
        return decisions.rows(match, filed, thinking_ms, usages)

    def space(self, game: str, seats: int) -> Space:
        """Return the numbers of a game with this many seats."""
        space = self._spaces.get((game, seats))
        if space is None:
            space = self._spaces[game, seats] = Space(game, seats, *self._options)
        return space


class _Decisions:
    """The decisions of one match so far."""

    def __init__(self, maker: RowMaker) -> None:
        self.maker = maker
        self.match: Match | None = None
        self.views: list[View] = []
        self.trail: EventTrail | None = None  # the events so far, where rows have some
        self.events: list[npt.NDArray[np.int32]] = []
        self.at: list[int] = []
        self.seats: list[int] = []
        self.own: list[int] = []  # number among the decisions of the seat
        self.asks: list[str] = []
        self.options = array("i")
        self.starts = array("i", [0])
        self.choices: list[int] = []
        self.causes: list[str] = []
        self.features: list[npt.NDArray[np.int32]] = []

    def visit(self, match: Match, decision: OpenDecision, chosen: Chosen) -> None:
        """Add a decision, unless it has only one option."""
        self.match = match
        if len(decision.options) < 2:
            return
        space = self.maker.space(match.rules.words.game, len(match.seats))
        view = match.game.view(decision.seat)
        numbers = space.option_numbers(view, decision.options)
        self.views.append(view)
        if space.history[0]:
            self.trail = self.trail or space.trail()
            self.trail.add(match.game.log or ())
            self.events.append(space.events(self.trail, decision.seat))
        self.at.append(len(match.choices))
        self.seats.append(decision.seat)
        self.own.append(decision.number)
        self.asks.append(decision.ask)
        self.options.extend(numbers)
        self.starts.append(len(self.options))
        self.choices.append(numbers[decision.options.index(chosen.option)])
        self.causes.append(chosen.cause.value)
        if self.maker.features:
            self.features.append(space.features(view, decision.options))

    def rows(
        self,
        match: Match,
        filed: FiledMatch,
        thinking_ms: Sequence[Sequence[int]],
        usages: Sequence[Mapping[int, tuple[int, int]]],
    ) -> MatchRows:
        """Return the rows, now that the match is over."""
        space = self.maker.space(match.rules.words.game, len(match.seats))
        result = match.result()
        points = REWARDS["place"](result.places, result.scores)
        if filed.head is None:
            name = sha256((filed.text or "").encode()).hexdigest()[:32]
            players = [(seat, "") for seat in match.seats]
        else:
            name = filed.head.match
            players = [(seat.named, seat.version) for seat in filed.head.seats]
        deal = sha256(match.key).hexdigest()[:16]
        count, seats = len(self.seats), self.seats
        used = [
            usages[seat].get(own, _NOTHING) if usages else _NOTHING for seat, own in zip(seats, self.own, strict=True)
        ]
        columns: dict[str, Sequence[Any]] = {
            "match": [name] * count,
            "deal": [deal] * count,
            "at": self.at,
            "seat": seats,
            "ask": self.asks,
            "choice": self.choices,
            "bot": [players[seat][0] for seat in seats],
            "version": [players[seat][1] for seat in seats],
            "cause": self.causes,
            "thought_ms": [_at(thinking_ms, seat, own) for seat, own in zip(seats, self.own, strict=True)],
            "tokens": [tokens for tokens, _ in used],
            "cost_micros": [cost_micros for _, cost_micros in used],
            "place": [result.places[seat] for seat in seats],
            "place_points": [points[seat] for seat in seats],
            "score": [result.scores[seat] for seat in seats],
        }
        return MatchRows(
            space.game,
            space.seats,
            name,
            deal,
            match.game.settings.changed(),
            columns,
            space.arrays(self.views, self.events),
            np.frombuffer(self.options, np.int32),
            np.frombuffer(self.starts, np.int32),
            np.concatenate(self.features) if self.features else None,
        )


def _at(thinking_ms: Sequence[Sequence[int]], seat: int, number: int) -> int | None:
    """Return the thinking time of a decision of a seat; None if it is not known."""
    if seat >= len(thinking_ms) or number >= len(thinking_ms[seat]):
        return None
    return thinking_ms[seat][number]
