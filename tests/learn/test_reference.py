"""The reference of learning agents: it has every plane and number once, and its examples train."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import runpy
import warnings
from pathlib import Path

import pytest

from cutpurse.games import GAMES
from cutpurse.learn import Space, Span
from cutpurse.learn.event_rows import PARTS
from scripts.reference import learn_arrays
from scripts.reference.learn import EXAMPLES
from scripts.size import code_lines
from tests.properties.random_play import EVERY_GAME
from tests.roots import CHECKOUT

PAGE = (CHECKOUT / "docs" / "reference" / "learn.md").read_text(encoding="utf-8")
NUMBERING = json.loads((Path(__file__).parent / "numbering.json").read_text(encoding="utf-8"))
LIBRARIES = "needs pip install -r tests/learn/libraries.txt"


def section(name: str) -> str:
    """Return the section of a game."""
    return PAGE.partition(f"\n## {GAMES[name].words.title}\n")[2].partition("\n## ")[0]


def rows(name: str, title: str) -> list[list[str]]:
    """Return the cells of the table after a title in the section of a game."""
    lines = section(name).partition(f"**{title} of {GAMES[name].words.title}")[2].partition("\n\n|")[2]
    table = lines.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]


def places(text: str) -> list[int]:
    """Return the numbers of a cell: "1-29", "+1: 3-5; +2: 6-8", "16 slots of 61 from 200, beyond them 1,176-1,236"."""
    listed: list[int] = []
    for part in text.replace(",", "").split(";"):
        if block := re.search(r"(\d+) slots of (\d+) from (\d+) beyond them (\d+)-(\d+)", part):
            slots, width, first, beyond, last = map(int, block.groups())
            assert beyond == first + slots * width
            listed += range(first, last + 1)
        elif span := re.search(r"(\d+)(?:-(\d+))?$", part.strip()):
            listed += range(int(span[1]), int(span[2] or span[1]) + 1)
    return listed


@pytest.mark.parametrize("name", EVERY_GAME)
def test_sizes_are_those_of_the_numbering(name: str) -> None:
    table = re.findall(
        r"^\| (\d) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| \d+ x \d+ \|$", section(name), re.M
    )
    sizes = {seats: [int(size.replace(",", "")) for size in its] for seats, *its in table}
    names = ("actions", "planes", "numbers", "option features")
    assert sizes == {seats: [its[size] for size in names] for seats, its in NUMBERING[name].items()}


@pytest.mark.parametrize("name", EVERY_GAME)
def test_every_plane_number_and_option_is_on_the_page_once(name: str) -> None:
    space = Space(name)
    planes = [place for row in rows(name, "Planes") for place in places(row[-2])]
    assert sorted(planes) == [*range(space.planes)]
    numbers = [place for row in rows(name, "Numbers") for place in places(row[0])]
    assert sorted(numbers) == [*range(space.numbers)]
    options = [place for row in rows(name, "Verbs and options") for place in places(row[3])]
    assert options == [*range(space.actions)]
    steps = [row[1] for row in rows(name, "Steps")]
    assert steps == [f"`{step.name}`" for step in space.rules.steps().values()]


@pytest.mark.parametrize("name", EVERY_GAME)
def test_the_parts_of_blocks_lie_where_the_page_says(name: str) -> None:
    spans = {(span.what, span.part): span for span in Space(name).layout() if span.array == "planes"}
    whose = {"you": "seat +0", "others": "seat +1", "the table": "the table"}
    checked = 0
    for row in rows(name, "Planes"):
        (zone,) = re.findall(r"^`(\w+)`", row[-4])
        of = whose[row[-3]]
        what = next(what for what, _ in spans if re.fullmatch(rf"{zone}( 1| of 1, 1)? of {re.escape(of)}", what))
        for part, cell in re.findall(r"`(\w+)` (\d[\d-]*)", row[-1]):
            first, *more = places(cell)
            assert spans[what, part] == Span("planes", what, part, places(row[-2])[0] + first, 1 + len(more))
            checked += 1
    assert checked > 10


def test_every_part_of_every_array_has_a_meaning() -> None:
    for name, rules in GAMES.items():
        own = {its.name for kind in rules.words.zones for its in (*kind.counters, *kind.columns)}
        for span in Space(name).layout():
            if span.array == "planes":
                assert span.part in learn_arrays.BLOCK_PARTS or span.part in own, span
            elif span.array == "features":
                assert f"{span.what} {span.part}" in learn_arrays.FEATURES
        for span in Space(name, rows=True).layout():
            if span.array == "rows":
                assert re.sub(r" \d+$", " 1", span.part) in learn_arrays.ROWS, span
    assert [*learn_arrays.HISTORY] == [*PARTS]


@pytest.mark.parametrize("name", EVERY_GAME)
def test_options_of_a_match_have_the_numbers_of_their_verbs(name: str) -> None:
    verbs = {int(row[0]): places(row[3]) for row in rows(name, "Verbs and options")}
    space, chance = Space(name), random.Random(1)
    game = space.rules.new(seats=space.seats)
    for _ in range(200):
        if not (waiting := game.waiting()):
            break
        view, options = game.view(waiting[0]), game.options(waiting[0])
        for option, number in zip(options, space.option_numbers(view, options), strict=True):
            assert number in verbs[option.verb]
        game.choose(waiting[0], chance.choice(options))


def test_a_switch_is_1_if_it_is_true() -> None:
    (row,) = [row for row in rows("greed", "Numbers") if row[1] == "`two_player_pile`"]
    assert "0 false, 1 true" in row[2]
    for value in (False, True):
        game = GAMES["greed"].new(seats=2, settings={"two_player_pile": value})
        space = Space("greed", seats=2)
        (place,) = [span.start for span in space.layout() if span.part == "two_player_pile"]
        assert space.view_numbers(game.view(0))[place] == value


# -- examples
def printed(name: str) -> str:
    """Run an example, and return what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch and sb3, about what they are
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return out.getvalue()


def shares(text: str) -> list[int]:
    return [int(share) for share in re.findall(r"(\d+)%", text)]


def test_the_page_has_every_example_and_none_is_longer_than_forty_lines() -> None:
    files = sorted(EXAMPLES.glob("*.py"))
    assert len(files) == 3
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert code_lines(text) <= 40, file
        assert text.partition("\n\n")[2].strip() in PAGE


def test_the_example_of_sb3_trains() -> None:
    pytest.importorskip("sb3_contrib", reason=LIBRARIES)
    before, after = shares(printed("train_with_sb3.py"))
    assert after >= before


def test_the_example_of_torch_trains() -> None:
    pytest.importorskip("torch", reason=LIBRARIES)
    first, last = shares(printed("train_with_torch.py"))
    assert last > first


def test_the_example_of_open_spiel_finds_a_policy_that_is_not_even() -> None:
    pytest.importorskip("pyspiel", reason="needs the extra spiel, which has no build for Windows")
    chances = [float(line.split()[0]) for line in printed("solve_with_cfr.py").splitlines()]
    assert len(chances) > 1
    assert sum(chances) == pytest.approx(1, abs=0.01 * len(chances))
    assert max(chances) > 1.2 / len(chances)
