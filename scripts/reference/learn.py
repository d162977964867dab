"""The page of `cutpurse.learn`: what learning agents call, what all arrays mean, and examples that the tests run.

It is made from signatures, docstrings, the comments behind attributes, the layouts of the arrays and `examples/learn`.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any, Final

from cutpurse.games import BUILT_IN, GAMES
from cutpurse.learn import gym, pettingzoo, spiel
from cutpurse.learn.batch import Batch, Ended
from cutpurse.learn.data_sets import columns
from cutpurse.learn.net import Net, NetBot, load_net
from cutpurse.learn.rewards import REWARDS
from cutpurse.learn.space import Space
from cutpurse.learn.span import Span
from scripts.reference.bot_api import described_class, described_function, entries
from scripts.reference.learn_arrays import BLOCK_PARTS, FEATURES, HISTORY, NUMBERS, ROWS, game_section, meanings
from scripts.reference.page_parts import anchor, code, first_paragraph, paragraphs, table

__all__ = ["EXAMPLES", "page"]

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples" / "learn"

CLASSES: Final[tuple[type[Any], ...]] = (Space, Span, Batch, Ended, gym.Seat, pettingzoo.LearnersTable, Net, NetBot)
ARRAYS: Final = (
    ("`planes`", "uint8", "T x planes", "how many of each face lie where"),
    ("`numbers`", "int32", "T x numbers", "counters, the agenda, acts under way, settings"),
    ("`mask`", "int8", "T x numbers of options", "1 for each number of an option that is offered"),
    ("`history`", "int32", "T x events x 10", "the last events, with `history=H`"),
    ("`rows`", "uint8", "T x zones x width", "a row for each zone, with `rows=True`"),
    ("`row_mask`", "int8", "T x zones", "1 for each row that is a zone"),
    ("`Space.features`", "int32", "options x features", "a row for each option, for nets that rate options"),
)
_PAGE: Final = """# Learning agents

Look up what `cutpurse.learn` offers to learning agents: what they call, and what every number in their arrays means.
[Train a learning agent](../how-to/train_a_learning_agent.md) shows it in use.

{contents}

## Arrays

For T tables of a `Batch`; a `Space` and the environments give one row. Sizes follow from the game and its seats.

{arrays}
Seats are counted clockwise from the seat that is asked. In numbers, rows and history 0 is nobody, 1 you, 2 your left;
in digits of options and in features 0 is you; in the planes +0 is you. Faces are counted from 1; 0 lies face down.

**Planes** are a block for each zone: those of the table, then for each seat from yours those that every seat has, then
those made in play, which have slots. A block has these parts:

{parts}
**Numbers** are whole ones of any size. Of a step of the agenda and of an act under way they say:

{numbers}
**History**, with `history=H`: a row for each of the last events as the seat heard them, the newest last.

{history}
**Rows**, with `rows=True`: a row for each zone instead of the planes, and a mask.

{rows}
**Features** of an option, for nets that rate options:

{features}
`Space.layout()` lists the places of all of these. Not in the arrays: the order below the top of a pile, steps below the
fourth of the agenda, clues about cards that lie in one of several zones, and without `history` what happened before.

{games}
## Examples

{examples}
## Calls

`view` and `options` are the engine's own: in a bot, `view.raw` and `option.raw`.

{classes}
## Functions

{functions}
## Rewards

At the end of a match; before it every reward is 0.

{rewards}
## OpenSpiel

{spiel}

## Data sets

The columns of the files that `cutpurse export` writes. Decisions with one option and void matches have no rows.

{columns}
"""


def page() -> str:
    """Return the text of the page."""
    games = [GAMES[name] for name in BUILT_IN]
    titles = ["Arrays", *[rules.words.title for rules in games], "Examples"]
    titles += [*[kind.__name__ for kind in CLASSES], "Functions", "Rewards", "OpenSpiel", "Data sets"]
    spaces = Space("greed", history=1, rows=True), Space("greed")
    types = {field.name: str(field.type) for space in spaces for field in columns.schema_of(space, features=True)}
    rows = [
        (code(name), re.sub(r"\[\d+\]", "", types[name]), text)
        for name, text in {**columns.COLUMNS, "features": f"with `--features`: {columns.FEATURES}"}.items()
    ]
    rewards = [(code(name), first_paragraph(reward.__doc__)) for name, reward in REWARDS.items()]
    return _PAGE.format(
        contents=", ".join(f"[{title}](#{anchor(title)})" for title in titles),
        arrays=table(("array", "type", "shape", "what"), ARRAYS),
        parts=meanings(BLOCK_PARTS),
        numbers=meanings(NUMBERS),
        history=meanings(HISTORY),
        rows=meanings(ROWS),
        features=meanings(FEATURES),
        games="\n".join(map(game_section, games)),
        examples="\n".join(map(_example, sorted(EXAMPLES.glob("*.py"), reverse=True))),
        classes="\n".join(_class(kind) for kind in CLASSES),
        functions="\n".join(described_function(function) for function in (pettingzoo.env, load_net, spiel.load)),
        rewards=table(("reward", "a seat gets"), rewards),
        columns=table(("column", "type", "meaning"), rows),
        spiel="\n\n".join(paragraphs(spiel.SpielState.__doc__) + paragraphs(spiel.SpielGame.__doc__)),
    )


def _example(file: Path) -> str:
    """Show a program with its first sentence before it."""
    text = file.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    return f"{docstring} `examples/learn/{file.name}`:\n\n```python\n{text.partition(chr(10) * 2)[2].strip()}\n```\n"


def _class(kind: type[Any]) -> str:
    """Describe a class with the arguments that make one."""
    made = inspect.getdoc(vars(kind).get("__init__"))
    arguments = [(code(name), text) for name, text in entries(made, "Args").items()]
    head = f"Arguments of `{kind.__name__}(...)`:\n\n{table(('argument', 'meaning'), arguments)}\n" if arguments else ""
    return described_class(kind, "##") + (f"\n{head}" if head else "")
