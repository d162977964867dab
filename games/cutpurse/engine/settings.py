"""The settings of a game: variants and house rules, each with its default and its allowed values.

A game declares a frozen dataclass; every field is made by `choice`, `flag`, `number` or `table`. On the command line,
in records and on the wire a value is text, and one that the game does not have is refused with what it has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from cutpurse.engine.errors import SettingsError

__all__ = ["SettingKind", "Settings", "choice", "flag", "number", "table"]


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

    def allowed(self) -> str:
        """The allowed values in words."""
        if self.keys:
            return "NAME:NUMBER,... with the names " + ", ".join(self.keys)
        parts = [*self.values, *self.names]
        if self.least is not None:
            steps = f" in steps of {self.step}" if self.step > 1 else ""
            parts.append(f"{self.least} to {self.most}{steps}")
        return ", ".join(parts)


# The values of a dataclass field made by a function have the type of its default, hence Any: the caller annotates.
def choice(default: str, *others: str, text: str, rule: str) -> Any:
    """One of several words, the first being the default."""
    return field(default=default, metadata={"kind": SettingKind(text, rule, (default, *others))})


def flag(default: bool, *, text: str, rule: str) -> Any:
    """true or false."""
    return field(default=default, metadata={"kind": SettingKind(text, rule, ("true", "false"))})


def number(
    default: int,
    least: int,
    most: int,
    *,
    text: str,
    rule: str,
    step: int = 1,
    names: Mapping[str, int] | None = None,
) -> Any:
    """A whole number from `least` to `most`, or one of the words in `names` that stand for a number."""
    kind = SettingKind(text, rule, least=least, most=most, step=step, names=names or {})
    return field(default=default, metadata={"kind": kind})


def table(keys: tuple[str, ...], *, text: str, rule: str) -> Any:
    """Numbers by name, such as silver_coin:60,ruby:310; what is not named keeps its printed number."""
    return field(default=(), metadata={"kind": SettingKind(text, rule, keys=keys)})


@dataclass(frozen=True, slots=True)
class Settings:
    """Base of every game's settings."""

    @classmethod
    def kinds(cls) -> dict[str, SettingKind]:
        """Every setting by name, in the order declared."""
        return {f.name: f.metadata["kind"] for f in fields(cls)}

    @classmethod
    def parse(cls, given: Mapping[str, object], seats: int) -> Self:
        """Settings from names and values, text or plain; what is not named keeps its default.

        Raises SettingsError, which names the setting, the value and what is allowed.
        """
        kinds = cls.kinds()
        values: dict[str, object] = {}
        for name, value in given.items():
            if name not in kinds:
                known = ", ".join(kinds) or "none"
                raise SettingsError(f"no setting is called {name!r}; there are: {known}")
            values[name] = _parse(name, kinds[name], value)
        settings = cls(**values)
        if problem := settings.problem(seats):
            raise SettingsError(problem)
        return settings

    def problem(self, seats: int) -> str:
        """Why these settings do not fit together or this number of seats; empty if they do."""
        return ""

    def text(self, name: str) -> str:
        """The value of a setting, as written on the command line."""
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
        """The settings that differ from their defaults, as text."""
        return {f.name: self.text(f.name) for f in fields(self) if getattr(self, f.name) != f.default}


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
