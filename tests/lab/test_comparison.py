"""`cutpurse compare`: the same deals for both versions, a verdict, and a state to go on from."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.lab.comparison import FAILING_BOARDS, ComparisonRun, compare, field_for
from cutpurse.leaderboard.statistics.sprt import Design, Verdict
from cutpurse.sdk.bot import BotMaker, load_bot
from tests.sdk.bot_files import CRASHES, FIRST, bot_file
from tests.typed import run

# Goes on until three cards lie in the middle, and keeps what it has.
CAREFUL = """
class Bot:
    def choose(self, view, decision):
        if decision.ask == "go_on_or_stop":
            return 0 if len(view.middle) >= 3 else 1
        return decision.safe
"""
# Cannot be made for its first match on the third board.
FAILS_AT_THIRD_BOARD = """
made = 0


class Bot:
    def __init__(self):
        global made
        made += 1
        assert made != 5

    def choose(self, view, decision):
        return decision.safe
"""
READS_A_NUMBER = """
from pathlib import Path


class Bot:
    def choose(self, view, decision):
        if decision.ask == "go_on_or_stop":
            return 0 if len(view.middle) >= int(Path(__file__).with_suffix(".txt").read_text()) else 1
        return decision.safe
"""
# Thinks for ever in its first match of the third board.
THINKS_IN_FIFTH_MATCH = """
import os


class Bot:
    matches = 0

    def choose(self, view, decision):
        while Bot.matches == 5:
            pass
        return decision.safe

    def start(self, match):
        Bot.matches += 1
        if Bot.matches == 5:
            os.write(2, b"thinking\\n")
"""
NEVER_WORKS = str(Path(__file__).parents[1] / "sdk" / "never_works.py")
SMALL = Design(max_boards=6, min_boards=6)
FEW = Design(max_boards=3, min_boards=3)


def test_a_bot_against_itself_never_differs() -> None:
    done = compare("greed", "random", "random", seats=3, design=SMALL)
    assert (done.result.boards, done.result.differing, done.result.verdict) == (6, 0, Verdict.NOT_BETTER)


def test_a_comparison_of_a_bot_with_itself_ends_early_and_says_so(tmp_path: Path) -> None:
    shown = run("compare", "greed", "random", "random", "--seats", 2)
    said = "not better: both are the same bot, after 20 boards, alike on each"
    line, digest = shown.stdout.splitlines()
    assert (shown.exit_code, line) == (0, f"random against random: {said}")
    one, other, state = (tmp_path / name for name in ("one.py", "other.py", "state.json"))
    for path in (one, other):
        path.write_text(CAREFUL, encoding="utf-8")
    words = ("compare", "greed", one, other, "--seats", 2, "--state", state)
    assert said in run(*words).stdout
    assert (
        digest
        == f"digest {json.loads(run('compare', 'greed', 'random', 'random', '--seats', 2, '--json').stdout)['digest']}"
    )
    document = json.loads(run(*words, "--json").stdout)
    assert (document["verdict"], document["boards"], document["resumed"], document["is_same"]) == (
        "not better",
        20,
        20,
        True,
    )


def test_copies_of_a_file_that_read_other_numbers_are_two_bots(tmp_path: Path) -> None:
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    for path, cards in ((one, 1), (other, 3)):
        path.write_text(READS_A_NUMBER, encoding="utf-8")
        path.with_suffix(".txt").write_text(str(cards), encoding="utf-8")
    done = compare("greed", str(one), str(other), seats=2, design=Design(max_boards=40))
    assert (done.is_same, done.result.boards > 20, done.result.differing > 0) == (False, True, True)


def test_an_interrupt_says_what_is_known_and_how_to_go_on(tmp_path: Path) -> None:
    bot, state = tmp_path / "thinks.py", tmp_path / "state.json"
    bot.write_text(THINKS_IN_FIFTH_MATCH, encoding="utf-8")
    for more, last in (
        (("--state", str(state)), f"the boards are kept in {state}: the same command goes on from there"),
        ((), "these boards are not kept; to be able to go on, start it with --state compare.json: the same command"),
    ):
        words = [sys.executable, "-m", "cutpurse.cli", "compare", "greed", str(bot), "random", "--seats", "2"]
        with subprocess.Popen([*words, *more], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                assert process.stderr.readline() == "thinking\n"
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=240)
            finally:
                process.kill()
        known, how, interrupted = err.splitlines()
        assert (process.returncode, out) == (130, "")
        assert known.startswith(f"{bot} against random: ")
        assert "after 2 boards" in known
        assert how.startswith(last)
        assert interrupted.startswith("interrupted")
    assert json.loads(state.read_text(encoding="utf-8"))["test"]["boards"] == 2


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

    one = ComparisonRun(GAMES["greed"], named("new"), named("old"), (named("x"), named("y")), 0, {})
    one.board(0)
    new, old = ([one for one in seated if one[0] == name] for name in ("new", "old"))
    assert [seat for _, seat, _ in new] == [0, 1, 2]
    assert [one[1:] for one in new] == [one[1:] for one in old]
    assert sorted(seat for name, seat, _ in seated[:9] if name == "x") == [0, 1, 2]
    field = [[seat for name, seat, _ in seated if name == other] for other in "xy"]
    assert [seats[:3] for seats in field] == [seats[3:] for seats in field]  # beside NEW as beside OLD


def test_over_the_boards_everybody_of_the_field_sits_left_of_the_compared_bot_equally_often() -> None:
    seats: list[tuple[str, ...]] = []

    class Notes:
        def start(self, match: Any) -> None:
            if match.seat == 0:
                seats.append(match.seats)

        def choose(self, view: Any, decision: Any) -> int:
            return 0

    new, old, *field = (BotMaker(name, Notes) for name in ("new", "old", "x", "y", "z"))
    one = ComparisonRun(GAMES["greed"], new, old, tuple(field), 0, {})
    for board in range(3):
        one.board(board)
    left = Counter((row[seat - 1], name) for row in seats for seat, name in enumerate(row))
    compared = {pair: count for pair, count in left.items() if {"new", "old"} & set(pair)}
    assert compared == {pair: 4 for one in ("new", "old") for other in "xyz" for pair in ((one, other), (other, one))}


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
    board = ComparisonRun.board

    def note(self: ComparisonRun, number: int, watch: Any) -> Any:
        played.append(number)
        return board(self, number, watch)

    monkeypatch.setattr(ComparisonRun, "board", note)
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
    del saved["failures"], saved["taken_over"]  # as it was written before failures were kept
    state.write_text(json.dumps(saved), encoding="utf-8")
    assert run(*words, 1).exit_code == 0
    state.write_text(json.dumps({**saved, "failures": [{"bot": 0}]}), encoding="utf-8")
    assert "is no state of a comparison" in run(*words, 1).stderr


@pytest.mark.parametrize("counts", [5, [1], [1, 0, 0, 0], [-1, 0, 0], [0, 7, 0], ["1", 0, 0]])
def test_counts_of_failed_boards_that_cannot_be_are_refused(tmp_path: Path, counts: object) -> None:
    path, state = bot_file(tmp_path, FIRST), tmp_path / "state.json"
    compare("greed", path, "random", seats=2, design=SMALL, state=state)
    saved = json.loads(state.read_text(encoding="utf-8"))
    state.write_text(json.dumps({**saved, "taken_over": counts}), encoding="utf-8")
    with pytest.raises(UsageError, match="is no state of a comparison"):
        compare("greed", path, "random", seats=2, design=SMALL, state=state)


def test_a_version_that_never_works_gets_no_verdict() -> None:
    shown = run("compare", "greed", NEVER_WORKS, "random")
    assert shown.exit_code == 3
    said, digest = shown.stdout.splitlines()
    assert said == f"no verdict: {NEVER_WORKS} failed in {FAILING_BOARDS} of {FAILING_BOARDS} boards"
    document = json.loads(run("compare", "greed", NEVER_WORKS, "random", "--json").stdout)
    assert document["verdict"] is None
    assert document["reason"] == said
    assert digest == f"digest {document['digest']}"
    assert document["taken_over"] == {"new": FAILING_BOARDS, "old": 0, "field": [0, 0, 0]}


def test_a_version_that_fails_now_and_then_gets_no_verdict_and_few_boards(tmp_path: Path) -> None:
    path, state = bot_file(tmp_path, FAILS_AT_THIRD_BOARD), tmp_path / "state.json"
    design = Design(max_boards=200, min_boards=6)
    done = compare("greed", path, "random", seats=2, design=design, state=state)
    assert (done.result.boards, done.taken_over, done.has_verdict) == (6, (1, 0, 0), False)
    again = compare("greed", path, "random", seats=2, design=design, state=state)
    assert (again.result.boards, again.resumed, again.taken_over) == (6, 6, (1, 0, 0)), "the state keeps the count"


def test_an_old_version_that_fails_is_said_and_the_verdict_stands() -> None:
    shown = run("compare", "greed", "random", NEVER_WORKS, "--seats", 2, "--max-boards", 60)
    first, second, _ = shown.stdout.splitlines()
    assert first.startswith(f"random against {NEVER_WORKS}: better: ")
    boards = re.search(r"after (\d+) boards", first)
    assert boards is not None
    assert second == f"{NEVER_WORKS} was taken over on {boards[1]} of {boards[1]} boards: it came last there"
    assert shown.exit_code == 3, "a bot failed"


def test_a_state_of_the_earlier_rule_of_places_is_read_unless_a_bot_failed(tmp_path: Path) -> None:
    for source, is_read in ((FIRST, True), (CRASHES, False)):
        path, state = bot_file(tmp_path, source), tmp_path / f"{is_read}.json"
        compare("greed", path, "random", seats=2, design=SMALL, state=state)
        saved = json.loads(state.read_text(encoding="utf-8"))
        del saved["taken_over"]
        state.write_text(json.dumps(saved), encoding="utf-8")
        if is_read:
            assert compare("greed", path, "random", seats=2, design=SMALL, state=state).resumed == 6
        else:
            with pytest.raises(UsageError, match="placed bots that failed by their cards: remove it"):
                compare("greed", path, "random", seats=2, design=SMALL, state=state)


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


def test_a_state_from_before_neighbours_varied_is_refused_by_name(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    compare("greed", "greedy", "random", seats=2, design=SMALL, state=state)
    saved = json.loads(state.read_text(encoding="utf-8"))
    del saved["comparison"]["seating"]
    state.write_text(json.dumps(saved), encoding="utf-8")
    with pytest.raises(UsageError, match="is the state of another comparison: seating differ"):
        compare("greed", "greedy", "random", seats=2, design=SMALL, state=state)


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


def test_luck_adjusted_stands_beside_the_verdict_and_changes_none() -> None:
    plain = compare("greed", "random", "first_option", seats=2, design=FEW)
    adjusted = compare("greed", "random", "first_option", seats=2, design=FEW, luck_adjusted=True)
    assert (plain.result, plain.digest, plain.adjusted) == (adjusted.result, adjusted.digest, None)
    assert adjusted.adjusted is not None
    assert adjusted.adjusted.boards == FEW.max_boards
    low, high = adjusted.adjusted.interval
    assert low < adjusted.adjusted.gain < high


def test_luck_adjusted_boards_go_on_from_their_state(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    whole = compare("greed", "random", "first_option", seats=2, design=FEW, luck_adjusted=True)
    first = Design(max_boards=1, min_boards=1)
    compare("greed", "random", "first_option", seats=2, design=first, state=kept, luck_adjusted=True)
    resumed = compare("greed", "random", "first_option", seats=2, design=FEW, state=kept, luck_adjusted=True)
    assert (resumed.resumed, resumed.adjusted) == (1, whole.adjusted)

    more = Design(max_boards=4, min_boards=4)
    compare("greed", "random", "first_option", seats=2, design=more, state=kept)
    saved = json.loads(kept.read_text(encoding="utf-8"))
    assert "luck" not in saved


def test_a_state_without_luck_is_refused_where_luck_is_asked_for(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    design = Design(max_boards=2, min_boards=2)
    compare("greed", "random", "first_option", seats=2, design=design, state=kept)
    with pytest.raises(UsageError, match="luck differ"):
        compare("greed", "random", "first_option", seats=2, design=design, state=kept, luck_adjusted=True)


def test_broken_sums_of_luck_are_refused(tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    design = Design(max_boards=2, min_boards=2)
    compare("greed", "random", "first_option", seats=2, design=design, state=kept, luck_adjusted=True)
    saved = json.loads(kept.read_text(encoding="utf-8"))
    for broken in (None, {}, {**saved["luck"], "boards": 3}, {**saved["luck"], "total": "much"}):
        kept.write_text(json.dumps({**saved, "luck": broken}), encoding="utf-8")
        with pytest.raises(UsageError, match="luck"):
            compare("greed", "random", "first_option", seats=2, design=design, state=kept, luck_adjusted=True)


def test_the_command_prints_the_gain_without_luck() -> None:
    asked = ["compare", "greed", "random", "first_option", "--seats", "2", "--max-boards", "3", "--luck-adjusted"]
    text = run(*asked)
    assert re.search(r"without the luck of the cards: gain [+-]\d\.\d{3}, between [+-]\d+\.\d{3} and ", text.stdout)
    document = json.loads(run(*asked, "--json").stdout)["luck_adjusted"]
    low, high = document["interval"]
    assert low < document["gain"] < high
    assert json.loads(run(*asked[:-1], "--json").stdout)["luck_adjusted"] is None
