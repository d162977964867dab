"""Programs as bots of local play: real processes that speak the protocol, and nothing left of them afterwards."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.errors import UsageError
from cutpurse.engine.match import EndCause
from cutpurse.games import GAMES
from cutpurse.sdk import program
from cutpurse.sdk.bot import load_bot
from cutpurse.sdk.local import play
from cutpurse.sdk.playing.match_clock import MatchClock
from cutpurse.wire.errors import BOT_FAILED, BotNotLoaded, ProgramNotStarted, exit_code
from tests.sdk.bot_files import bot_file
from tests.sdk.programs import is_alive, pids_in, raw_bot, wait_until_gone
from tests.typed import run, run_apart

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")

HERE = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def time_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy with other tests starts programs slowly."""
    monkeypatch.setattr(program, "DIAL_IN_S", 60.0)


class First:
    def choose(self, view: Any, decision: Any) -> int:
        return 0


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("game", list(GAMES))
def test_a_program_plays_as_a_class_does(game: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    runs = []
    for name, bot in (("program", raw_bot()), ("class", First)):
        file = tmp_path / name
        played = play(game, [bot, bot, "random"], matches=2, seed=3, record=file)
        assert played.failures == ()
        runs.append([(match["choices"], match["events"], match["result"]) for match in records(file)])
    assert runs[0] == runs[1]
    pids = pids_in(capfd.readouterr().err)
    assert len(pids) == 1, "two seats and two matches share a process"
    wait_until_gone(pids)


OURS = """
import os, sys
from cutpurse.sdk.run import run
class Bot:
    def choose(self, view, decision):
        assert view.raw.agenda and decision.safe
        return decision.options[-1]
sys.stderr.write(f"pid {os.getpid()}\\n")
raise SystemExit(run(Bot, quiet=True))
"""


def our_bot(folder: Path) -> str:
    """A program that is a bot of our SDK."""
    return f"exec:{shlex.join([sys.executable, bot_file(folder, OURS)])}"


def test_a_bot_of_our_sdk_is_such_a_program_too(tmp_path: Path) -> None:
    spec = our_bot(tmp_path)
    played = play("szmal", [spec] * 5, matches=2)
    assert played.failures == ()


def test_a_program_that_loses_its_stream_comes_back_and_plays_the_same(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = tmp_path / "whole", tmp_path / "broken"
    for file, bot in zip(files, (raw_bot(), raw_bot("drops")), strict=True):
        assert play("greed", [bot, "random"], record=file).failures == ()
    whole, broken = (records(file)[0]["choices"] for file in files)
    assert whole == broken
    wait_until_gone(pids_in(capfd.readouterr().err))


def test_several_processes_each_have_their_own(tmp_path: Path) -> None:
    shown = [
        run_apart("play", "greed", raw_bot(), "random", "--matches", 4, "--jobs", jobs, "--json", TMPDIR=str(tmp_path))
        for jobs in (1, 2)
    ]
    documents = [json.loads(one.stdout) for one in shown]
    assert [document.pop("seconds") > 0 for document in documents] == [True, True]
    assert documents[0] == documents[1]
    assert [len(pids_in(one.stderr)) for one in shown] == [1, 2]
    wait_until_gone([pid for one in shown for pid in pids_in(one.stderr)])
    assert [*tmp_path.iterdir()] == []


# -- what goes wrong
@pytest.mark.parametrize(
    ("fault", "cause", "said"),
    [
        ("gives-up", EndCause.CRASHED, r"raw_bot\.py gives-up: it gave up: no plan"),
        ("exits-at-5", EndCause.CRASHED, r"the program ended with exit code 1; its last words: .*no more of this"),
        ("illegal", EndCause.ILLEGAL, r"has options 0-\d+: .*; it answered \d+"),
    ],
)
def test_what_a_program_does_wrong_is_told_in_a_line(fault: str, cause: EndCause, said: str) -> None:
    played = play("greed", [raw_bot(fault), "random"], matches=2)
    (failure,) = played.failures
    assert failure.cause is cause
    assert re.search(said, failure.text())
    assert "\n" not in failure.text()
    assert ".py:" not in failure.text().replace("raw_bot.py", "")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("bad-name", r"bad-name: its Hello was refused: Hello.bot is 'Bad Name'; it can be 1 to 32 of "),
        ("quits", r"quits: the program ended with exit code 1; its last words: .*no license \| found"),
    ],
)
def test_a_program_that_never_dials_in_ends_the_run_as_a_file_that_cannot_be_loaded(fault: str, said: str) -> None:
    with pytest.raises(ProgramNotStarted, match=said) as refused:
        play("greed", [raw_bot(fault), "random"], matches=2)
    assert isinstance(refused.value, BotNotLoaded)
    assert exit_code(refused.value) == BOT_FAILED
    assert "\n" not in str(refused.value)


def test_a_program_that_ends_in_a_match_comes_last_in_it_and_in_all_later_ones() -> None:
    played = play("greed", [raw_bot("exits-at-5"), "random", "random"], matches=3)
    assert {row.places[0] for row in played.rows} == {3}
    assert {row.end_causes[0] for row in played.rows} == {"crashed"}
    assert played.faults[0] == 3, "one for each match: the seat is taken over at once"


def test_a_program_that_gives_up_once_plays_on() -> None:
    played = play("greed", [raw_bot("gives-up"), "random"])
    assert played.faults == (1, 0)
    assert played.rows[0].end_causes == ("normal", "normal")


def test_a_program_that_gives_up_the_match_is_taken_over_at_once() -> None:
    played = play("greed", [raw_bot("gives-up-the-match"), "random"])
    assert played.faults == (1, 0)
    assert (played.rows[0].end_causes, played.rows[0].places) == (("crashed", "normal"), (2, 1))
    assert "it gave up the match: no plan" in played.failures[0].text()


def test_an_answer_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "when_asked_too_long_s", lambda: 0.3)
    played = play("greed", [raw_bot("silent-at-5"), "random"])
    assert "silent-at-5: no answer in 0.3 s" in played.failures[0].text()


def test_a_program_that_does_not_dial_in_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(program, "DIAL_IN_S", 3.0)
    said = r"silent has not dialled in to \$CUTPURSE_SERVER, which is unix:.*, in 3 s; its last words: pid \d+$"
    with pytest.raises(ProgramNotStarted, match=said):
        play("greed", [raw_bot("silent"), "random"], matches=3)
    wait_until_gone(pids_in(capfd.readouterr().err))


def test_a_program_of_other_games_is_told_so() -> None:
    spec = raw_bot("plays-only") + " szmal"
    assert "its Hello does not name greed, only szmal" in play("greed", [spec, "random"]).failures[0].text()


@pytest.mark.parametrize(
    ("command", "kind", "said"),
    [
        ("exec:", UsageError, "comes a command"),
        ("exec:no-such-program --fast", BotNotLoaded, "no-such-program is not to be found"),
        ("exec:./README.md", BotNotLoaded, "cannot be run: it is not executable"),
        ("exec:node 'bot.mjs", UsageError, "No closing quotation"),
    ],
)
def test_what_cannot_be_run_is_told_before_anything_is_played(
    command: str, kind: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE)
    with pytest.raises(kind, match=said):
        load_bot(command)
    shown = run("play", "greed", command, "random")
    assert (shown.exit_code, len(shown.stderr.splitlines())) == (3 if kind is BotNotLoaded else 2, 1)


def test_a_program_is_not_run_by_bot_run() -> None:
    shown = run("bot", "run", raw_bot())
    assert shown.exit_code == 2
    assert "a program dials in by itself" in shown.stderr


# -- nothing is left
def test_what_a_program_says_has_its_name_before_it(capfd: pytest.CaptureFixture[str]) -> None:
    play("greed", [raw_bot(), "random"])
    name = raw_bot().removeprefix("exec:")
    assert re.fullmatch(rf"{re.escape(name)}: pid \d+\n", capfd.readouterr().err)


def test_a_program_plays_the_same_when_nobody_reads_what_it_says(tmp_path: Path) -> None:
    loud = bot_file(
        tmp_path,
        """
import sys
class Bot:
    def choose(self, view, decision):
        print("here", decision.number, file=sys.stderr)
        return 0
if __name__ == "__main__":
    from cutpurse.sdk.run import run
    sys.exit(run(Bot, name="loud"))
""",
    )
    words = ["play", "greed", f"exec:{sys.executable} {loud}", "random", "--matches", "4", "--json"]
    command = [sys.executable, "-m", "cutpurse.cli", *words]
    gone, there = os.pipe()
    os.close(gone)  # as `2> >(head -1)` does sooner or later
    shown = [subprocess.run(command, stdout=subprocess.PIPE, stderr=err, check=True) for err in (there, None)]
    os.close(there)
    told = [json.loads(one.stdout) for one in shown]
    assert [document.pop("seconds") > 0 for document in told] == [True, True]
    assert told[0] == told[1]


def test_a_stubborn_program_and_its_own_children_are_ended(capfd: pytest.CaptureFixture[str]) -> None:
    def broken(done: int, of: int) -> None:
        if done:
            raise RuntimeError("the run failed")

    with pytest.raises(RuntimeError, match="the run failed"):
        play("greed", [raw_bot("stubborn"), "random"], progress=broken)
    pids = pids_in(capfd.readouterr().err)
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)


@pytest.mark.sampled
@pytest.mark.parametrize("ours", [False, True])
@pytest.mark.parametrize(
    ("number", "jobs"),
    [
        (signal.SIGINT, 1),
        (signal.SIGINT, 2),
        (signal.SIGTERM, 1),
        (signal.SIGTERM, 2),
        (signal.SIGKILL, 1),
        (signal.SIGKILL, 2),
    ],
)
def test_no_program_outlives_a_run_that_is_broken_off(
    number: signal.Signals, jobs: int, ours: bool, tmp_path: Path
) -> None:
    bot = our_bot(tmp_path) if ours else raw_bot()
    command = [sys.executable, "-u", "-m", "cutpurse.cli", "play", "greed", bot, "random"]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    playing = subprocess.Popen(
        [*command, "--matches", "2000", "--jobs", str(jobs)],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(scratch)},
    )
    assert playing.stderr is not None
    pids: list[int] = []
    try:
        while not pids:
            line = playing.stderr.readline()
            assert line, "it ended before its bot began"
            pids = pids_in(line)
        playing.send_signal(number)
        _, said = playing.communicate()
    finally:
        playing.kill()  # nothing to do but for a test that fails
        playing.wait()
    if number != signal.SIGKILL:
        assert said.splitlines()[-1] == "interrupted"
        assert playing.returncode == 130
        assert [*scratch.iterdir()] == []
    wait_until_gone(pids + pids_in(said))


def test_a_program_is_judged_by_the_clock_with_the_way_to_its_process() -> None:
    control = TimeControl(base_ms=20, bank_ms=0, grace_ms=10)
    played = play("greed", [raw_bot("acknowledges-late"), "random"], clock=MatchClock("blitz", control))
    assert played.rows[0].end_causes == ("timeout", "normal")
    assert played.slowest[0].seconds >= 0.03
