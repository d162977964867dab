"""`cutpurse match`: records are shown, verified, and turned into tests that run."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from cutpurse.cli.as_test import as_test
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import read_record, write_record
from cutpurse.games import GAMES, game_named
from cutpurse.sdk.local import play
from cutpurse.sdk.matches.match_file import FiledMatch, read_matches
from cutpurse.sdk.playing import positions
from cutpurse.sdk.playing.positions import ask_again
from tests.sdk.bot_files import CRASHES, FIRST, LAST, bot_file
from tests.typed import run

VIEWERS: dict[int | None, tuple[str, ...]] = {None: (), 0: ("--seat", "0"), 2: ("--seat", "2")}


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Three matches of Greed."""
    path = tmp_path / "run.jsonl"
    play("greed", [bot_file(tmp_path, FIRST), "random", "random"], matches=3, seed=5, record=path)
    return path


def test_a_replay_says_why_safe_options_were_taken_and_that_a_match_is_void(tmp_path: Path) -> None:
    match = Match(GAMES["greed"], ["ann", "bob"], bytes(32), log=True)
    for cause in (EndCause.TIMEOUT, EndCause.DISCONNECTED, EndCause.ILLEGAL, EndCause.CRASHED):
        asked = match.decision()
        assert asked is not None
        match.fault(asked.seat, asked.number, cause, "")
    match.void(EndCause.VOID_OPERATOR)
    path = tmp_path / "void.jsonl"
    path.write_text(write_record(match) + "\n", encoding="utf-8")
    assert "the match is void: void_operator" in run("match", "verify", path).stdout
    lines = run("match", "replay", path).stdout.splitlines()
    why = [line.partition(" (the safe option: ")[2] for line in lines if "the safe option" in line]
    assert why == ["no answer in time)", "the bot was away)", "the bot answered illegally)", "the bot crashed)"]
    assert lines[-1] == "the match is void: void_operator"


@pytest.mark.parametrize("conduct", [1, 2])
def test_a_record_is_verified_by_the_rule_for_failed_seats_of_its_time(conduct: int, tmp_path: Path) -> None:
    match = Match(GAMES["greed"], ["ann", "bob"], bytes(32), log=True, conduct=conduct)
    while decision := match.decision():
        if decision.seat == 0:
            match.give_up(0, decision.number, "")
        else:
            match.answer(1, decision.number, match.safe_option(1))
    path = tmp_path / "run.jsonl"
    path.write_text(write_record(match) + "\n", encoding="utf-8")
    assert path.read_text(encoding="utf-8").startswith(f'{{"schema":{conduct},')
    shown = run("match", "verify", path)
    assert shown.exit_code == 0
    assert match.game.places() == [1, 2], "by its cards the seat that was taken over is first"
    expected = [1, 2] if conduct == 1 else [2, 1]
    assert f"places {expected}" in shown.stdout
    assert f"seat 0 (ann): place {expected[0]}, " in run("match", "replay", path).stdout


def redigest(text: str) -> str:
    """A line with the digest that fits it."""
    body = text.rpartition(',"digest":"')[0]
    return f'{body},"digest":"{sha256(body.encode()).hexdigest()}"}}'


def test_verify_says_what_it_checked(record: Path) -> None:
    shown = run("match", "verify", record)
    assert shown.exit_code == 0
    assert shown.stdout.count("the digest fits the ") == 3
    assert shown.stdout.splitlines()[-1] == "3 of 3 matches are as recorded"
    document = json.loads(run("match", "verify", record, "--json").stdout)
    assert [len(match["checked"]) for match in document["matches"]] == [4, 4, 4]


@pytest.mark.parametrize("game", list(GAMES))
def test_records_of_every_game_verify_and_are_shown(game: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    play(game, [bot_file(tmp_path, CRASHES), "random", "random", "random"], seed=1, record=path)
    assert run("match", "verify", path).exit_code == 0
    assert run("match", "replay", path).exit_code == 0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda line: line[:-30], "not a whole record"),
        (lambda line: "", "not a whole record"),
        (lambda line: line.replace('"random"', '"rigged"', 1), "was altered: its digest does not fit its bytes"),
        (lambda line: redigest(line.replace('"rules":"1"', '"rules":"0"')), "made under version 0 of the rules"),
        (lambda line: redigest(line.replace('"game":"greed"', '"game":"gred"')), "no game is called 'gred'"),
        (lambda line: redigest(line.replace('"scores":[', '"scores":[9')), "the result is not "),
        (lambda line: redigest(line.replace('"schema":2', '"schema":7')), "has schema 7; this version reads 1 to 2"),
    ],
)
def test_a_record_that_does_not_hold_is_refused(record: Path, change: Callable[[str], str], said: str) -> None:
    lines = record.read_text(encoding="utf-8").splitlines()
    lines[1] = change(lines[1])
    record.write_text("\n".join(lines) + "\n", encoding="utf-8")
    shown = run("match", "verify", record)
    assert shown.exit_code == 1
    (line,) = shown.stderr.splitlines()
    assert f"{record}, line 2: " in line
    assert said in line


@pytest.mark.parametrize(("content", "said"), [(b"", "is empty"), (b"\xff\xfe", "cannot be read as a record")])
def test_a_file_that_is_no_record_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    shown = run("match", "verify", path)
    assert (shown.exit_code, said in shown.stderr) == (1, True)


def test_a_file_is_read_a_match_at_a_time(record: Path) -> None:
    lines = record.read_bytes().splitlines(keepends=True)
    taken = []

    def read() -> Iterator[bytes]:
        for line in lines:
            taken.append(line)
            yield line

    for number, filed in enumerate(read_matches(read())):
        assert filed.line == number + 1
        assert taken == lines[: number + 1], "no line is read before it is its turn"
        assert filed.text == lines[number].decode().rstrip("\n")
    assert len(taken) == 3


def test_a_match_is_shown_step_by_step(record: Path) -> None:
    shown = run("match", "replay", record, "--match", 1)
    assert shown.exit_code == 0
    assert "as a spectator sees it" in shown.stdout
    assert "decision 0: seat " in shown.stdout
    assert "card face down: from draw pile to hand of seat 0 (7 times)" in shown.stdout
    own = run("match", "replay", record, "--match", 1, "--seat", 0).stdout
    assert "from draw pile to hand of seat 0 (7 times)" not in own
    assert "as seat 0 sees it" in own


def test_a_decision_is_shown_with_its_table(record: Path) -> None:
    shown = run("match", "replay", record, "--at", 4).stdout
    assert "decision 4: seat " in shown
    assert "<- chosen" in shown
    assert "safe" in shown
    asked = int(shown.partition("decision 4: seat ")[2][0])
    other = run("match", "replay", record, "--at", 4, "--seat", (asked + 1) % 3).stdout
    assert "<- chosen" not in other


def test_a_match_as_json_is_a_line_an_event_and_a_decision(record: Path) -> None:
    shown = {seat: run("match", "replay", record, "--match", 1, "--json", *words) for seat, words in VIEWERS.items()}
    rows = {seat: [json.loads(line) for line in one.stdout.splitlines()] for seat, one in shown.items()}
    kept = json.loads(record.read_text(encoding="utf-8").splitlines()[1])
    for seat, told in rows.items():
        assert told[0]["began"] == {
            "game": "greed",
            "rules_version": kept["rules"],
            "settings": {},
            "seats": kept["seats"],
            "seat": seat,
        }
        assert told[-1] == {"over": kept["result"]}
        assert [row["number"] for row in told if "number" in row] == list(range(sum("number" in row for row in told)))
        decisions = [row for row in told if "decision" in row]
        assert [row["at"] for row in decisions] == list(range(len(kept["choices"])))
        for row, choice in zip(decisions, kept["choices"], strict=True):
            assert row["decision"]["seat"] == choice[0]
            if seat == choice[0]:
                assert row["decision"]["option"] == choice[1:]
            else:
                assert set(row["decision"]) == {"seat", "ask", "cause"}  # what was chosen is not for everybody
    hidden = [row["text"] for row in rows[None] if "number" in row and "card face down" in row["text"]]
    assert len(hidden) > 10


def test_a_decision_as_json_has_its_view_and_options(record: Path) -> None:
    told = json.loads(run("match", "replay", record, "--at", 4, "--json").stdout)
    assert (told["at"], told["view"]["viewer"], told["cause"]) == (4, told["seat"], "normal")
    assert [option["index"] for option in told["options"]] == list(range(len(told["options"])))
    assert sum(option["chosen"] for option in told["options"]) == 1
    assert sum(option["safe"] for option in told["options"]) == 1
    other = (told["seat"] + 1) % 3
    theirs = json.loads(run("match", "replay", record, "--at", 4, "--json", "--seat", other).stdout)
    assert "options" not in theirs
    assert theirs["view"]["viewer"] == other
    words = game_named("greed").words
    assert list(told["view"]["counters"]) == [counter.name for counter in words.table_counters]
    assert [list(values) for values in told["view"]["seat_counters"]] == 3 * [[one.name for one in words.seat_counters]]
    assert {zone["kind"] for zone in told["view"]["zones"]} <= {kind.name for kind in words.zones}
    both = run("match", "replay", record, "--at", 4, "--json", "--as-test")
    assert (both.exit_code, "--as-test is a test" in both.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--match", "3"], "has matches 0 to 2"),
        (["--seat", "3"], "has seats 0 to 2"),
        (["--at", "9999"], "has no decision 9999; it has 0 to "),
        (["--as-test"], "--as-test needs --at"),
    ],
)
def test_what_a_record_does_not_have_is_told(record: Path, options: list[str], said: str) -> None:
    shown = run("match", "replay", record, *options)
    assert shown.exit_code == 2
    assert said in shown.stderr


def own_decisions(record: Path, seat: int) -> list[int]:
    """The numbers of the decisions of a seat."""
    lines = run("match", "replay", record).stdout.splitlines()
    return [int(line.split()[1][:-1]) for line in lines if line.startswith("decision ") and f": seat {seat}," in line]


def test_a_decision_becomes_a_test_that_runs(record: Path, tmp_path: Path) -> None:
    seats = read_record(record.read_text(encoding="utf-8").splitlines()[0]).seats
    at = own_decisions(record, seats.index(str(tmp_path / "my_bot.py")))[-1]
    shown = run("match", "replay", record, "--at", at, "--as-test")
    assert shown.exit_code == 0
    (tmp_path / "test_then.py").write_text(shown.stdout, encoding="utf-8")
    # The random bot is asked as it was then: its own chance comes from the record.
    theirs = run("match", "replay", record, "--at", own_decisions(record, seats.index("random"))[-1], "--as-test")
    (tmp_path / "test_theirs.py").write_text(theirs.stdout, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    passed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "2 passed" in passed.stdout, passed.stdout
    bot_file(tmp_path, LAST)
    failed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "1 failed, 1 passed" in failed.stdout, failed.stdout


@pytest.mark.parametrize("game", list(GAMES))
def test_a_test_asks_any_bot_of_any_game_again(game: str, tmp_path: Path) -> None:
    """Every decision of the random bots is chosen again, whatever polls and forced answers lie before it."""
    path = tmp_path / "run.jsonl"
    play(game, ["random"] * 4, seed=2, record=path)
    record = read_record(path.read_text(encoding="utf-8"))
    for end in range(1, len(record.choices), 7):
        choices = record.choices[:end]
        answer = ask_again(
            "random",
            game=game,
            rules=record.rules,
            key=record.key.hex(),
            seats=record.seats,
            settings=record.settings,
            choices=choices,
        )
        assert answer.verb == choices[-1][1]
        assert [str(card and card.name) for card in answer.cards] == choices[-1][2].get("cards", [])
        assert answer.seat == choices[-1][2].get("seat")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks at the clock twice finds that 50 ms have passed."""
    monkeypatch.setattr(positions, "perf_counter", partial(next, itertools.count(1.0, 0.05)))


@pytest.mark.usefixtures("slow")
def test_a_bot_that_thinks_for_too_long_is_told_so(tmp_path: Path) -> None:
    bot = bot_file(tmp_path, FIRST)
    path = tmp_path / "run.jsonl"
    play("greed", [bot, "first_option"], record=path)
    record = read_record(path.read_text(encoding="utf-8"))
    own = [number for number, choice in enumerate(record.choices) if choice[0] == 0]
    told: dict[str, Any] = {"game": "greed", "rules": record.rules, "key": record.key.hex(), "seats": record.seats}

    def ask(decision: int, within_s: float | None) -> str:
        choices = record.choices[: own[decision] + 1]
        return ask_again(bot, **told, settings={}, choices=choices, within_s=within_s).text

    with pytest.raises(TimeoutError, match=r"thought 0\.050 s over it, and had 0\.040 s"):
        ask(1, 0.04)
    assert ask(1, None) == ask(1, 0.06) != ""
    assert ask(9, 0.06) != ""  # the time of earlier ones is not counted


@pytest.mark.usefixtures("slow")
def test_a_late_decision_becomes_a_test_with_the_time_it_had(tmp_path: Path) -> None:
    match = Match(GAMES["greed"], ["my_bot.py", "random"], bytes(32), log=True)
    asked = match.decision()
    assert asked is not None
    match.fault(asked.seat, asked.number, EndCause.TIMEOUT, "no answer in 40 ms")
    while (asked := match.decision()) is not None:
        match.answer(asked.seat, asked.number, 0)
    for thinking_ms, is_late in ((40, True), (60, False), (0, False)):
        filed = FiledMatch(1, None, 0, write_record(match))
        lines = as_test(filed, 0, "match 7", "a test", bot_file(tmp_path, FIRST), "no answer in 40 ms", thinking_ms)
        assert "no answer in time: no answer in 40 ms" in "\n".join(lines)
        names: dict[str, Any] = {}
        exec(compile("\n".join(lines), "test_late.py", "exec"), names)
        (test,) = [value for name, value in names.items() if name.startswith("test_decision_0_")]
        with pytest.raises(TimeoutError) if is_late else nullcontext():
            test()


@pytest.mark.parametrize("name", ['x""";RAN.append(1);"""', 'x\n"""\nRAN.append(1)\n"""', "x\\"])
def test_nothing_that_stands_in_a_file_is_run_by_its_test_but_the_bot(name: str) -> None:
    match = Match(GAMES["greed"], [name, "random"], bytes(32), log=True)
    while (asked := match.decision()) is not None:
        match.answer(asked.seat, asked.number, 0)
    filed = FiledMatch(1, None, 0, write_record(match))
    for which, bot in ((f"match {name}", ""), ("match 0", name)):
        names: dict[str, Any] = {"RAN": []}
        exec(compile("\n".join(as_test(filed, 0, which, "a test", bot)), "test_it.py", "exec"), names)
        assert names["RAN"] == []
        assert names["BOT"] == (bot or name)


def test_names_in_a_record_do_not_write_over_a_terminal(tmp_path: Path) -> None:
    match = Match(GAMES["greed"], ["red\x1b[31m\x07\nforged", "random"], bytes(32), log=True)
    while (asked := match.decision()) is not None:
        match.answer(asked.seat, asked.number, 0)
    path = tmp_path / "a.jsonl"
    path.write_text(write_record(match) + "\n", encoding="utf-8")
    for words in (["verify", path], ["replay", path], ["replay", path, "--at", "0"]):
        told = run("match", *words)
        assert told.exit_code == 0
        assert "red [31m forged" in told.stdout
        assert "\x1b" not in told.stdout
