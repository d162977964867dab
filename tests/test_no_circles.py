"""The modules import downwards only, so each can be read by itself: no two import each other, not by way of others.

In engine and games this holds for types, too. Elsewhere a part may name the class of its whole in its annotations: an
act that of its view, a session that of its stream.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Collection
from graphlib import CycleError, TopologicalSorter

import pytest

from cutpurse.games import GAMES
from tests.roots import modules
from tests.test_imports import imported

# A view holds the class of its game.
LOOKS_UP = {("cutpurse.engine.view", "cutpurse.engine.game")}
WITH_TYPES = ("cutpurse.engine.", "cutpurse.games.")


FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ ].*\n|\n)+", re.MULTILINE)


def graph(*, only: tuple[str, ...] = ("cutpurse.",), has_types: bool = False) -> dict[str, set[str]]:
    """Return what each module imports of the others, at its top or within.

    Args:
        only: What the names of the modules begin with.
        has_types: Whether imports for annotations count, too.
    """
    sources = {}
    for module in (module for module in modules() if module.name.startswith(only)):
        source = module.file.read_text(encoding="utf-8")
        source = source if has_types else FOR_TYPES.sub("if TYPE_CHECKING:\n    pass\n", source)
        sources[module.name] = [what for _, what in imported(source, module.name, module.is_package)]
    return {name: {there for what in names if (there := module_of(what, sources))} for name, names in sources.items()}


def module_of(what: str, sources: Collection[str]) -> str:
    """Return the module that an import names or takes something from; empty if it is none of these."""
    return next((there for there in (what, what.rpartition(".")[0]) if there in sources), "")


def test_no_modules_import_each_other_in_a_circle() -> None:
    TopologicalSorter(graph()).prepare()


def test_no_modules_of_engine_and_games_name_each_other_in_a_circle() -> None:
    found = graph(only=WITH_TYPES, has_types=True)
    for above, below in LOOKS_UP:
        found[above].remove(below)
    TopologicalSorter(found).prepare()


def test_a_circle_would_be_found() -> None:
    state, rules = "cutpurse.games.szmal.state", "cutpurse.games.szmal.rules"
    with pytest.raises(CycleError, match=rules):
        TopologicalSorter(graph(only=WITH_TYPES) | {state: {rules}}).prepare()


@pytest.mark.parametrize(
    ("game", "chapter"), [("steal_and_plunder", "powers"), ("stolen_treasure", "wager"), ("szmal", "playing")]
)
def test_steps_have_the_same_order_whichever_module_is_imported_first(game: str, chapter: str) -> None:
    program = (
        f"import cutpurse.games.{game}.{chapter}\nfrom cutpurse.games import GAMES\nprint(*GAMES[{game!r}].steps())"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.split() == list(GAMES[game].steps())
