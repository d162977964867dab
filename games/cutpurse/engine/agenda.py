"""The agenda: what is still to happen, as a stack of small plain steps, one class per paragraph of the rule book.

The top step happens next: a `Step` by itself, a `Choice` once its seat has answered, a `Poll` once all its seats have.
A step holds seats, zones, numbers and openly known cards only, never an object and never a hidden card: so a fork
shares it, a save is its name and numbers, and the agenda can be shown to everybody. Steps are never changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, make_dataclass
from typing import Any, ClassVar, Final, dataclass_transform

from cutpurse.engine.acts import Act
from cutpurse.engine.acts import Act as Option
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.words import PASS_VERB

__all__ = ["PASS", "Act", "Choice", "Fields", "Option", "Poll", "Question", "Step", "steps_of"]

PASS = Option(PASS_VERB)

Fields = Mapping[str, type]  # int, bool or tuple (of numbers), by the name of the field
_SHAPES: Final[Fields] = {"int": int, "bool": bool, "tuple": tuple}

_steps: dict[str, dict[str, type[Step]]] = {}


def steps_of(package: str, main: str = "") -> dict[str, type[Step]]:
    """Return the steps declared in a package and its modules, by name: modules by their names, `main` as the last.

    So the order in which modules were imported does not matter: the wire and learning agents number steps like this.
    """
    by_name: dict[str, type[Step]] = {}
    for module in sorted(_steps, key=lambda name: (name == main, name)):
        if module == package or module.startswith(package + "."):
            by_name.update(_steps[module])
    return by_name


@dataclass_transform(eq_default=False)
@mypyc_attr(allow_interpreted_subclasses=True)
class StepFields:
    """The base of `Step`, which makes the `__init__` of a step from the attributes that its class declares.

    `scripts/compiled.py` writes the same `__init__` out for the compiler, which calls it without a dict or tuple.
    """

    fields: ClassVar[Fields] = {}  # those beside `seat`, in the order of `__init__`


@mypyc_attr(allow_interpreted_subclasses=True)
class Step(StepFields):
    """Something that happens by itself, for one seat or (-1) for the table.

    What a step holds beside its seat are the attributes that its class declares: `victim: int`. Two steps are equal if
    they are of one class and their fields are equal.
    """

    name: ClassVar[str] = ""  # that of its class in snake_case
    rule: ClassVar[str] = ""  # the number of the paragraph, or several: "GR-3.6, GR-4.1"
    paragraph: ClassVar[str] = ""  # what it says, as `cutpurse rules` prints it
    seat: int

    def __init__(self, seat: int) -> None:
        self.seat = seat

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        _steps.setdefault(vars(cls)["__module__"], {})[cls.__name__] = cls
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        _store_fields(cls)

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


def _store_fields(step: type[Step]) -> None:
    """Make the `__init__` of a step whose class declares fields."""
    declared = vars(step).get("__annotations__", {})
    kinds = {name: _shape(kind) for name, kind in declared.items() if "ClassVar" not in str(kind)}
    if kinds:
        step.fields = {**step.fields, **kinds}
        stored: list[Any] = ["seat"]
        for name in step.fields:
            default: Any = getattr(step, name, None)
            stored.append((name, Any, field(default=default)) if type(default) in _SHAPES.values() else name)
        stores = make_dataclass(step.__name__, stored, repr=False, eq=False)
        type.__setattr__(step, "__init__", vars(stores)["__init__"])
    for name, shape in step.fields.items():
        if shape not in _SHAPES.values():
            raise TypeError(f"{step.__name__}.{name} is {shape}; a step holds int, bool, tuple[int, ...]")


def _shape(kind: Any) -> Any:
    """Return the type of an annotation, which is a text where annotations are evaluated later."""
    return _SHAPES.get(str(getattr(kind, "__name__", kind)).partition("[")[0], kind)


@mypyc_attr(allow_interpreted_subclasses=True)
class Question(Step):
    """A step that waits for answers."""

    text: ClassVar[str] = ""  # as it is put to the seat: "Which card do you play?"
    safe_paragraph: ClassVar[str] = ""  # what `safe` does, if it is not the first option
    # Whether all that public facts entitle are asked, and who has something to answer with is hidden: how long it lasts
    # must not tell either. A poll is one unless it says otherwise; a choice is if its seat may react to another.
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
