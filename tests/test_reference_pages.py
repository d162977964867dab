"""The pages made from the code say what the code says today.

Renewed by `pytest tests/test_reference_pages.py --update-pages`, or `python -m scripts.reference`.
"""

from __future__ import annotations

from typing import Final

import pytest

from cutpurse.cli import ladder_file
from cutpurse.engine.clocks import PEOPLE_CLOCK, TimeControl
from cutpurse.lab.tournament import tournament_file
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.sdk.views import VIEWS
from cutpurse.wire import manifest
from cutpurse.wire.toml_file import FileKey
from scripts.reference import FOLDER, PAGES, cli, metrics, page_text
from scripts.reference.llms import text

RENEW: Final = "if it is meant: pytest tests/test_reference_pages.py --update-pages"


def defaults(keys: tuple[FileKey, ...]) -> dict[str, str]:
    """The defaults of the keys that have one, without code marks."""
    return {key.name: key.default.strip('`"') for key in keys if key.default}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_the_code_says(name: str, pytestconfig: pytest.Config) -> None:
    file, made = FOLDER / f"{name}.md", page_text(name)
    if pytestconfig.getoption("--update-pages"):
        file.write_text(made, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == made, RENEW


def test_the_list_for_language_models_is_that_of_the_index(pytestconfig: pytest.Config) -> None:
    file, made = FOLDER.parent / "llms.txt", text(FOLDER.parent)
    if pytestconfig.getoption("--update-pages"):
        file.write_text(made, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == made, RENEW
    assert [line for line in made.splitlines() if line.startswith("- ") and line.endswith(": ")] == []


def test_every_generated_page_has_a_generator() -> None:
    mark = page_text("exit_codes").splitlines()[0]
    generated = {file.stem for file in FOLDER.glob("*.md") if file.read_text(encoding="utf-8").startswith(mark)}
    assert generated == PAGES.keys()


@pytest.mark.parametrize("game", ["steal_and_plunder", "stolen_treasure", "szmal", "greed", "bag_o_loot"])
def test_the_names_of_every_view_are_listed(game: str) -> None:
    page = page_text("game_views")
    assert f"import {VIEWS[game].__name__}`" in page
    own = [name for name in vars(VIEWS[game]) if not name.startswith("_") and name not in ("player_type", "habits")]
    assert [name for name in own if f"`view.{name}" not in page] == []


def test_every_option_variable_and_metric_has_a_meaning() -> None:
    without = [
        f"{words} {option.form}"
        for words, command in cli.commands()
        for option in cli.options(command)
        if not option.text
    ]
    without += [name for name, text in cli.environment() if not text]
    without += [family.name for family in metrics.families() if not family.documentation]
    assert without == []


def test_the_defaults_of_a_ladder_on_the_page_are_those_of_the_server() -> None:
    said, clock, terms = defaults(ladder_file.KEYS), TimeControl(), LadderTerms()
    for name in ladder_file.CLOCK:
        usual, slow = f"{getattr(clock, name):,}", f"{getattr(PEOPLE_CLOCK, name):,}"
        assert said[f"clock.{name}"] == (usual if usual == slow else f"{usual}; with `people` {slow}")
    numbers = {"max_bots": terms.most_bots, "max_per_owner": terms.most_per_owner}
    numbers |= {"pause_failed": terms.pause_failed, "pause_window": terms.pause_window}
    assert {name: said[name] for name in numbers} == {name: str(number) for name, number in numbers.items()}


def test_the_defaults_of_a_tournament_and_a_manifest_on_the_page_are_those_of_the_code() -> None:
    said = defaults(tournament_file.KEYS)
    without = {"challenger": "the first bot", "fill": "none, with 2 seats"}
    for keys in tournament_file.FORMATS.values():
        for key, default in keys.items():
            assert said[f"format.{key}"] == (str(default) or without[key])
    said = defaults(manifest.KEYS)
    assert (said["limits.memory_mb"], said["limits.tables"]) == (str(manifest.MEMORY_MB[0]), str(manifest.TABLES[0]))
