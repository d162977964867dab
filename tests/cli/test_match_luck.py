"""`cutpurse match replay --luck`: what the cards gave each seat of a recorded match."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import write_record
from cutpurse.games import game_named
from cutpurse.lab.position_features import FEATURES
from cutpurse.sdk.local import play
from tests.properties.random_play import EVERY_GAME
from tests.typed import run


def recorded(game: str, folder: Path) -> str:
    """Play a short match and return the file of its record."""
    file = folder / f"{game}.jsonl"
    settings = {"rounds": 1} if game == "bag_o_loot" else {}
    play(game, ["greedy", "random", "greedy"], seed=3, settings=settings, record=file)
    return str(file)


@pytest.mark.parametrize("game", EVERY_GAME)
def test_the_luck_of_a_match_is_shown_by_seat_and_by_draw(game: str, tmp_path: Path) -> None:
    file = recorded(game, tmp_path)
    told = json.loads(run("match", "replay", "--luck", file, "--json").stdout)
    assert told["game"] == game
    seats = told["seats"]
    assert sorted(seat["bot"] for seat in seats) == ["greedy", "greedy", "random"]
    assert sum(seat["luck"] for seat in seats) == pytest.approx(0, abs=1e-9)
    assert any(seat["luck"] for seat in seats)
    lines = run("match", "replay", "--luck", file).stdout.splitlines()
    for seat, line in zip(seats, lines[1:4], strict=True):
        points, luck, rest = map(float, line.split()[3:])
        assert points == pytest.approx(seat["points"], abs=0.006)
        assert luck == pytest.approx(seat["luck"], abs=0.006)
        assert rest == pytest.approx(points - luck, abs=0.011)
    gifts = [gift for seat in seats for gift in seat["luckiest"]]
    assert len(lines) == 4 + len(gifts)
    assert all(gift["luck"] > 0 for gift in gifts)
    said = re.compile(r"the deal|decision \d+, seat \d: .+|after decision \d+, a move of seat \d without a choice")
    assert all(said.fullmatch(gift["text"]) for gift in gifts)
    assert "-0.00" not in "".join(lines)


def test_a_draw_is_named_by_its_decision(tmp_path: Path) -> None:
    file = recorded("stolen_treasure", tmp_path)
    told = json.loads(run("match", "replay", "--luck", file, "--json").stdout)
    gifts = [gift for seat in told["seats"] for gift in seat["luckiest"] if gift["text"].startswith("decision")]
    assert gifts
    for gift in gifts:
        number, seat = re.findall(r"\d+", gift["text"])[:2]
        replayed = run("match", "replay", file, "--at", number, "--json")
        assert json.loads(replayed.stdout)["seat"] == int(seat)
        assert any(
            option["chosen"] and option["text"] in gift["text"] for option in json.loads(replayed.stdout)["options"]
        )


def test_what_has_no_luck_is_said_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = recorded("greed", tmp_path)
    shown = run("match", "replay", "--luck", file, "--match", 7)
    assert (shown.exit_code, shown.stderr) == (2, f"cutpurse: --match 7: {file} has matches 0 to 0\n")
    for words in (("--at", 0), ("--seat", 0), ("--as-test",)):
        shown = run("match", "replay", file, "--luck", *words)
        assert (shown.exit_code, "--luck is of all seats and decisions" in shown.stderr) == (2, True)
    match = Match(game_named("greed"), ["a", "b"], bytes(32), log=True)
    match.void(EndCause.VOID_SERVER)
    void = tmp_path / "void.jsonl"
    void.write_text(f"{write_record(match)}\n", encoding="utf-8")
    shown = run("match", "replay", "--luck", str(void))
    assert (shown.exit_code, shown.stderr.count("\n")) == (4, 1)
    assert "has no places" in shown.stderr
    monkeypatch.delitem(FEATURES, "greed")  # as of a game from another package
    shown = run("match", "replay", "--luck", file)
    assert (shown.exit_code, shown.stderr.count("\n")) == (2, 1)
    assert "has no value function" in shown.stderr
