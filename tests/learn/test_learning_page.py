"""The page on learning agents: its programs run as printed, and its sizes are those of the numbering."""

from __future__ import annotations

import contextlib
import io
import json
import re
from pathlib import Path

import pytest

from cutpurse.games import GAMES
from tests.roots import CHECKOUT

TEXT = (CHECKOUT / "docs" / "how-to" / "train_a_learning_agent.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
NUMBERING = json.loads((Path(__file__).parent / "numbering.json").read_text(encoding="utf-8"))


def printed(name: str) -> list[str]:
    """Run a program of the page, and return the lines that it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(PROGRAMS[name], name, "exec"), {"__name__": "__main__"})
    return out.getvalue().splitlines()


def test_all_programs_of_the_page_are_tested() -> None:
    assert sorted(PROGRAMS) == ["agents.py", "batch.py", "search.py", "seat.py", "space.py", "stamp.py"]
    assert TEXT.count("```python") == len(PROGRAMS)


def test_the_numbers_of_greed_are_as_the_page_says() -> None:
    assert printed("space.py") == re.findall(r"space\.numbers\)  # (.*)$", TEXT, re.MULTILINE)


def test_a_net_of_another_number_of_seats_is_refused_as_the_page_says() -> None:
    (line,) = printed("stamp.py")
    (said,) = re.findall(r"print\(problem\)  # (.*) \.\.\.$", TEXT, re.MULTILINE)
    assert line.startswith(said)


def test_the_batch_of_the_page_ends_three_matches() -> None:
    lines = printed("batch.py")
    assert len(lines) >= 3
    assert all(re.fullmatch(r"\d+ \([1-4](, [1-4]){3}\) \(.*\)", line) for line in lines)


def test_the_seat_of_the_page_plays_a_match() -> None:
    (line,) = printed("seat.py")
    assert re.fullmatch(r"-?\d\.\d+ \{'seed': 7, 'match': 0, 'illegal': False\}", line)


def test_the_agents_of_the_page_share_what_is_to_be_won() -> None:
    lines = printed("agents.py")
    assert sorted(line.split()[0] for line in lines) == ["player_0", "player_1", "player_2", "player_3"]
    assert sum(float(line.split()[1]) for line in lines) == pytest.approx(0)


def test_the_search_of_the_page_chooses_a_card() -> None:
    (line,) = printed("search.py")
    assert line.startswith("play ")


@pytest.mark.parametrize(
    ("row", "size"),
    [("planes, bytes", "planes"), ("numbers", "numbers"), ("features of an option", "option features")],
)
def test_the_sizes_of_the_page_are_those_of_the_numbering(row: str, size: str) -> None:
    (cells,) = re.findall(rf"^\| {row}, 4 seats \|(.*)\|$", TEXT, re.MULTILINE)
    titles = re.findall(r"^\| \|(( [A-Z][^|]*\|){5})$", TEXT, re.MULTILINE)[0][0].strip(" |").split(" | ")
    games = {rules.words.title: name for name, rules in GAMES.items()}
    found = [f"{NUMBERING[games[title]]['4'][size]:,}" for title in titles]
    assert [cell.strip() for cell in cells.split("|")] == found


def test_the_counts_of_numbers_of_the_page_are_those_of_the_numbering() -> None:
    (cells,) = re.findall(r"^\| numbers of options, 4 seats \(fewest to most seats\) \|(.*)\|$", TEXT, re.MULTILINE)
    for name, cell in zip(
        ("greed", "szmal", "steal_and_plunder", "stolen_treasure", "bag_o_loot"), cells.split("|"), strict=True
    ):
        actions = [sizes["actions"] for sizes in NUMBERING[name].values()]
        span = f" ({actions[0]:,}-{actions[-1]:,})" if actions[0] != actions[-1] else ""
        assert cell.strip() == f"{NUMBERING[name]['4']['actions']:,}{span}"
