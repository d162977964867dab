"""`cutpurse compare`: the same deals for both versions, a verdict, and a state to go on from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.sdk.boards import Boards, compare, field_for
from cutpurse.sdk.bot import BotMaker, load_bot
from cutpurse.sdk.sprt import Design, Verdict
from tests.sdk.bot_files import CRASHES, FIRST, bot_file
from tests.sdk.test_command_line import run

# Goes on until three cards lie in the middle, and keeps what it has.
CAREFUL = """
class Bot:
    def choose(self, view, decision):
        if decision.ask == "go_on_or_stop":
            return 0 if len(view.middle) >= 3 else 1
        return decision.safe
"""
SMALL = Design(max_boards=6, min_boards=6)


def test_a_bot_against_itself_never_differs() -> None:
    done = compare("greed", "random", "random", seats=3, design=SMALL)
    assert (done.result.boards, done.result.differing, done.result.verdict) == (6, 0, Verdict.UNDECIDED)


def test_a_better_bot_is_found_better_and_the_other_way_round_not(tmp_path: Path) -> None:
    path = bot_file(tmp_path, CAREFUL)
    better = compare("greed", path, "random", seats=2, design=Design(max_boards=200))
    assert better.result.verdict is Verdict.BETTER
    worse = compare("greed", "random", path, seats=2, design=Design(max_boards=200))
    assert worse.result.verdict is Verdict.NOT_BETTER
    assert better.result.gain > 0 > worse.result.gain


def test_each_version_sits_once_in_every_seat_with_the_same_deal() -> None:
    seated: list[tuple[str, int, str]] = []

    def named(name: str) -> BotMaker:
        class Notes:
            def start(self, match: Any) -> None:
                seated.append((name, match.seat, str(match.chance.random())))

            def choose(self, view: Any, decision: Any) -> int:
                return 0

        return BotMaker(name, Notes)

    one = Boards(GAMES["greed"], named("new"), named("old"), (named("x"), named("y")), 0, {})
    one.board(0)
    new, old = ([one for one in seated if one[0] == name] for name in ("new", "old"))
    assert [seat for _, seat, _ in new] == [0, 1, 2]
    assert [one[1:] for one in new] == [one[1:] for one in old]
    assert [seat for name, seat, _ in seated if name == "x"] == [1, 2, 0] * 2


def test_the_field_fills_the_seats_over_and_over() -> None:
    assert [bot.name for bot in field_for([load_bot("random")], 4)] == ["random"] * 3
    with pytest.raises(UsageError, match="a field of 0 bots"):
        field_for([], 3)


def test_processes_do_not_change_the_result(tmp_path: Path) -> None:
    path = bot_file(tmp_path, FIRST)
    one, two = (compare("greed", path, "random", seats=3, design=SMALL, jobs=jobs).result for jobs in (1, 2))
    assert one == two


def test_a_comparison_that_was_broken_off_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, state = bot_file(tmp_path, FIRST), tmp_path / "state.json"
    whole = compare("greed", path, "random", seats=2, design=SMALL).result

    def interrupt(at: Any) -> None:
        if at.boards == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare("greed", path, "random", seats=2, design=SMALL, state=state, progress=interrupt)
    assert json.loads(state.read_text(encoding="utf-8"))["test"]["boards"] == 2
    assert list(tmp_path.glob("*.new")) == []
    played: list[int] = []
    board = Boards.board

    def note(self: Boards, number: int) -> Any:
        played.append(number)
        return board(self, number)

    monkeypatch.setattr(Boards, "board", note)
    done = compare("greed", path, "random", seats=2, design=SMALL, state=state)
    assert done.result == whole
    assert (done.resumed, played) == (2, [2, 3, 4, 5])
    again = compare("greed", path, "random", seats=2, design=SMALL, state=state)
    assert (again.result, played) == (whole, [2, 3, 4, 5])


def test_a_bot_that_failed_before_a_comparison_was_broken_off_is_told_at_its_end(tmp_path: Path) -> None:
    path, state = bot_file(tmp_path, CRASHES), tmp_path / "state.json"
    words = ("compare", "greed", path, "random", "--seats", 2, "--state", state, "--max-boards")
    first = run(*words, 1)
    again = run(*words, 1)
    assert (first.exit_code, again.exit_code) == (3, 3)
    assert again.stderr == first.stderr
    assert f"bot {path} crashed in match 0, " in first.stderr
    saved = json.loads(state.read_text(encoding="utf-8"))
    del saved["failures"]  # as it was written before failures were kept
    state.write_text(json.dumps(saved), encoding="utf-8")
    assert run(*words, 1).exit_code == 0
    state.write_text(json.dumps({**saved, "failures": [{"bot": 0}]}), encoding="utf-8")
    assert "is no state of a comparison" in run(*words, 1).stderr


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        ({"seed": 1}, "seed"),
        ({"seats": 3}, "field"),
        ({"settings": {"specials": "none"}}, "settings"),
        ({"new": "random"}, "new"),
        ({"game": "bag_o_loot"}, "game"),
    ],
)
def test_the_state_of_another_comparison_is_refused(tmp_path: Path, change: dict[str, Any], differs: str) -> None:
    path, state = bot_file(tmp_path, FIRST), tmp_path / "state.json"
    arguments: dict[str, Any] = {"game": "greed", "new": path, "old": "random", "seats": 2, "design": SMALL}
    compare(**arguments, state=state)
    with pytest.raises(UsageError, match=f"is the state of another comparison: .*{differs}.* differ"):
        compare(**(arguments | change), state=state)


def test_an_edited_bot_is_another(tmp_path: Path) -> None:
    path, state = bot_file(tmp_path, FIRST), tmp_path / "state.json"
    compare("greed", path, "random", seats=2, design=SMALL, state=state)
    bot_file(tmp_path, CAREFUL)
    with pytest.raises(UsageError, match="another comparison: new differ"):
        compare("greed", path, "random", seats=2, design=SMALL, state=state)


@pytest.mark.parametrize("content", ["", "[]", '{"test": 3}', '{"comparison": {}, "test": {"format": 1}}'])
def test_a_file_that_is_no_state_is_refused(tmp_path: Path, content: str) -> None:
    state = tmp_path / "state.json"
    state.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="is no state of a comparison") as raised:
        compare("greed", "random", "random", state=state)
    assert "\n" not in str(raised.value)
    assert state.read_text(encoding="utf-8") == content


def test_the_command_gives_a_verdict_in_a_sentence(tmp_path: Path) -> None:
    path, state = bot_file(tmp_path, CAREFUL), tmp_path / "state.json"
    shown = run("compare", "greed", path, "random", "--seats", 2, "--max-boards", 200, "--state", state)
    assert shown.exit_code == 0
    assert shown.stdout.startswith(f"{path} against random: better: gain +")
    document = json.loads(
        run("compare", "greed", path, "random", "--seats", 2, "--max-boards", 200, "--state", state, "--json").stdout
    )
    assert document["verdict"] == "better"
    assert document["resumed"] == document["boards"] >= 20
    assert document["interval"][0] >= 0 < document["gain"] <= document["interval"][1]


def test_a_version_that_crashes_is_told(tmp_path: Path) -> None:
    path = bot_file(tmp_path, CRASHES)
    shown = run("compare", "greed", path, "random", "--seats", 2, "--max-boards", 2)
    assert shown.exit_code == 3
    assert len(shown.stderr.splitlines()) == 1
    assert f"bot {path} crashed in match 0, seat 0, " in shown.stderr
