"""The arena's bench end to end, for moments: its processes, what they say, and that none of them is left."""

import json
import signal
import subprocess
import sys

import pytest

from benchmarks.arena.child import Child, ask_all
from benchmarks.arena.summary import BARE, IN_TURN
from benchmarks.bench import main
from benchmarks.protocol import ROOT, WorkerFailed

ECHO = "benchmarks.arena.bare_grpc"


def test_a_child_that_does_not_come_up_is_told_of_with_its_last_words() -> None:
    with Child("benchmarks.arena.nothing") as child, pytest.raises(WorkerFailed, match="No module named"):
        child.ask("cpu")


def test_a_child_that_fails_is_told_of_with_its_last_words() -> None:
    with Child(ECHO) as child:
        assert child.ask("cpu")["cpu_s"] > 0
        with pytest.raises(WorkerFailed, match=r"(?s)ended:.*KeyError: 'whistle'"):
            child.ask("whistle")


def test_a_child_that_does_not_answer_is_given_up() -> None:
    with Child(ECHO) as child:
        child.tell("measure", seconds=3_600)
        with pytest.raises(WorkerFailed, match=r"did not answer for 0\.01 s"):
            child.answer(patience_s=0.01)


def test_several_children_are_asked_at_once_and_answer_in_their_order() -> None:
    with Child(ECHO) as one, Child(ECHO) as other:
        server, client = ask_all([one, other], "open", question_bytes=400)
        assert server["address"] != client["address"]
        other.ask("answer", address=server["address"], answer_bytes=10)
        told = one.ask("measure", seconds=0.2)
        other.ask("rest")
        assert told["decisions"] > 0
        assert 0 < told["p50_ms"] <= told["p99_ms"]


def test_no_child_outlives_the_bench_even_if_it_is_killed() -> None:
    starts_one = (
        "import time; from benchmarks.arena.child import Child; child = Child('benchmarks.arena.bare_grpc');"
        "child.ask('cpu'); print(child._process.pid, flush=True); time.sleep(3_600)"
    )
    with subprocess.Popen([sys.executable, "-c", starts_one], cwd=ROOT, stdout=subprocess.PIPE, text=True) as bench:
        assert bench.stdout is not None
        pid = int(bench.stdout.readline())
        tail = ["tail", f"--pid={pid}", "-f", "/dev/null"]  # ends when that process does, whosever child it is
        with subprocess.Popen(tail) as left:
            bench.send_signal(signal.SIGKILL)
            assert left.wait(240) == 0


@pytest.mark.soak
def test_a_tiny_run_measures_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--only arena --tables 2 --bots first_option,greedy --rated 2 --rounds 1 --seconds 0.3 --crowd 8 --json"
    assert main(words.split()) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["engine"]) == (2, None)
    assert {"Python", "cutpurse", "grpcio"} <= set(told["versions"])
    (samples,) = told["arena"]["rounds"]
    plain = ["first_option, 2 tables", "greedy, 2 tables"]
    assert list(samples) == [BARE, IN_TURN, *plain, "first_option, 2 tables, stored and rated"]
    for name, sample in samples.items():
        assert sample["decisions"] > 0, name
        assert sample["faults"] == 0, name
        assert sample["server_cpu_s"] > 0, name
        assert sample["bots_cpu_s"] > 0, name
        assert 0 < sample["p50_ms"] <= sample["p99_ms"], name
        assert sample["bytes_sent"] > sample["bytes_read"] > 0, name
    crowd = told["arena"]["crowd"]
    for side in (crowd["arena"], crowd["bare"]):
        assert side["count"] > 0
        assert side["odd"] == 0
        assert 0 < side["p50_ms"] <= side["p99_ms"]
    assert crowd["faults"] == 0
    assert len(crowd["storm"]["back_s"]) == 8
    assert crowd["storm"]["gave_up"] == 0


def test_one_table_less_the_crowd_prints_tables(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--only arena --tables 1 --bots first_option --rated 0 --rounds 1 --seconds 0.2 --crowd 0"
    assert main(words.split()) == 0
    out = capsys.readouterr().out
    assert "first_option, 1 table, to bare" in out
    assert "bots, a decision a second" not in out
