"""The numbering of each game and number of seats, as `numbering.json` has it: nobody changes it by accident.

`pytest --update-numbering tests/learn/test_numbering.py` writes the file anew.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cutpurse.games import GAMES
from cutpurse.learn import OtherNumbering, Space
from tests.properties.random_play import EVERY_GAME

FILE = Path(__file__).parent / "numbering.json"


def described(name: str) -> dict[str, dict[str, str | int]]:
    """Return the version and the sizes for each number of seats."""
    return {
        str(seats): {
            **space.stamp,
            "actions": space.actions,
            "planes": space.planes,
            "numbers": space.numbers,
            "option features": space.option_features,
        }
        for seats in GAMES[name].words.seats
        for space in [Space(name, seats)]
    }


def test_the_numbering_is_that_of_the_file(pytestconfig: pytest.Config) -> None:
    found = {name: described(name) for name in EVERY_GAME}
    if pytestconfig.getoption("--update-numbering"):
        FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(FILE.read_text(encoding="utf-8")), (
        "nets and data sets made so far would be refused; if that is meant, see the docstring of this file"
    )


def test_another_verb_face_or_number_of_seats_is_another_numbering(monkeypatch: pytest.MonkeyPatch) -> None:
    words = GAMES["greed"].words
    before = Space("greed", 4)
    assert Space("greed", 4).stamp == before.stamp
    assert Space("greed", 3).numbering != before.numbering
    with monkeypatch.context() as patch:
        patch.setattr(words, "cards", [*words.cards[1:], words.cards[0]])
        assert Space("greed", 4).numbering != before.numbering
    with monkeypatch.context() as patch:
        patch.setattr(words, "verbs", [words.verbs[1], words.verbs[0], *words.verbs[2:]])
        assert Space("greed", 4).numbering != before.numbering


def test_another_layout_is_another_arrangement_and_the_same_numbering() -> None:
    spaces = [Space("greed", 4), Space("greed", 4, history=8), Space("greed", 4, rows=True)]
    assert len({space.arrangement for space in spaces}) == 3
    assert len({space.numbering for space in spaces}) == 1


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"numbering": "sha256:0"}, "made with numbering 'sha256:0', here it is 'sha256:"),
        ({"arrangement": "sha256:0"}, "made with arrangement 'sha256:0', here it is 'sha256:"),
        ({"rules": "0"}, "made with rules '0', here it is '1': train or export anew, or install the version of cut"),
        ({"seats": 3}, "made with seats 3, here it is 4: "),
        ({"game": "szmal"}, "made with game 'szmal', here it is 'greed': "),
    ],
)
def test_a_net_of_another_numbering_is_refused_in_a_line(changed: dict[str, str | int], line: str) -> None:
    space = Space("greed", 4)
    space.check_stamp(json.loads(json.dumps(space.stamp)))
    with pytest.raises(OtherNumbering) as refused:
        space.check_stamp({**space.stamp, **changed})
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)


def test_a_net_without_a_stamp_is_refused() -> None:
    with pytest.raises(OtherNumbering, match=r"^made with game 'unknown', here it is 'greed': "):
        Space("greed", 4).check_stamp({})
