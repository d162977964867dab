"""The parameters of a tuning: arguments of a bot's constructor, each with the values to choose from.

    depth=1..8         whole numbers
    greed=0.1..0.9     real numbers, in 100 steps
    style=bold|shy     choices: numbers, true, false or words

This module knows no game and no search.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.bot import PROGRAM, BotMaker

__all__ = ["BotParameter", "Value", "Values", "bot_with", "read_parameters", "start_values", "values_text"]

Value = int | float | bool | str
Values = tuple[Value, ...]  # one for each parameter

STEPS: Final = 100  # of the range of a real number
DIGITS: Final = 12  # of a step
MOST: Final = 1_000_000  # whole numbers in a range
FORMS: Final = "as NAME=1..8, NAME=0.1..0.9 or NAME=one|other"
WORDS: Final[dict[str, Value]] = {"true": True, "false": False}


@dataclass(frozen=True)
class BotParameter:
    """An argument of the constructor, and the values to choose from."""

    name: str
    text: str  # as given
    values: Sequence[Value]  # in order, if it is a number
    is_number: bool

    def index(self, value: Value) -> int | None:
        """Return the number of a value, or None for a start outside the range or between two steps."""
        return self.values.index(value) if value in self.values else None

    def distance(self, value: Value, other: Value) -> float:
        """Return how far two values are apart, as a share of the range; 1 for different choices."""
        if not self.is_number:
            return float(value != other)
        return abs(float(value) - float(other)) / (float(self.values[-1]) - float(self.values[0]))


@dataclass(frozen=True)
class _BotWith(BotMaker):
    """A maker of a bot with arguments; other processes load the bot again."""

    loaded: BotMaker | None = None
    arguments: tuple[tuple[str, Value], ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return _with_arguments, (self.loaded, self.arguments)


def bot_with(maker: BotMaker, parameters: Sequence[BotParameter], values: Values) -> BotMaker:
    """Return a maker of the bot with these values as keyword arguments."""
    arguments = tuple((parameter.name, value) for parameter, value in zip(parameters, values, strict=True))
    return _with_arguments(maker, arguments)


def _with_arguments(maker: BotMaker, arguments: tuple[tuple[str, Value], ...]) -> BotMaker:
    name = f"{maker.spec}({', '.join(f'{key}={value!r}' for key, value in arguments)})"
    make = partial(maker.make, **dict(arguments))
    return _BotWith(name, make, maker.file, name, maker.modules, loaded=maker, arguments=arguments)


def values_text(parameters: Sequence[BotParameter], values: Values) -> str:
    """Format values as arguments of a call: "depth=3, greed=0.4"."""
    return ", ".join(f"{parameter.name}={value!r}" for parameter, value in zip(parameters, values, strict=True))


def read_parameters(given: Sequence[str]) -> list[BotParameter]:
    """Read parameters as the command line has them.  Raises UsageError."""
    if not given:
        raise UsageError(f"name a parameter of the bot with --param, {FORMS}")
    parameters = [_read(text) for text in given]
    names = [parameter.name for parameter in parameters]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UsageError(f"--param {twice} is given twice")
    return parameters


def _read(text: str) -> BotParameter:
    name, equals, values = text.partition("=")
    if not equals or not name.isidentifier() or not values:
        raise UsageError(f"--param {text!r:.80}: a parameter is given {FORMS}")
    if ".." in values:
        return BotParameter(name, text, _range(text, *values.split("..", 1)), True)
    choices = [_value(choice) for choice in values.split("|")]
    if len(choices) < 2 or len(set(choices)) < len(choices):
        raise UsageError(f"--param {text!r:.80}: choices are two or more different values, {FORMS}")
    return BotParameter(name, text, choices, False)


def _range(text: str, low: str, high: str) -> Sequence[Value]:
    """Return the values from the first to the last, of whole numbers if both ends are."""
    first, last = _value(low), _value(high)
    if not all(type(end) in (int, float) for end in (first, last)):
        raise UsageError(f"--param {text!r:.80}: the ends of a range are two numbers, {FORMS}")
    if not float(first) < float(last):
        raise UsageError(f"--param {text!r:.80}: the range is empty, since {high} is not more than {low}")
    if isinstance(first, int) and isinstance(last, int):
        if last - first >= MOST:
            raise UsageError(
                f"--param {text!r:.80}: more than {MOST:,} whole numbers; write {low}.0..{high}.0 for steps"
            )
        return range(first, last + 1)
    width = float(last) - float(first)
    return [float(f"{float(first) + width * step / STEPS:.{DIGITS}g}") for step in range(STEPS + 1)]


def _value(text: str) -> Value:
    """Return a number, true, false or a word."""
    if text in WORDS:
        return WORDS[text]
    for kind in (int, float):
        try:
            number = kind(text)
            if math.isfinite(number):
                return number
        except (ValueError, OverflowError):  # the latter for a whole number beyond all floats
            pass
    return text


def start_values(maker: BotMaker, parameters: Sequence[BotParameter]) -> Values:
    """Return the defaults of the bot's parameters.  Raises UsageError if it has no such parameter, or is a program."""
    spec = maker.spec
    if spec.startswith(PROGRAM):
        raise UsageError("a program has no constructor: only bots in Python can be tuned")
    signature = inspect.signature(maker.make)
    declared = {
        name: argument.default
        for name, argument in signature.parameters.items()
        if argument.kind in (argument.POSITIONAL_OR_KEYWORD, argument.KEYWORD_ONLY)
    }
    for parameter in parameters:
        if parameter.name not in declared:
            known = f"it has: {', '.join(declared)}" if declared else "its __init__ has none"
            raise UsageError(f"bot {spec} has no parameter {parameter.name!r}; {known}")
        default = declared[parameter.name]
        is_number = type(default) in (int, float) and math.isfinite(default)
        if not is_number and (parameter.is_number or not isinstance(default, bool | str)):
            what = "a number" if parameter.is_number else "a number, a word, True or False"
            raise UsageError(f"bot {spec}: tuning starts from the default of {parameter.name}, which has to be {what}")
    return tuple(declared[parameter.name] for parameter in parameters)
