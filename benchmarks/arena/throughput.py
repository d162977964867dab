"""Decisions per second: four bots of the SDK, compared with bare messages in alternating rounds.

All processes start once and stay. For each row, an arena is opened and bots connect. When the row has reached its
number of tables, its decisions are counted, and then it is probed for a while (see `Server.watch`).
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.arena.child import Child, ask_all
from benchmarks.arena.summary import BARE, IN_TURN, RateRow, RateSample
from benchmarks.machine import MachineTime
from benchmarks.protocol import WorkerFailed

__all__ = ["Rates", "rows"]

BOTS = 4
PATIENCE_S = 10.0  # maximum wait until the tables are in use; bots begin with few
SETTLE_S = 0.3
WATCH_SHARE = 0.4  # duration of the probe, relative to a row's seconds


def rows(bots: Sequence[str], tables: Sequence[int], rated: Sequence[int]) -> list[RateRow]:
    """List every bot with every number of tables, and the first bot also with a database for those in `rated`."""
    plain = [RateRow(bot, count) for bot in bots for count in tables]
    return plain + [RateRow(bots[0], count, is_rated=True) for count in tables if count in rated]


class Rates:
    """The processes of this part, used as a context manager."""

    def __init__(self, folder: Path) -> None:
        """Start the processes; `folder` is for databases."""
        self._folder = folder
        self._databases = 0
        self._stack = ExitStack()
        with ExitStack() as stack:
            self._server = stack.enter_context(Child("benchmarks.arena.server"))
            self._players = [stack.enter_context(Child("benchmarks.arena.players")) for _ in range(BOTS)]
            self._bare_server = stack.enter_context(Child("benchmarks.arena.bare_grpc"))
            self._bare_clients = [stack.enter_context(Child("benchmarks.arena.bare_grpc")) for _ in range(BOTS)]
            self._stack = stack.pop_all()
        self.bytes = (0, 0)  # size of a question and of an answer of the bare exchange

    def weigh(self, seconds: float) -> None:
        """Set the size of bare messages to that of a decision and its answer with one table, including overhead."""
        sample = self.measure(RateRow("first_option", 1), seconds)
        self.bytes = (round(sample.bytes_sent), round(sample.bytes_read))

    def one_round(self, rows: Sequence[RateRow], seconds: float, say: Callable[[str], None]) -> dict[str, RateSample]:
        """Take a sample of the bare exchange, and one of every row.  Raises WorkerFailed."""
        samples = {BARE: self.bare(seconds), IN_TURN: self.bare(seconds, BOTS)}
        for row in rows:
            sample = samples[row.name] = self.measure(row, seconds)
            if not sample.decisions:
                raise WorkerFailed(f"{row.name}: nothing was decided in {sample.seconds:.1f} s")
            if sample.tables < row.tables:
                say(f"{row.name}: no more than {sample.tables} tables were open")
            if sample.faults:
                say(f"{row.name}: {sample.faults} faults")
        return samples

    def bare(self, seconds: float, in_turn: int = 0) -> RateSample:
        """Take a sample of the bare exchange, with one client, or with `in_turn` clients that take turns."""
        sent, read = self.bytes
        clients = self._bare_clients[: in_turn or 1]
        address = self._bare_server.ask("open", question_bytes=sent, in_turn=in_turn)["address"]
        ask_all(clients, "answer", address=address, answer_bytes=read)
        self._bare_server.ask("measure", seconds=SETTLE_S)
        answer, took = self._measured(self._bare_server, clients, seconds)
        ask_all(clients, "rest")
        return RateSample(**answer, **took, bytes_sent=sent, bytes_read=read)

    def measure(self, row: RateRow, seconds: float) -> RateSample:
        """Take a sample of the arena."""
        address = self._server.ask("open", tables=row.tables, database=self._database(row))["address"]
        for number, player in enumerate(self._players):
            player.tell("play", bot=row.bot, name=f"bot_{number}", address=address)
        for player in self._players:
            player.answer()
        reached = self._server.ask("tables", wanted=row.tables, patience_s=PATIENCE_S)
        self._server.ask("measure", seconds=SETTLE_S)
        answer, took = self._measured(self._server, self._players, seconds)
        seen = self._server.ask("watch", seconds=WATCH_SHARE * seconds)
        ask_all(self._players, "rest")
        self._server.ask("close")
        return RateSample(**answer, **took, **seen, **reached)

    def _measured(self, server: Child, bots: Sequence[Child], seconds: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the server's counts, and the use of CPU time meanwhile."""
        began, before = MachineTime.now(), ask_all(bots, "cpu")
        answer = server.ask("measure", seconds=seconds)
        after, ended = ask_all(bots, "cpu"), MachineTime.now()
        bots_cpu_s = _load(before, after) * answer["seconds"]
        took: dict[str, Any] = {"bots_cpu_s": bots_cpu_s}
        if began is not None and ended is not None:
            took["elsewhere"] = began.elsewhere(ended, bots_cpu_s + answer["server_cpu_s"])
        return answer, took

    def _database(self, row: RateRow) -> str | None:
        if not row.is_rated:
            return None
        self._databases += 1
        return str(self._folder / f"{self._databases}.db")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()


def _load(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> float:
    """Return the CPU seconds per second of all bots, each over its own slightly different interval."""
    load = 0.0
    for now, then in zip(before, after, strict=True):
        load += (then["cpu_s"] - now["cpu_s"]) / (then["at"] - now["at"])
    return load
