"""The page on learning agents: its programs run as printed."""

from __future__ import annotations

import contextlib
import io
import json
import re

import pytest

from tests.roots import CHECKOUT

PAGE = (CHECKOUT / "docs" / "how-to" / "train_a_learning_agent.md").read_text(encoding="utf-8")
TEXT = PAGE.partition("## Make a data set\n")[0]
PROGRAMS = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))


def printed(name: str) -> list[str]:
    """Run a program of the page, and return the lines that it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(PROGRAMS[name], name, "exec"), {"__name__": "__main__"})
    return out.getvalue().splitlines()


def test_all_programs_of_the_page_are_tested() -> None:
    names = ("agents", "batch", "belief", "recurrent", "search", "seat", "space", "stamp")
    assert sorted(PROGRAMS) == [f"{name}.py" for name in names]
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


def test_the_belief_of_the_page_counts_the_cards_of_every_seat() -> None:
    (line,) = printed("belief.py")
    counts = json.loads(line[line.index("[") :])
    assert len(counts) == 4
    assert all(count > 0 and count == round(count) for count in counts), "how many cards a seat has is no secret"


def test_the_recurrent_agent_of_the_page_learns_from_whole_matches() -> None:
    pytest.importorskip("torch")
    (line,) = printed("recurrent.py")
    assert int(line.split()[0]) > 100


@pytest.mark.parametrize("name", ["belief.py", "recurrent.py"])
def test_an_example_of_memory_is_short(name: str) -> None:
    assert len(PROGRAMS[name].splitlines()) < 40


def test_the_search_of_the_page_chooses_a_card() -> None:
    (line,) = printed("search.py")
    assert line.startswith("play ")
