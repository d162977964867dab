"""The settings of a game: variants and house rules, each with its default and its allowed values.

A game declares a frozen dataclass; every field is made by `choice`, `flag`, `number` or `table`. On the command line,
in records and on the wire a value is text, and one that the game does not have is refused with what it has.

`parse` reads settings that were written down: a setting that is not named there has its default for good. `set_up`
reads those of a new match or ladder: some defaults then depend on the number of players, and a setting that could have
no effect is refused. What `set_up` chose is named in the record, so old records and ladders keep their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self

from cutpurse.engine.errors import SettingsError, did_you_mean

__all__ = ["S_co", "SettingKind", "Settings", "choice", "flag", "number", "table"]


@dataclass(frozen=True, slots=True)
class SettingKind:
    """What may be set: its rule, a sentence, the names of allowed values, and bounds where it is a number."""

    text: str
    rule: str
    values: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    step: int = 1
    names: Mapping[str, int] = field(default_factory=dict)  # words that stand for a number: {"random": -1}
    keys: tuple[str, ...] = ()  # of a table
    by_seats: Mapping[int, int] = field(default_factory=dict)  # default of a new match with this number of players
    only_seats: tuple[int, ...] = ()  # numbers of players with which it has an effect; empty: all
    only_with: tuple[str, str] | None = None  # another setting and the value without which it has no effect

    def default_by_seats(self, default: str, seats: range) -> str:
        """Describe a default that depends on the number of players; empty if it does not.

        Args:
            default: The value with the other numbers of players, as text.
            seats: Numbers of players that the game allows.
        """
        if not self.by_seats:
            return ""
        by_value: dict[str, list[int]] = {}
        for count in seats:
            by_value.setdefault(str(self.by_seats.get(count, default)), []).append(count)
        return ", ".join([f"{value} with {_joined(counts)}" for value, counts in by_value.items()])

    def only_where(self) -> str:
        """Say where the setting has an effect: "with 2 players", "with advanced=true"; empty: everywhere."""
        parts = []
        if self.only_seats:
            parts.append(f"with {' or '.join(map(str, self.only_seats))} players")
        if self.only_with is not None:
            parts.append(f"with {self.only_with[0]}={self.only_with[1]}")
        return " and ".join(parts)

    def allowed(self) -> str:
        """Describe the allowed values."""
        if self.keys:
            return "NAME:NUMBER,... with the names " + ", ".join(self.keys)
        parts = [*self.values, *self.names]
        if self.least is not None:
            steps = f" in steps of {self.step}" if self.step > 1 else ""
            parts.append(f"{self.least} to {self.most}{steps}")
        return ", ".join(parts)


def _joined(counts: list[int]) -> str:
    """Format neighbouring numbers in a few words: "5", "2 to 4"."""
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


# The values of a dataclass field made by a function have the type of its default, hence Any: the caller annotates.
# `only_seats` and `only_with` are those of `SettingKind`.
def choice(default: str, *others: str, text: str, rule: str, only_with: tuple[str, str] | None = None) -> Any:
    """Declare a setting that is one of several words, the first being the default."""
    kind = SettingKind(text, rule, (default, *others), only_with=only_with)
    return field(default=default, metadata={"kind": kind})


def flag(
    default: bool,
    *,
    text: str,
    rule: str,
    only_seats: tuple[int, ...] = (),
    only_with: tuple[str, str] | None = None,
) -> Any:
    """Declare a setting that is true or false."""
    kind = SettingKind(text, rule, ("true", "false"), only_seats=only_seats, only_with=only_with)
    return field(default=default, metadata={"kind": kind})


def number(
    default: int,
    least: int,
    most: int,
    *,
    text: str,
    rule: str,
    step: int = 1,
    names: Mapping[str, int] | None = None,
    by_seats: Mapping[int, int] | None = None,
    only_with: tuple[str, str] | None = None,
) -> Any:
    """Declare a whole number from `least` to `most`, or a word in `names` that stands for one."""
    kind = SettingKind(
        text,
        rule,
        least=least,
        most=most,
        step=step,
        names=names or {},
        by_seats=by_seats or {},
        only_with=only_with,
    )
    return field(default=default, metadata={"kind": kind})


def table(keys: tuple[str, ...], *, text: str, rule: str) -> Any:
    """Declare a setting of numbers by name, as silver_coin:60,ruby:310; what is not named keeps its printed number."""
    return field(default=(), metadata={"kind": SettingKind(text, rule, keys=keys)})


@dataclass(frozen=True, slots=True)
class Settings:
    """Base of every game's settings."""

    @classmethod
    def kinds(cls) -> dict[str, SettingKind]:
        """Return every setting by name, in the order declared."""
        return {f.name: f.metadata["kind"] for f in fields(cls)}

    @classmethod
    def parse(cls, given: Mapping[str, object], seats: int) -> Self:
        """Read settings from names and values, text or plain; what is not named keeps its default.

        Raises SettingsError, which names the setting, the value and what is allowed.
        """
        kinds = cls.kinds()
        values: dict[str, object] = {}
        for name, value in given.items():
            if name not in kinds:
                known = ", ".join(kinds) or "none"
                raise SettingsError(f"no setting is called {name!r}{did_you_mean(name, kinds)}; there are: {known}")
            values[name] = _parse(name, kinds[name], value)
        settings = cls(**values)
        if problem := settings.problem(seats):
            raise SettingsError(problem)
        return settings

    @classmethod
    def set_up(cls, given: Mapping[str, object], seats: int) -> Self:
        """Parse the settings of a new match or ladder.

        Args:
            given: Names and values, text or plain; what is not named gets its default for this number of players.
            seats: Number of players.

        Raises:
            SettingsError: As for `parse`, and for a value other than the default that could have no effect.
        """
        by_seats = {name: kind.by_seats[seats] for name, kind in cls.kinds().items() if seats in kind.by_seats}
        settings = cls.parse({**by_seats, **given}, seats)
        for name in given:
            if reason := settings.without_effect(name, seats):
                raise SettingsError(f"setting {name} has no effect {reason}: leave it out")
        return settings

    def without_effect(self, name: str, seats: int) -> str:
        """Say why a setting has no effect here: "with 4 players, only with 2"; empty if it has its default or one."""
        kind = self.kinds()[name]
        if name not in self.changed():
            return ""
        if kind.only_seats and seats not in kind.only_seats:
            return f"with {seats} players, only with {' or '.join(map(str, kind.only_seats))}"
        if kind.only_with is not None:
            other, value = kind.only_with
            if self.text(other) != value:
                return f"unless {other} is {value}"
        return ""

    def problem(self, seats: int) -> str:
        """Say why these settings do not fit together or this number of seats; empty if they do."""
        return ""

    def text(self, name: str) -> str:
        """Format the value of a setting as on the command line."""
        value, kind = getattr(self, name), self.kinds()[name]
        for word, stands_for in kind.names.items():
            if value == stands_for:
                return word
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return ",".join(f"{key}:{amount}" for key, amount in value)
        return str(value)

    def changed(self) -> dict[str, str]:
        """Return the settings that differ from their defaults, as text."""
        return {f.name: self.text(f.name) for f in fields(self) if getattr(self, f.name) != f.default}


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    S_co = TypeVar("S_co", bound=Settings, covariant=True, default=Settings)
else:
    from typing import TypeVar

    S_co = TypeVar("S_co", covariant=True)  # the settings of a game: `class Greed(Game[GreedSettings])`


def _parse(name: str, kind: SettingKind, value: object) -> object:
    text = ("true" if value else "false") if isinstance(value, bool) else str(value)
    if kind.keys:
        parsed = _parse_table(kind, text)
        if parsed is not None:
            return parsed
    elif text in kind.names:
        return kind.names[text]
    elif kind.values:
        if text in kind.values:
            return text == "true" if kind.values == ("true", "false") else text
    elif (amount := _whole(text)) is not None and kind.least is not None and kind.most is not None:
        if kind.least <= amount <= kind.most and (amount - kind.least) % kind.step == 0:
            return amount
    raise SettingsError(f"setting {name} cannot be {text!r}; it can be: {kind.allowed()}")


def _whole(text: str) -> int | None:
    digits = text[1:] if text.startswith("-") else text
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 9 else None


def _parse_table(kind: SettingKind, text: str) -> tuple[tuple[str, int], ...] | None:
    rows: dict[str, int] = {}
    for part in text.split(",") if text else []:
        key, _, amount = part.partition(":")
        number = _whole(amount)
        if key not in kind.keys or key in rows or number is None:
            return None
        rows[key] = number
    return tuple(sorted(rows.items()))
