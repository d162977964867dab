"""The agenda: what is still to happen, as a stack of small plain steps, one class per paragraph of the rule book.

The top step happens next: a `Step` by itself, a `Choice` once its seat has answered, a `Poll` once all its seats have.
A step holds seats, zones, numbers and openly known cards only, never an object and never a hidden card: so a fork
shares it, a save is its name and numbers, and the agenda can be shown to everybody. Steps are never changed.

A step's docstring is its rule and opens with the rule's number.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Final, NamedTuple

from cutpurse.engine.errors import UsageError
from cutpurse.engine.words import MOST_SEATS, PASS_VERB

__all__ = ["ONE", "PASS", "SEVERAL", "Act", "Choice", "Option", "Poll", "Step", "steps_of"]

if sys.flags.optimize > 1:
    raise UsageError("this Python leaves docstrings out, and rules are told by theirs: no -OO, no PYTHONOPTIMIZE=2")


class Act(NamedTuple):
    """A verb with what it is done to: the one shape of an option, of something under way and of what a seat did."""

    verb: int
    cards: tuple[int, ...] = ()
    zone: int = 0
    seat: int | None = None
    number: int = 0
    places: tuple[int, ...] = ()  # which copies, by their places in their zone, where equal faces can differ
    actor: int | None = None  # who does it; None in an option, for there it is whoever is asked


Option = Act
PASS = Option(PASS_VERB)
ONE: Final = 1  # for how many seats a step waits: a number is compared in less time than a class
SEVERAL: Final = 2

_steps: dict[str, dict[str, type[Step]]] = {}


def steps_of(package: str) -> dict[str, type[Step]]:
    """The steps declared in a package and its modules, by name, in reading order."""
    found: dict[str, type[Step]] = {}
    for module, steps in _steps.items():
        if module == package or module.startswith(package + "."):
            found.update(steps)
    return found


class _StepCache(dict[Any, Any]):
    """The steps of one class by their fields, each made when it is first wanted."""

    def __init__(self, step: type[Step]) -> None:
        super().__init__()
        self.step = step

    def __missing__(self, fields: Any) -> Any:
        made = self[fields] = self.step(*fields) if isinstance(fields, tuple) else self.step(fields)
        return made


def _shared(step: type[Step]) -> Any:
    """What `of` is for this class: where a step holds nothing but its seat a list, whose last is that of the table."""
    if [field.name for field in fields(step)] == ["seat"]:
        return [step(seat) for seat in (*range(MOST_SEATS), -1)]
    return _StepCache(step)


@dataclass(slots=True)
class Step:
    """Something that happens by itself, for one seat or (-1) for the table."""

    waits: ClassVar[int] = 0  # for no seat, ONE or SEVERAL
    # `DrawACard.of[2, 0]` is DrawACard(2, 0), made once and shared: a quarter of the time. For steps that hold only
    # seats and faces, of which there are few; a sum or the number of a zone would keep a new step for each.
    of: ClassVar[Any]

    # The methods below take `g: Any`: each game's steps name their own class of game there.
    seat: int

    def __init_subclass__(cls, **kwargs: object) -> None:
        super(Step, cls).__init_subclass__(**kwargs)
        cls.of = _shared(cls)
        _steps.setdefault(cls.__module__, {})[cls.__name__] = cls  # a slotted dataclass is made twice: the later stays

    def run(self, g: Any) -> None:
        """Carry out the rule."""
        raise TypeError(f"{type(self).__name__} does not happen by itself")

    def act(self) -> Act | None:
        """What this step announces while it is on the agenda; None if nothing."""
        return None

    def save(self) -> list[object]:
        """[name, *fields], with tuples as lists."""
        values = [getattr(self, f.name) for f in fields(self)]
        return [type(self).__name__, *(list(v) if isinstance(v, tuple) else v for v in values)]

    @classmethod
    def load(cls, values: Iterable[object]) -> Step:
        """The step that `save` told of, from its fields."""
        return cls(*[tuple(v) if isinstance(v, list) else v for v in values])  # type: ignore[arg-type]  # its own save


@dataclass(slots=True)
class Question(Step):
    """A step that waits for answers."""

    waits: ClassVar[int] = SEVERAL
    name: ClassVar[str]  # that of its class in snake_case
    text: ClassVar[str] = ""  # as it is put to the seat: "Which card do you play?"
    # Whether all that public facts entitle are asked, and who has something to answer with is hidden: how long it lasts
    # must not tell either. Every poll is one; a choice is if its seat may react to what another does.
    window: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: object) -> None:
        super(Question, cls).__init_subclass__(**kwargs)
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def rule(cls) -> str:
        """The number of the rule that asks, from the docstring: "GR-3.1"."""
        return (cls.__doc__ or "").split(" ", 1)[0].rstrip(".,")

    def options(self, g: Any, seat: int) -> list[Option]:
        """What `seat` may answer, never nothing; depends only on what that seat may see."""
        raise TypeError(f"{type(self).__name__} asks nothing")

    def safe(self, g: Any, seat: int, options: list[Option]) -> Option:
        """The published answer that is taken for a seat which gives none: the first option unless a game says else."""
        return options[0]


@dataclass(slots=True)
class Choice(Question):
    """Waits for one seat. What is chosen is told to everybody, unless `told` is False or `seen_by` hides a card."""

    waits: ClassVar[int] = ONE
    told: ClassVar[bool] = True

    def chosen(self, g: Any, option: Option) -> None:
        """Carry out what the seat chose."""
        raise TypeError(f"{type(self).__name__} does not say what happens")

    def seen_by(self, g: Any, option: Option) -> tuple[int, ...] | None:
        """For each card of the option the viewers who may see its face, before it is carried out; None: everybody."""
        return None


@dataclass(slots=True)
class Poll(Question):
    """Waits for several seats at once; their answers stay sealed until the last is in."""

    window: ClassVar[bool] = True

    def seats(self, g: Any) -> list[int]:
        """Whom it asks, ascending; follows from what everybody knows. Nobody: it closes at once."""
        raise TypeError(f"{type(self).__name__} asks nobody")

    def closed(self, g: Any, answers: dict[int, Option]) -> None:
        """Carry out what follows; `answers` has the answer of each seat asked."""
        raise TypeError(f"{type(self).__name__} does not say what happens")
