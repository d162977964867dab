"""The agenda: what is still to happen, as a stack of small plain steps, one class per paragraph of the rule book.

The top step happens next: a `Step` by itself, a `Choice` once its seat has answered, a `Poll` once all its seats have.
A step holds seats, zones, numbers and openly known cards only, never an object and never a hidden card: so a fork
shares it, a save is its name and numbers, and the agenda can be shown to everybody. Steps are never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from cutpurse.engine.acts import Act
from cutpurse.engine.acts import Act as Option
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.words import PASS_VERB

__all__ = ["PASS", "Act", "Choice", "Fields", "Option", "Poll", "Question", "Step", "steps_of"]

PASS = Option(PASS_VERB)

Fields = Mapping[str, type]  # int, bool or tuple (of numbers), by the name of the field

_steps: dict[str, dict[str, type[Step]]] = {}


def steps_of(package: str) -> dict[str, type[Step]]:
    """Return the steps declared in a package and its modules, by name, in reading order."""
    found: dict[str, type[Step]] = {}
    for module, steps in _steps.items():
        if module == package or module.startswith(package + "."):
            found.update(steps)
    return found


@mypyc_attr(allow_interpreted_subclasses=True)
class Step:
    """Something that happens by itself, for one seat or (-1) for the table.

    Two steps are equal if they are of one class and their fields are equal.
    """

    name: ClassVar[str] = ""  # that of its class in snake_case
    rule: ClassVar[str] = ""  # the number of the paragraph, or several: "GR-3.6, GR-4.1"
    paragraph: ClassVar[str] = ""  # what it says, as `cutpurse rules` prints it
    fields: ClassVar[Fields] = {}  # those beside `seat`, in the order of `__init__`

    def __init__(self, seat: int) -> None:
        self.seat = seat

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        _steps.setdefault(vars(cls)["__module__"], {})[cls.__name__] = cls
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    # The methods below take `g: Any`: each game's steps name their own class of game there.
    def run(self, g: Any) -> None:
        """Carry out the rule."""
        raise TypeError(f"{type(self).__name__} does not happen by itself")

    def act(self) -> Act | None:
        """Return what this step announces while it is on the agenda; None if nothing."""
        return None

    def values(self) -> tuple[Any, ...]:
        """Return the seat, then the other fields in order."""
        return (self.seat, *[getattr(self, name) for name in self.fields])

    def save(self) -> list[object]:
        """Return [name, *fields], with tuples as lists."""
        return [type(self).__name__, *[list(v) if isinstance(v, tuple) else v for v in self.values()]]

    @classmethod
    def load(cls, values: Iterable[Any]) -> Step:
        """Make a step from the fields that `save` returned."""
        step: Callable[..., Step] = cls
        return step(*[tuple(v) if isinstance(v, list) else v for v in values])

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Step) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash((type(self), self.values()))

    def __repr__(self) -> str:
        names = ("seat", *self.fields)
        fields = [f"{name}={value!r}" for name, value in zip(names, self.values(), strict=True)]
        return f"{type(self).__name__}({', '.join(fields)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.values()


@mypyc_attr(allow_interpreted_subclasses=True)
class Question(Step):
    """A step that waits for answers."""

    text: ClassVar[str] = ""  # as it is put to the seat: "Which card do you play?"
    safe_paragraph: ClassVar[str] = ""  # what `safe` does, if it is not the first option
    # Whether all that public facts entitle are asked, and who has something to answer with is hidden: how long it lasts
    # must not tell either. Every poll is one; a choice is if its seat may react to what another does.
    window: ClassVar[bool] = False

    @classmethod
    def first_rule(cls) -> str:
        """Return the number of the rule that asks: "GR-3.1"."""
        return cls.rule.partition(",")[0]

    def options(self, g: Any, seat: int) -> list[Option]:
        """Return what `seat` may answer, never nothing; depends only on what that seat may see."""
        raise TypeError(f"{type(self).__name__} asks nothing")

    def safe(self, g: Any, seat: int, options: list[Option]) -> Option:
        """Return the published answer for a seat which gives none: the first option unless a game says else."""
        return options[0]


@mypyc_attr(allow_interpreted_subclasses=True)
class Choice(Question):
    """Waits for one seat. Everybody sees what is chosen; `seen_by` hides cards of it."""

    def chosen(self, g: Any, option: Option) -> None:
        """Carry out what the seat chose."""
        raise TypeError(f"{type(self).__name__} does not say what happens")

    def seen_by(self, g: Any, option: Option) -> tuple[int, ...] | None:
        """Return the viewers who may see each card of the option before it is carried out; None: everybody."""
        return None


@mypyc_attr(allow_interpreted_subclasses=True)
class Poll(Question):
    """Waits for several seats at once; their answers stay sealed until the last is in."""

    window: ClassVar[bool] = True

    def seats(self, g: Any) -> list[int]:
        """List the seats it asks, ascending, from what everybody knows. With none it closes at once."""
        raise TypeError(f"{type(self).__name__} asks nobody")

    def closed(self, g: Any, answers: dict[int, Option]) -> None:
        """Carry out what follows; `answers` has the answer of each seat asked."""
        raise TypeError(f"{type(self).__name__} does not say what happens")
