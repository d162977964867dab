"""A thousand bots at once: the cost of an idle bot, latencies, and reconnecting to a killed server.

They are cheap bots in a few processes, each with its own connection. First they connect and are idle. Then each has
about one decision per second. Then the server is killed and started again. The bare exchange has as many streams and
messages per second. Half of it runs before and half after, because the machine may change meanwhile.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from statistics import mean
from typing import Any, NamedTuple

from benchmarks.arena.child import Child, ask_all
from benchmarks.arena.summary import Crowd, Storm, Turnarounds, turnarounds
from benchmarks.protocol import WorkerFailed

__all__ = ["crowd"]

PROCESSES = 4  # maximum
BOTS_A_PROCESS = 4  # minimum
WARM_BOTS = 20  # bots that connect before memory is read, because the first ones allocate what all share
SEATS = 4
TABLES_A_BOT = 4
FULL_SHARE = 0.8  # share of tables that fill up; the others wait, so that the same bots do not meet again
FULL_S = 30.0  # maximum wait until these are in use
SETTLE_S = 3.0  # wait until first answers are spread, unless less is measured
QUIET_S = 1.0  # from the last Welcome until memory is read
BACK_S = 60.0  # maximum wait until all bots have reconnected
BASE_MS = 10_000  # a bot that thinks for up to 1.5 s never uses its time bank


def crowd(bots: int, seconds: float, sizes: tuple[int, int], say: Callable[[str], None]) -> Crowd:
    """Measure `bots` bots for `seconds`; `sizes` are the bytes of a question and an answer of the bare exchange."""
    say(f"{bots:,} bare streams")
    bare = [_bare(bots, seconds / 2, sizes)]
    with ExitStack() as stack:
        server = stack.enter_context(Child("benchmarks.arena.server"))
        opening = {"tables": TABLES_A_BOT, "base_ms": BASE_MS}
        address = server.ask("open", **opening)["address"]
        processes = _processes(stack, bots)
        warm_up = stack.enter_context(Child("benchmarks.arena.raw_bots"))
        warm_up.ask("dial", first=bots, count=WARM_BOTS, address=address)
        warm_up.kill()
        _settle(processes)

        say(f"{bots:,} bots connect")
        before = server.ask("used")
        took = _dial(processes, bots, address)
        connected = server.ask("used")
        idle = server.ask("used", after_s=QUIET_S)

        say(f"{bots:,} bots play")
        ask_all(processes, "play")
        server.ask("tables", wanted=int(FULL_SHARE * bots * TABLES_A_BOT / SEATS), patience_s=FULL_S)
        server.ask("measure", seconds=min(SETTLE_S, seconds))
        server.tell("measure", seconds=seconds)
        arena = _listen(processes, seconds)
        answer = server.answer()

        say("the server is killed and started again")
        storm = _storm(stack, server, processes, bots, {**opening, "address": address})
    say(f"{bots:,} bare streams again")
    bare.append(_bare(bots, seconds / 2, sizes))
    return Crowd(
        bots=bots,
        bytes_a_bot=(idle["bytes"] - before["bytes"]) / bots,
        connects_a_second=bots / took,
        server_cpu_ms_a_connect=1e3 * (connected["cpu_s"] - before["cpu_s"]) / bots,
        decisions_a_second=answer["decisions"] / answer["seconds"],
        server_load=answer["server_cpu_s"] / answer["seconds"],
        bare_decisions_a_second=mean(half.rate for half in bare),
        bare_load=mean(half.load for half in bare),
        faults=answer["faults"],
        arena=arena,
        bare=Turnarounds([took for half in bare for took in half.found.took], sum(half.found.odd for half in bare)),
        storm=storm,
    )


class _Bare(NamedTuple):
    found: Turnarounds
    rate: float  # questions per second
    load: float  # CPU seconds of the server per second


def _bare(bots: int, seconds: float, sizes: tuple[int, int]) -> _Bare:
    """Measure the bare exchange at the same rate."""
    question_bytes, answer_bytes = sizes
    with ExitStack() as stack:
        server = stack.enter_context(Child("benchmarks.arena.bare_grpc"))
        processes = _processes(stack, bots)
        address = server.ask("open", question_bytes=question_bytes)["address"]
        _dial(processes, bots, address, answer_bytes)
        ask_all(processes, "play")
        server.ask("measure", seconds=min(SETTLE_S, seconds))
        server.tell("measure", seconds=seconds)
        waits = _listen(processes, seconds)
        answer = server.answer()
    return _Bare(waits, answer["decisions"] / answer["seconds"], answer["server_cpu_s"] / answer["seconds"])


def _processes(stack: ExitStack, bots: int) -> list[Child]:
    count = max(1, min(PROCESSES, bots // BOTS_A_PROCESS))
    return [stack.enter_context(Child("benchmarks.arena.raw_bots")) for _ in range(count)]


def _dial(processes: Sequence[Child], bots: int, address: str, answer_bytes: int = 0) -> float:
    """Connect all bots, and return the seconds it took."""
    first = 0
    for number, process in enumerate(processes):
        count = bots * (number + 1) // len(processes) - first
        process.tell("dial", first=first, count=count, address=address, answer_bytes=answer_bytes)
        first += count
    answers = [process.answer() for process in processes]
    return float(max(answer["ended"] for answer in answers) - min(answer["began"] for answer in answers))


def _settle(processes: Sequence[Child]) -> None:
    """Wait until the processes are up."""
    ask_all(processes, "listen", seconds=0.0)


def _listen(processes: Sequence[Child], seconds: float) -> Turnarounds:
    answers = ask_all(processes, "listen", seconds=seconds)
    waits = turnarounds(
        *([_moment(event) for answer in answers for event in answer[what]] for what in ("answered", "asked"))
    )
    if not waits.took:
        raise WorkerFailed(f"no bot was asked anything within {seconds:g} s: measure for longer")
    return waits


def _moment(event: Sequence[Any]) -> tuple[str, float]:
    match, at = event
    return match, at


def _storm(stack: ExitStack, server: Child, processes: Sequence[Child], bots: int, opening: dict[str, object]) -> Storm:
    """Kill the server, start it again at its address, and wait until all bots have reconnected."""
    killed_at = time.monotonic()
    server.kill()
    again = stack.enter_context(Child("benchmarks.arena.server"))
    listening_at: float = again.ask("open", **opening)["at"]
    answers = ask_all(processes, "back", since=killed_at, patience_s=BACK_S)
    back = [max(0.0, at - listening_at) for answer in answers for at in answer["welcomed"]]
    return Storm(bots, listening_at - killed_at, back, sum(answer["gave_up"] for answer in answers))
