"""The numbers and arrays of one game with a number of seats, and their version.

This module knows no particular game, no bot and no match.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from cutpurse.engine.agenda import Option
from cutpurse.engine.errors import UsageError
from cutpurse.engine.knowledge_level import PROOF, level_named
from cutpurse.engine.text import option_text
from cutpurse.engine.view import View
from cutpurse.games import game_named
from cutpurse.learn.action_numbers import ActionNumbers
from cutpurse.learn.event_rows import EventRows, EventTrail
from cutpurse.learn.option_rows import OptionRows
from cutpurse.learn.planes import Planes
from cutpurse.learn.span import Span
from cutpurse.learn.view_numbers import ViewNumbers
from cutpurse.learn.zone_rows import ZoneRows

__all__ = ["Arrays", "IllegalNumber", "OtherNumbering", "Shapes", "Space"]

# By name, a row for each view: planes, or rows and row_mask; numbers; history where there is one; others beside them.
Arrays = dict[str, npt.NDArray[Any]]
Shapes = dict[str, tuple[type[np.generic], tuple[int, ...]]]  # of a row: type, and lengths

DEFAULTS: Final[dict[str, Any]] = {"history": 0, "rows": False, "knowledge": PROOF}  # in no stamp


class IllegalNumber(UsageError, ValueError):
    """A number that stands for no option of the question."""


class OtherNumbering(UsageError):
    """A net or data set was made with other numbers or another layout than those of here."""


class Space:
    """The numbers of options, and the arrays of views, of a game with this many seats.

    A view and options are those of the engine: in a bot, `view.raw` and `option.raw`. One object serves all matches; it
    keeps what it made of the last views, so let each thread have its own.
    """

    def __init__(
        self, game: str, seats: int | None = None, history: int = 0, rows: bool = False, knowledge: str = PROOF
    ) -> None:
        """Make the numbers and the layout.

        Args:
            game: Name of the game.
            seats: Number of seats. Default: the game's own.
            history: Number of last events that an observation has.
            rows: Give one row a zone with a mask, instead of planes.
            knowledge: What is given of hidden cards: "proof", "seen" or "none" (see `cutpurse.engine.knowledge_level`).
                The views must be of a game of this level, or of a higher one.

        Raises:
            UsageError: For an unknown game or level, an impossible number of seats, or a game of another package that
                does not declare what the numbers need.
        """
        rules = game_named(game)
        self.rules = rules  # class of the game
        self.game = game  # name of the game
        self.seats: int = rules.usual_seats if seats is None else seats  # number of seats
        rules.check(self.seats, {})
        self._actions = ActionNumbers(rules, self.seats)
        self.knowledge = level_named(knowledge)  # level of it
        self._planes = Planes(rules, self.seats, knowledge)
        self._view_numbers = ViewNumbers(rules, self.seats, self._planes)
        self._features = OptionRows(rules, self.seats)
        if history < 0:
            raise UsageError(f"{history} events cannot be in an observation; 0 leaves them out")
        self._events = EventRows(rules, self.seats, history)
        self._zone_rows = ZoneRows(rules, self.seats, self._planes) if rows else None
        self.actions: int = self._actions.size  # numbers of options go from 0 to this
        self.planes: int = self._planes.size  # length of the planes of a view
        self.sums: int = self._planes.sums  # length of `sums_of`
        self._sum_of = np.array(self._planes.sum_of, np.int32)
        self.is_summed: npt.NDArray[np.bool_] = self._sum_of >= 0  # for each plane, whether it is a part of a sum
        self.numbers: int = self._view_numbers.size  # length of the numbers of a view
        self.option_features: int = self._features.size  # length of an option's row
        self.history: tuple[int, int] = (history, self._events.width)  # events and width of a row; 0 events: none
        zone_rows = (0, 0) if self._zone_rows is None else (self._zone_rows.count, self._zone_rows.width)
        self.rows: tuple[int, int] = zone_rows  # zones and width of a row; zeros: planes take their place
        self.numbering: str = _digest(self._actions.describe())
        self.arrangement: str = _digest(
            [
                [[span.array, span.what, span.part, span.start, span.width] for span in self.layout()],
                list(rules.steps()),
                [[name, kind.values] for name, kind in rules.settings_type.kinds().items()],
                *([["history", history]] if history else []),
                *([["knowledge", knowledge]] if knowledge != PROOF else []),
            ]
        )

    @classmethod
    def from_stamp(cls, stamp: Mapping[str, Any]) -> Self:
        """Make the space of a net or data set, and check that its stamp is that of here.

        Raises:
            OtherNumbering: If anything differs; names the first difference.
            UsageError: As `Space` does.
            KeyError, TypeError, ValueError: If it is no stamp.
        """
        options = {name: type(usual)(stamp.get(name, usual)) for name, usual in DEFAULTS.items()}
        space = cls(str(stamp["game"]), int(stamp["seats"]), **options)
        space.check_stamp(stamp)
        return space

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the parameters, since the layouts find kinds of zones by identity."""
        return Space, (self.game, self.seats, self.history[0], self._zone_rows is not None, self.knowledge)

    # -- options
    def number(self, view: View, option: Option) -> int:
        """Return the number of an option of the view's seat."""
        self._check(view)
        return self._actions.number(view, option)

    def option_numbers(self, view: View, options: Sequence[Option]) -> list[int]:
        """Return the numbers of options of the view's seat, in their order."""
        self._check(view)
        return self._actions.numbers(view, options)

    def option(self, view: View, options: Sequence[Option], number: int) -> Option:
        """Return the option with this number.

        Raises:
            IllegalNumber: If no option has it; lists those there are.
        """
        numbers = self.option_numbers(view, options)
        if number not in numbers:
            raise IllegalNumber(self.illegal_text(view, options, numbers, number))
        return options[numbers.index(number)]

    def mask(self, view: View, options: Sequence[Option]) -> npt.NDArray[np.int8]:
        """Return an array with 1 for each number of an option, and 0 for all others."""
        mask = np.zeros(self.actions, np.int8)
        mask[self.option_numbers(view, options)] = 1
        return mask

    def features(self, view: View, options: Sequence[Option]) -> npt.NDArray[np.int32]:
        """Return a row of features for each option, for nets that rate options."""
        self._check(view)
        return self._features.rows(view, options)

    def illegal_text(self, view: View, options: Sequence[Option], numbers: Sequence[int], number: int) -> str:
        """Describe a number that no option has, and those that options have."""
        if not 0 <= number < self.actions:
            return f"{number} is no number of {self.game} with {self.seats} seats, which has 0 to {self.actions - 1}"
        offered = [f"{n} {option_text(view, option)!r}" for n, option in zip(numbers, options, strict=True)]
        return f"number {number} is not offered now; there are: {', '.join(offered)}"

    # -- observations
    def observe(self, view: View) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
        """Return the planes (how many of each face lie where) and the numbers (all that counts) of a view."""
        planes = np.frombuffer(bytearray(self.plane_bytes(view)), np.uint8)
        return planes, self.view_numbers(view)

    def view_numbers(self, view: View) -> npt.NDArray[np.int32]:
        """Return the numbers of a view alone."""
        self._check(view)
        return np.array(self._view_numbers.list_of(view), np.int32)

    def observe_all(self, views: Sequence[View]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
        """Return the planes and the numbers of several views, a row for each."""
        pieces: list[bytes] = []
        numbers: list[int] = []
        for view in views:
            self._check(view)
            self._planes.add_pieces(pieces, view)
            self._view_numbers.add_to(numbers, view)
        rows = len(views)
        return (
            np.frombuffer(bytearray().join(pieces), np.uint8).reshape(rows, -1),
            np.frombuffer(array("i", numbers), np.int32).reshape(rows, -1),
        )

    @property
    def shapes(self) -> Shapes:
        """The type and shape of a row of each of `arrays`."""
        if self._zone_rows is not None:
            shapes: Shapes = {"rows": (np.uint8, self.rows), "row_mask": (np.int8, self.rows[:1])}
        else:
            shapes = {"planes": (np.uint8, (self.planes,))}
        shapes["numbers"] = np.int32, (self.numbers,)
        return {**shapes, "history": (np.int32, self.history)} if self.history[0] else shapes

    def arrays(self, views: Sequence[View], events: Sequence[npt.NDArray[np.int32]] = ()) -> Arrays:
        """Return all that an observation of this space has, a row for each view.

        Args:
            views: Views of seats.
            events: For each view what `events` returns, if the space has a history.
        """
        arrays: Arrays = {}
        if self._zone_rows is not None:
            zone_rows = [self.zone_rows(view) for view in views]
            arrays["rows"] = np.stack([rows for rows, _ in zone_rows])
            arrays["row_mask"] = np.stack([mask for _, mask in zone_rows])
            arrays["numbers"] = np.stack([self.view_numbers(view) for view in views])
        else:
            arrays["planes"], arrays["numbers"] = self.observe_all(views)
        if self.history[0]:
            arrays["history"] = np.stack(events)
        return arrays

    def sums_of(self, planes: npt.NDArray[np.uint8]) -> npt.NDArray[np.int32]:
        """Add up the planes of a seat's zones that were made in play, such as packs: a net learns sooner from the sum.

        Args:
            planes: Those of a view.
        """
        used = np.flatnonzero(planes)
        used = used[self.is_summed[used]]
        sums = np.bincount(self._sum_of[used], weights=planes[used], minlength=self.sums)
        return sums.astype(np.int32)

    def plane_bytes(self, view: View) -> bytes:
        """Return the planes of a view as bytes."""
        self._check(view)
        return self._planes.bytes_of(view)

    def trail(self) -> EventTrail:
        """Return what gathers the last events of a new match: `add` its log, and give it to `events`."""
        return EventTrail(self._events)

    def events(self, trail: EventTrail, viewer: int) -> npt.NDArray[np.int32]:
        """Return the last events of a match as a seat heard them, a row each, the newest last."""
        return np.array(trail.numbers(viewer), np.int32).reshape(self.history)

    def zone_rows(self, view: View) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int8]]:
        """Return a row for each zone of a view, and a mask with 1 for each row that is a zone.

        Raises:
            UsageError: If the space was made without rows.
        """
        self._check(view)
        if self._zone_rows is None:
            raise UsageError(f"this space has no rows: make Space({self.game!r}, seats={self.seats}, rows=True)")
        rows, count = self._zone_rows.bytes_of(view)
        mask = np.zeros(self.rows[0], np.int8)
        mask[:count] = 1
        return np.frombuffer(bytearray(rows), np.uint8).reshape(self.rows), mask

    def layout(self) -> list[Span]:
        """List what every part of the planes or rows, the numbers, the events and the features of options means."""
        zones = self._planes.spans if self._zone_rows is None else self._zone_rows.spans
        events = self._events.spans if self.history[0] else []
        return [*zones, *self._view_numbers.spans, *events, *self._features.spans]

    def _check(self, view: View) -> None:
        if view.rules is self.rules and view.seats == self.seats and view.viewer is not None:
            return
        if view.viewer is None:
            raise UsageError("a spectator is asked nothing: give the view of a seat")
        raise UsageError(
            f"these numbers are of {self.game} with {self.seats} seats, the view is of {view.rules.words.game} "
            f"with {view.seats}: make Space({view.rules.words.game!r}, seats={view.seats})"
        )

    # -- versions
    @property
    def stamp(self) -> dict[str, str | int]:
        """The version of all of this, to be kept with every net and data set."""
        return {name: value for name, value in self._facts.items() if value != DEFAULTS.get(name)}

    @property
    def _facts(self) -> dict[str, str | int]:
        return {
            "game": self.game,
            "rules": self.rules.words.version,
            "seats": self.seats,
            "history": self.history[0],
            "rows": self._zone_rows is not None,
            "knowledge": self.knowledge,
            "numbering": self.numbering,
            "arrangement": self.arrangement,
        }

    def check_stamp(self, stamp: Mapping[str, object]) -> None:
        """Check that a net or data set with this stamp has the meaning of here.

        Raises:
            OtherNumbering: If anything differs; names the first difference.
        """
        for name, here in self._facts.items():
            there = stamp.get(name, DEFAULTS.get(name, "unknown"))
            if there != here:
                remedy = (
                    f"give {name}={there!r}, or train or export anew"
                    if name in DEFAULTS
                    else "train or export anew, or install the version of cutpurse that it was made with"
                )
                raise OtherNumbering(f"made with {name} {there!r}, here it is {here!r}: {remedy}")


def _digest(described: object) -> str:
    text = json.dumps(described, separators=(",", ":"))
    return f"sha256:{sha256(text.encode()).hexdigest()}"
