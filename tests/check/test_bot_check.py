"""The check of a bot: each scenario passes for who does it right, and fails for a bot that was planted to fail it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.check import check_run, scenarios
from cutpurse.check.findings import CheckStatus
from cutpurse.check.scenarios import SCENARIOS
from cutpurse.cli.check_bot import check_bot
from cutpurse.engine.clocks import TimeControl
from cutpurse.games import GAMES
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotAuthorised
from tests.sdk.bot_files import CRASHES, FIRST, ILLEGAL, bot_file
from tests.sdk.leagues import play_league
from tests.sdk.programs import is_alive, pids_in, raw_bot, wait_until_gone
from tests.typed import run

PLANTED = [
    ("handshake", "bad-name", CheckStatus.FAILED, "its Hello is refused: Hello.bot is 'Bad Name'"),
    ("handshake", "silent", CheckStatus.FAILED, "it did not dial in to $CUTPURSE_SERVER in 3 s; its last words: pid "),
    ("handshake", "quits", CheckStatus.FAILED, "the program ended with exit code 1; its last words: pid"),
    ("greed, a match", "illegal", CheckStatus.FAILED, "to decision 1 (play_a_card), which has options 0 to "),
    ("greed, a match", "gives-up", CheckStatus.FAILED, "it gave up at decision 6"),
    ("greed, a match", "silent-at-5", CheckStatus.FAILED, "no answer to decision 6 in 2 s; let it go on to the next"),
    ("greed, a match", "exits-at-5", CheckStatus.FAILED, "the program ended with exit code 1; its last words: "),
    ("a second match", "first-table-only", CheckStatus.FAILED, "no answer to a match that came after another in 2 s"),
    ("several tables", "one-at-a-time", CheckStatus.FAILED, "no answer to decisions at "),
    ("illegal answer", "never-corrects", CheckStatus.FAILED, "no answer to an answer that was refused as ILLEGAL"),
    ("refused thrice", "exits-when-refused", CheckStatus.FAILED, "its last words: pid"),
    ("too late", "exits-when-late", CheckStatus.FAILED, "too late, says the server"),
    ("heartbeat", "no-heartbeat", CheckStatus.FAILED, "an empty envelope was not acknowledged in 2 s"),
    ("unknown fields", "strict", CheckStatus.FAILED, "a field that I do not know"),
    ("nonce", "short-nonce", CheckStatus.FAILED, "it sent a nonce of 31 bytes; a nonce has 32"),
    ("nonce", "two-nonces", CheckStatus.FAILED, "it sent 2 nonces to one deal; a server reads the first"),
    ("nonce", "no-nonce", CheckStatus.WARNED, "no nonce came in 1000 ms, for which each deal waits"),
    (
        "lost stream",
        "no-resume",
        CheckStatus.FAILED,
        "it said Hello anew, without Resume; reconnect",
    ),
    (
        "forgotten session",
        "no-anew",
        CheckStatus.FAILED,
        "it did not say Hello anew in 5 s after its Resume was refused",
    ),
    ("drain", "stops-at-drain", CheckStatus.FAILED, "no answer to Drain in 2 s"),
    ("drain", "hasty", CheckStatus.WARNED, " s instead of 1 s; wait for Drain.reconnect_after_ms"),
    ("several servers", "", CheckStatus.WARNED, "it plays only at the server that it dialled; when a call ends with"),
    ("foreign server", "trusts-anybody", CheckStatus.FAILED, "#.league.example:7777, and would have sent its token"),
    ("foreign server", "trusts-an-end", CheckStatus.FAILED, "#.league.example:7777, and would have sent its token"),
    ("leaving", "stubborn", CheckStatus.FAILED, "it was still there 1 s after SIGTERM and had to be killed"),
    (
        "leaving",
        "leaves-a-process",
        CheckStatus.FAILED,
        "it ended, but 1 process that it had started still ran 1 s after ",
    ),
]


@pytest.fixture(autouse=True)
def time_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is busy with other tests starts programs slowly."""
    monkeypatch.setattr(scenarios, "DIAL_IN_S", 60.0)


@pytest.mark.parametrize("bot", ["file", "program"])
async def test_a_good_bot_passes_every_scenario_with_every_game(bot: str, tmp_path: Path) -> None:
    findings = await check_bot(raw_bot() if bot == "program" else bot_file(tmp_path, FIRST))
    # A program of before there were several servers goes on playing at one.
    warned = ["several servers"] if bot == "program" else []
    assert [one.scenario for one in findings if one.verdict is not CheckStatus.PASSED] == warned
    assert all(one.verdict is not CheckStatus.FAILED for one in findings)
    matches = [f"{game}, a match" for game in GAMES]
    assert [one.scenario for one in findings] == ["handshake", *matches, *[name for name, _ in SCENARIOS[1:]]]


async def test_a_bot_in_a_folder_with_files_named_as_modules_of_python_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("types", "random", "json"):
        bot_file(tmp_path, "raise RuntimeError('this is not the module that was meant')\n", f"{name}.py")
    monkeypatch.chdir(tmp_path)
    handshake, *_ = await check_bot(bot_file(tmp_path, FIRST), ["greed"])
    assert (handshake.scenario, handshake.verdict) == ("handshake", CheckStatus.PASSED)


@pytest.mark.parametrize(
    ("scenario", "fault", "verdict", "seen"), PLANTED, ids=[f"{one[0]}-{one[1]}" for one in PLANTED]
)
async def test_a_bot_that_was_planted_to_fail_a_scenario_fails_it(
    scenario: str, fault: str, verdict: CheckStatus, seen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [one for one in SCENARIOS if one[0] in ("handshake", scenario)]
    monkeypatch.setattr(check_run, "SCENARIOS", tuple(wanted))
    monkeypatch.setattr(scenarios, "BACK_S", 5.0)
    monkeypatch.setattr(scenarios, "LEAVE_S", 1.0)
    if fault == "silent":
        monkeypatch.setattr(scenarios, "DIAL_IN_S", 3.0)
    ends = fault.startswith(("exits", "strict"))  # which is told as soon as it is seen, however busy the machine is
    findings = await check_bot(raw_bot(fault), ["greed"], answer_s=60.0 if ends else 2.0)
    (found,) = [one for one in findings if one.scenario == scenario]
    assert (found.verdict, seen in found.seen) == (verdict, True), found.seen


@pytest.mark.skipif(sys.platform == "win32", reason="other signals there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_program_outlives_a_check_that_is_told_to_end(number: signal.Signals) -> None:
    words = ["bot", "check", raw_bot("silent"), "--output"]
    with subprocess.Popen(
        [sys.executable, "-m", "cutpurse.cli", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as checking:
        assert checking.stderr is not None
        pids: list[int] = []
        while not pids:
            line = checking.stderr.readline()
            assert line, "it ended before its bot began"
            pids = pids_in(line)
        checking.send_signal(number)
        out, err = checking.communicate()
    assert (checking.returncode, out, err.splitlines()[-1]) == (130, "", "interrupted")
    wait_until_gone(pids)


KEEPS_WORKERS = """
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

print("printed at import")


def work(x):
    from helper import square

    print("printed by a worker", flush=True)
    return os.getpid(), square(x)


class Bot:
    pool = None

    def choose(self, view, decision):
        if Bot.pool is None:
            Bot.pool = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(METHOD))
        pid, squared = Bot.pool.submit(work, 3).result()
        assert squared == 9
        with Path(__file__).with_name("pids").open("a") as file:
            print(pid, file=file)
        return decision.safe
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found in /proc")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_bot_with_workers_passes_and_they_end_with_it(method: str, tmp_path: Path) -> None:
    bot_file(tmp_path, "def square(x):\n    return x * x\n", "helper.py")
    bot = bot_file(tmp_path, KEEPS_WORKERS.replace("METHOD", repr(method)), "keeps_workers.py")
    command = [sys.executable, "-m", "cutpurse.cli", "bot", "check", bot, "--game", "greed", "--json", "--output"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {row["verdict"] for row in json.loads(done.stdout)["findings"]} == {"passed"}
    assert "printed at import" in done.stderr
    assert "printed by a worker" in done.stderr
    pids = {int(line) for line in (tmp_path / "pids").read_text().split()}
    assert pids
    assert [pid for pid in pids if is_alive(pid)] == []


def test_every_scenario_has_a_bot_that_fails_it() -> None:
    assert {name for name, _, _, _ in PLANTED} == {"greed, a match", *[name for name, _ in SCENARIOS]}


async def test_a_bot_that_acknowledges_only_after_thinking_is_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        check_run, "SCENARIOS", tuple([one for one in SCENARIOS if one[0] in ("handshake", "heartbeat")])
    )
    control = TimeControl(base_ms=5, bank_ms=60_000)  # a twentieth of what it takes: much of that is no own time here
    findings = await check_bot(raw_bot("acknowledges-late"), ["greed"], control=control, answer_s=11.0)
    slow, late = findings[1], findings[2]
    assert (slow.verdict, late.verdict) == (CheckStatus.WARNED, CheckStatus.WARNED)
    assert "costs from the bank" in slow.seen
    assert "acknowledge on receipt, before thinking" in late.seen


async def test_a_bot_that_is_too_slow_for_the_clock_fails_before_it_is_submitted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(check_run, "SCENARIOS", SCENARIOS[:1])
    control = TimeControl(base_ms=20, bank_ms=100, grace_ms=10)
    slow = (await check_bot(raw_bot("acknowledges-late"), ["greed"], control=control, answer_s=11.0))[-1]
    assert (slow.scenario, slow.verdict) == ("greed, a match", CheckStatus.FAILED)
    assert "was late: it took " in slow.seen
    assert slow.seen.endswith("the clock is 0.02 s + 0.1 s bank")


def test_the_command_prints_a_table_and_ends_with_the_code_of_a_bot_that_failed(tmp_path: Path) -> None:
    shown = run("bot", "check", bot_file(tmp_path, ILLEGAL), "--game", "greed")
    assert shown.exit_code == 3
    head, *rows, last = shown.stdout.splitlines()
    assert head.split() == ["scenario", "verdict", "seen"]
    assert len(rows) == len(SCENARIOS) + 1
    assert "failed 2 of 16" in last
    assert shown.stderr == ""


SHARES = """
class Bot:
    open = set()

    def start(self, match):
        Bot.open.add(match.match)

    def end(self, result):
        Bot.open.clear()

    def choose(self, view, decision):
        if len(Bot.open) > 1:
            raise KeyError("whose match is it?")
        return 0
"""


@pytest.mark.parametrize(("source", "is_told"), [(SHARES, True), (CRASHES, False)], ids=["shares", "crashes"])
async def test_only_who_plays_well_at_one_table_is_told_to_keep_matches_apart(
    source: str, is_told: bool, tmp_path: Path
) -> None:
    findings = await check_bot(bot_file(tmp_path, source), ["greed"])
    verdicts = {one.scenario: one.verdict for one in findings}
    assert (verdicts["greed, a match"] is CheckStatus.PASSED) == is_told
    (several,) = [one for one in findings if one.scenario == "several tables"]
    assert several.verdict is CheckStatus.FAILED
    assert several.seen.endswith("; keep what belongs to a match apart, by its table") == is_told


END_RAISES = """
class Bot:
    def choose(self, view, decision):
        return decision.safe

    def end(self, result):
        raise KeyError("no place")
"""


async def test_a_bot_whose_end_raises_is_not_ready_and_is_told_where(tmp_path: Path) -> None:
    file = bot_file(tmp_path, END_RAISES)
    findings = await check_bot(file, ["greed"])
    (failed,) = [one for one in findings if one.verdict is not CheckStatus.PASSED]
    assert (failed.scenario, failed.verdict) == ("end of a match", CheckStatus.FAILED)
    assert failed.seen == f"its method `end` raised: {file}:6: KeyError: 'no place'"


NEVER_ANSWERS = """
import threading


class Bot:
    def choose(self, view, decision):
        threading.Event().wait()
"""


async def test_a_bot_that_answers_nothing_is_not_asked_in_every_scenario(tmp_path: Path) -> None:
    findings = await check_bot(bot_file(tmp_path, NEVER_ANSWERS), answer_s=1.0)
    handshake, match, rest = findings
    assert (handshake.verdict, match.verdict, rest.verdict) == (
        CheckStatus.PASSED,
        CheckStatus.FAILED,
        CheckStatus.FAILED,
    )
    assert match.seen.startswith("no answer to decision 1 in 1 s; one of the bot's methods has not returned: look for ")
    assert rest.scenario == "all others"
    assert rest.seen == "not tried: it has not answered a single decision, and all others begin with one"


def test_the_command_prints_one_document(tmp_path: Path) -> None:
    shown = run("bot", "check", bot_file(tmp_path, CRASHES), "--game", "greed", "--json")
    document = json.loads(shown.stdout)
    assert (shown.exit_code, document["passed"]) == (3, False)
    (match,) = [one for one in document["findings"] if one["scenario"] == "greed, a match"]
    assert match["verdict"] == "failed"
    assert "it gave up at decision 1 (play_a_card): " in match["seen"]
    assert "KeyError: 'no plan'" in match["seen"]


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        ("bot check no_bot.py", 4, "no bot file no_bot.py"),
        ("bot check rndom", 2, "no bot is called 'rndom'"),
        ("bot check random --game gred", 2, "no game is called 'gred'"),
        ("bot check random --answer 0", 2, "a number of seconds is more than 0"),
        ("bot check exec:no-such-program", 3, "no-such-program is not to be found"),
    ],
)
def test_a_mistake_is_told_in_a_line(typed: str, code: int, said: str) -> None:
    shown = run(*typed.split())
    assert said in shown.stderr
    assert (shown.exit_code, shown.stdout, len(shown.stderr.splitlines())) == (code, "", 1)


# -- a pause is lifted
@pytest.fixture
def short_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_run, "SCENARIOS", SCENARIOS[:1])


@pytest.mark.usefixtures("short_check")
def test_a_bot_that_passes_is_let_in_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ladder_pb2.LiftPauseRequest] = []

    def lift(request: ladder_pb2.LiftPauseRequest) -> ladder_pb2.LiftPauseResponse:
        asked.append(request)
        bot = ladder_pb2.BotName(owner="ann", bot=request.bot.bot, version=request.bot.version)
        return ladder_pb2.LiftPauseResponse(bot=ladder_pb2.BotShown(bot=bot))

    dialled = play_league(monkeypatch, LiftPause=lift)
    bot = bot_file(tmp_path, FIRST)
    checked = run("bot", "check", bot, "--game", "greed", "--unpause", "--server", "there:1")
    assert checked.exit_code == 0, checked.output
    assert checked.stdout.splitlines()[-1] == "ann/my_bot:1 is no longer paused"
    named = ["--name", "sneak", "--version", "2.1", "--json"]
    document = json.loads(run("bot", "check", bot, "--game", "greed", "--unpause", *named).stdout)
    assert (document["passed"], document["unpaused"]) == (True, "ann/sneak:2.1")
    assert [(one.bot.owner, one.bot.bot, one.bot.version) for one in asked] == [
        ("", "my_bot", "1"),
        ("", "sneak", "2.1"),
    ]
    assert dialled == [("there:1", None, None), (None, None, None)]


@pytest.mark.usefixtures("short_check")
def test_a_bot_that_fails_stays_paused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dialled = play_league(monkeypatch)
    checked = run("bot", "check", bot_file(tmp_path, CRASHES), "--game", "greed", "--unpause", "--json")
    assert checked.exit_code == 3
    assert json.loads(checked.stdout)["unpaused"] is None
    assert "the bot stays paused" in checked.stderr
    assert dialled == []


@pytest.mark.usefixtures("short_check")
def test_a_pause_that_is_not_ones_own_is_not_lifted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: ladder_pb2.LiftPauseRequest) -> ladder_pb2.LiftPauseResponse:
        raise NotAuthorised("bob/my_bot is another owner's")

    play_league(monkeypatch, LiftPause=refuse)
    checked = run("bot", "check", bot_file(tmp_path, FIRST), "--game", "greed", "--unpause")
    assert checked.exit_code == 6
    assert "bob/my_bot is another owner's" in checked.stderr
    assert checked.stdout.splitlines()[-1].endswith("my_bot.py is ready")  # what was found is told all the same


def test_where_nothing_is_lifted_nobody_is_named(tmp_path: Path) -> None:
    checked = run("bot", "check", bot_file(tmp_path, FIRST), "--version", "2")
    assert checked.exit_code == 2
    assert "they need --unpause" in checked.stderr
