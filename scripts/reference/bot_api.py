"""The page of what a bot's author calls, made from signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, Final

from cutpurse.engine.match import EndCause, MatchResult
from cutpurse.sdk import local, run
from cutpurse.sdk.bot import Bot, MatchInfo
from cutpurse.sdk.cards import Card
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.views.acts import Option, SeenEvent
from cutpurse.sdk.views.base import GameView, Player
from cutpurse.sdk.views.piles import Pile
from scripts.reference.comments import class_comments
from scripts.reference.page_parts import anchor, code, first_paragraph, paragraphs, sentence, table

__all__ = ["Member", "defined", "described_class", "described_function", "entries", "members", "page"]

# In the order in which an author needs them.
CLASSES: Final[tuple[type, ...]] = (
    GameView,
    Player,
    Pile,
    Card,
    Decision,
    Option,
    SeenEvent,
    MatchInfo,
    MatchResult,
    EndCause,
)
FUNCTIONS: Final[tuple[Callable[..., Any], ...]] = (run.run, run.connect, local.play)
RESULTS: Final[tuple[type, ...]] = (run.RunSummary, run.PlayedMatch, local.LocalRun, local.SeatTotals)
# Members for the code that asks bots, and the engine's own numbers behind the names.
_NOT_FOR_AUTHORS: Final = {
    *("column", "find_pile", "find_piles", "keep_notes", "keep_time", "kind", "pile_numbered", "player_type", "raw"),
    *("table_at", "view", "words"),
}
_PAGE: Final = """# Bot API

Look up what your bot is given, and how to start it from Python. [Your first bot](../tutorial/first_bot.md) shows it
in use, and [Views of the games](game_views.md) has the names that each game adds.

{contents}
## Bot

```python
class Bot:
    def choose(self, view, decision):
        return decision.safe
```

{bot}
{classes}
## Play from Python

{functions}
{results}"""

Member = tuple[str, str]  # how it is written, "pile(name) -> Pile", and its meaning


def page() -> str:
    """Return the text of the page."""
    titles = ["Bot", *(kind.__name__ for kind in CLASSES), "Play from Python"]
    return _PAGE.format(
        contents=", ".join(f"[{title}](#{anchor(title)})" for title in titles) + "\n",
        bot="\n".join(f"{text}\n" for text in [*paragraphs(Bot.__doc__), *paragraphs(Bot.choose.__doc__)]),
        classes="\n".join(described_class(kind, "##") for kind in CLASSES),
        functions="\n".join(described_function(function) for function in FUNCTIONS),
        results="\n".join(described_class(kind, "###") for kind in RESULTS),
    )


def members(kind: type) -> list[Member]:
    """Return the public members of a class and of its bases in this project, inherited ones first."""
    by_name: dict[str, Member] = {}
    for of in reversed([base for base in kind.__mro__ if base.__module__.startswith("cutpurse.")]):
        for form, text in (*_fields(of), *_attributes(of), *defined(of)):
            by_name[re.split(r"\W", form, maxsplit=1)[0]] = (form, text)
    return [member for name, member in by_name.items() if name not in _NOT_FOR_AUTHORS]


def defined(kind: type) -> Iterator[Member]:
    """Yield the public properties and methods that a class itself defines."""
    for name, member in vars(kind).items():
        if name.startswith("_") or name in _NOT_FOR_AUTHORS:
            continue
        if isinstance(member, property):
            yield f"{name}: {_written(member.fget.__annotations__['return'])}", first_paragraph(member.__doc__)
        elif inspect.isfunction(member):
            names = ", ".join(parameter for parameter in inspect.signature(member).parameters if parameter != "self")
            returned = _written(member.__annotations__["return"])
            arrow = "" if returned == "None" else f" -> {returned}"
            yield f"{name}({names}){arrow}", first_paragraph(member.__doc__)


def _fields(kind: type) -> Iterator[Member]:
    """Yield the fields of a dataclass with their comments, or their entries in its docstring."""
    if "__dataclass_fields__" in vars(kind):
        comments = class_comments(kind)
        listed = entries(kind.__doc__, "Attributes")
        for field in dataclasses.fields(kind):
            yield f"{field.name}: {_written(field.type)}", listed.get(field.name) or comments.get(field.name, "")


def _attributes(kind: type) -> Iterator[Member]:
    """Yield the public attributes that a class annotates or `__init__` sets; those with a comment have a meaning."""
    if not dataclasses.is_dataclass(kind) and "__annotations__" in vars(kind):
        for name, comment in class_comments(kind).items():
            if name in kind.__annotations__ and not name.startswith("_"):
                yield f"{name}: {_written(kind.__annotations__[name])}", comment
    made = vars(kind).get("__init__")
    if inspect.isfunction(made) and not dataclasses.is_dataclass(kind):
        types = made.__annotations__
        for name, annotation, comment in re.findall(
            r"^ *self\.([a-z]\w*)(?:: ([^=]+?) = .*?| = \w+)(?:  # (.*))?$", inspect.getsource(made), re.MULTILINE
        ):
            yield f"{name}: {_written(annotation or types.get(name, 'Any'))}", comment


def described_class(kind: type, level: str) -> str:
    """Describe a class: what it is, where it is, and its members."""
    rows = [(code(form), sentence(text)) for form, text in members(kind) if text]
    bare = ", ".join(code(form) for form, text in members(kind) if not text)
    values = f"Its values are {', '.join(code(value.name) for value in kind)}.\n" if issubclass(kind, Enum) else ""
    parts = [
        f"{level} {kind.__name__}\n",
        *[f"{text}\n" for text in paragraphs(kind.__doc__)],
        values,
        f"`from {kind.__module__} import {kind.__name__}`\n",
        table(("member", "meaning"), rows),
        f"{'Also' if rows else 'Members:'} {bare}.\n" if bare else "",
    ]
    return "\n".join(part for part in parts if part)


def described_function(function: Callable[..., Any]) -> str:
    """Describe a function: how to call it, its arguments, what it returns and raises."""
    parameters = inspect.signature(function).parameters.values()
    positional = [parameter.name for parameter in parameters if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
    rows = [(code(name), text) for name, text in entries(function.__doc__, "Args").items()]
    raises = [(code(name), text) for name, text in entries(function.__doc__, "Raises").items()]
    returns = " ".join(entries(function.__doc__, "Returns", named=False))
    prefix = "await " if inspect.iscoroutinefunction(function) else ""
    parts = [
        f"### {function.__name__}\n",
        f"```python\nfrom {function.__module__} import {function.__name__}\n",
        f"{prefix}{function.__name__}({', '.join(positional)}, ...)\n```\n",
        *[f"{text}\n" for text in paragraphs(function.__doc__)],
        table(("argument", "meaning"), rows) if rows else "",
        f"Returns {_written(function.__annotations__['return'])}{f': {returns}' if returns else '.'}\n",
        table(("it raises", "when"), raises) if raises else "",
    ]
    return "\n".join(part for part in parts if part)


def entries(docstring: str | None, section: str, *, named: bool = True) -> dict[str, str]:
    """Return the entries of a section of a Google-style docstring by name; without names, its whole text as one key."""
    text = inspect.cleandoc(docstring or "")
    match = re.search(rf"^{section}:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    if match is None:
        return {}
    body = textwrap.dedent(match[1])
    if not named:
        return {" ".join(body.split()): ""}
    pairs = [entry.partition(":") for entry in re.split(r"^(?=\S)", body, flags=re.MULTILINE) if entry.strip()]
    return {name.strip(): " ".join(entry.split()) for name, _, entry in pairs}


def _written(annotation: object) -> str:
    """Return a type as its author wrote it, without module names; a type variable as its bound."""
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return re.sub(r"\bA\b", Player.__name__, re.sub(r"\b\w+\.(?=\w)", "", text))
