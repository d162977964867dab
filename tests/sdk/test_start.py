"""A bot starts with what it needs: the rules of its own game, and neither those of others nor the command line."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from cutpurse.engine.errors import UnknownGame
from cutpurse.engine.game import Game
from cutpurse.games import GAMES, PREFIXES, game_named
from cutpurse.games.greed.rules import Greed
from cutpurse.games.lazy_registry import Registry
from cutpurse.sdk.views import VIEWS
from cutpurse.wire.version import VERSION

FILE = """
from cutpurse.sdk.run import run

class Bot:
    def choose(self, view, decision):
        return decision.options[0]
"""
# Tells which modules a process has after the lines before it.
TELL = "import sys; print(*sorted(sys.modules))"
FOR_OTHERS = ("typer", "rich", "email", "multiprocessing", "cutpurse.sdk.local", "cutpurse.v1.ladder_pb2")


def imported(code: str) -> set[str]:
    """The modules that a fresh process has imported after this code."""
    done = subprocess.run([sys.executable, "-c", f"{code}\n{TELL}"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def games_of(modules: set[str]) -> set[str]:
    """Whose rules and views are among these modules."""
    parts = [module.split(".") for module in modules]
    return {part[2] for part in parts if part[:2] == ["cutpurse", "games"] and len(part) > 3} | {
        part[3] for part in parts if part[:3] == ["cutpurse", "sdk", "views"] and part[3:] and part[3] in GAMES
    }


def test_a_bot_imports_the_rules_of_no_game_and_nothing_of_the_command_line() -> None:
    modules = imported(FILE)
    assert "cutpurse.sdk.run" in modules
    assert games_of(modules) == set()
    assert modules.isdisjoint(FOR_OTHERS)


def test_it_has_the_rules_of_a_game_that_it_names_and_of_no_other() -> None:
    session = "from cutpurse.wire.client_session import ClientSession\nClientSession('me', games=['greed'])"
    code = f"{FILE}\n{session}.opening()"
    assert games_of(imported(code)) == {"greed"}


def test_to_know_the_names_of_games_needs_no_rules() -> None:
    code = "from cutpurse.games import GAMES\nassert 'greed' in GAMES and 'whist' not in GAMES and len([*GAMES]) == 5"
    assert games_of(imported(code)) == set()


@pytest.mark.parametrize("name", GAMES)
def test_every_game_is_found_by_its_name(name: str) -> None:
    assert issubclass(GAMES[name], Game)
    assert GAMES[name].words.game == name
    assert GAMES[name].words.prefix in PREFIXES
    assert game_named(name) is GAMES[name] is GAMES.get(name)
    assert VIEWS[name].__module__ == f"cutpurse.sdk.views.{name}"


def test_a_game_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(UnknownGame, match=r"no game is called 'whist'; there are: steal_and_plunder, .*, bag_o_loot"):
        game_named("whist")
    assert GAMES.get("whist") is None
    with pytest.raises(KeyError):
        GAMES["whist"]


def test_a_game_of_ones_own_can_be_put_in_and_taken_out() -> None:
    registry: Registry[type[Game]] = Registry({"greed": "cutpurse.games.greed.rules:Greed"})
    registry["mine"] = Greed
    assert {**registry} == {"greed": Greed, "mine": Greed}
    del registry["mine"], registry["greed"]
    assert (dict(registry), len(registry), "greed" in registry) == ({}, 0, False)


def test_the_version_that_a_bot_tells_is_that_of_the_distribution() -> None:
    assert version("cutpurse") == VERSION


def test_a_python_without_docstrings_plays_szmal_and_prints_its_cards() -> None:
    def cutpurse(*arguments: str, optimize: str = "-OO") -> str:
        command = [sys.executable, optimize, "-m", "cutpurse.cli", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "mean score" in cutpurse("play", "szmal", "random", "random")
    rules = cutpurse("rules", "szmal")
    assert "Gain $25,000." in rules
    assert rules == cutpurse("rules", "szmal", optimize="-O")
