"""`cutpurse worker`: plays whole matches of hosted ladders on this machine, until it is stopped by a signal."""

from __future__ import annotations

import asyncio
import secrets
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.leaderboard.address import is_postgresql
from cutpurse.process.signals import ends, run_async
from cutpurse.process.terminal import print_message
from cutpurse.server.parts.submissions.machine import monitored, open_storage, usual_folder, usual_name
from cutpurse.server.parts.submissions.options import Folder, LogLevel, MachineName, Metrics, RunnerImage, RunnerName
from cutpurse.wire.errors import INTERRUPTED, needs
from cutpurse.wire.installation import install_command

if TYPE_CHECKING:
    from cutpurse.server.logs import Logger
    from cutpurse.server.parts.submissions.storage import Storage
    from cutpurse.server.runners.port import Runner

__all__ = ["worker"]

MAX_SLOTS = 1_000


def worker(
    db: Annotated[str, typer.Option(metavar="ADDRESS", help="The league: postgresql://USER@HOST:PORT/DATABASE.")],
    runner: RunnerName = "bubblewrap",
    slots: Annotated[int, typer.Option(metavar="N", help="Maximum matches at a time.")] = 1,
    name: MachineName = None,
    folder: Folder = None,
    runner_image: RunnerImage = "",
    metrics: Metrics = "",
    log_level: LogLevel = "warning",
) -> None:
    """Play matches of a league's hosted ladders on this machine, until SIGTERM or Ctrl-C.

    The first signal lets matches at hand end; a second one gives them up, and they are void. The password of the
    database comes from PGPASSWORD or ~/.pgpass.

    Example: cutpurse worker --db postgresql://worker@db.example/league --slots 4
    """
    with needs("server"):
        from cutpurse.leaderboard.errors import LeaderboardError
        from cutpurse.server.league.hosted_ladders import missing_queue
        from cutpurse.server.logs import capture_library_logs, logger
        from cutpurse.server.runners.choosing import working_runner
    if not is_postgresql(db):
        raise UsageError("--db: workers play for a league in PostgreSQL: postgresql://USER@HOST:PORT/DATABASE")
    if not 1 <= slots <= MAX_SLOTS:
        raise UsageError(f"--slots {slots}: it can be 1 to {MAX_SLOTS:,}")
    if why := missing_queue():
        raise UsageError(why)
    running = working_runner(runner, runner_image, "--runner")
    log = logger(sys.stderr, log_level)
    capture_library_logs(log)
    with open_storage(folder or usual_folder("worker"), "worker") as storage:
        try:
            is_hurried = run_async(
                lambda: _work(db, name or usual_name("worker"), slots, running, storage, metrics, log)
            )
        except LeaderboardError as problem:
            raise CutpurseError(str(problem)) from None
    if is_hurried:
        raise typer.Exit(INTERRUPTED)


async def _work(db: str, name: str, slots: int, runner: Runner, storage: Storage, metrics: str, log: Logger) -> bool:
    """Work until a signal; return whether a second one gave up the matches at hand."""
    from cutpurse.server.parts.workers.bot_files import BotFiles
    from cutpurse.server.parts.workers.match_player import MatchPlayer
    from cutpurse.server.parts.workers.match_queue import PgMatchQueue
    from cutpurse.server.parts.workers.worker import OtherVersion, Worker
    from cutpurse.server.parts.workers.worker_database import WorkerDatabase

    database = WorkerDatabase(db, f"{name} {secrets.token_hex(4)}", log)
    player = MatchPlayer(runner, storage, BotFiles(storage, database.fetch), log)
    working = Worker(database, PgMatchQueue(database.connect), player, log, print_message)
    loop = asyncio.get_running_loop()
    signals, is_there = 0, False

    async def work() -> None:
        nonlocal is_there
        await database.reach(print_message)
        await asyncio.to_thread(database.check)
        is_there = True
        for line in runner.weaker():
            print_message(f"  {line}")
        print_message(f"worker {name}: {slots} at a time, runner {runner.name}")
        await working.run(slots)

    running = loop.create_task(work())

    def stop() -> None:
        nonlocal signals
        signals += 1
        if not is_there:
            running.cancel()
        elif signals == 1:
            print_message("ends when the matches at hand are over")
            working.drain()
        elif signals == 2:
            working.give_up()
        else:  # the database cannot be reached
            running.cancel()

    for number in (signal.SIGINT, *ends()):
        loop.add_signal_handler(number, stop)
    figures = {
        "worker_slots": "Matches that this worker plays at a time",
        "worker_matches": "Matches that it has now",
        "worker_played": "Matches that it has handed back",
    }

    def read() -> dict[str, float]:
        return {"worker_slots": slots, "worker_matches": working.count, "worker_played": working.played}

    try:
        with monitored(metrics, figures, read, log):
            await running
    except OtherVersion as needed:
        raise CutpurseError(
            f"the league's server is Cutpurse {needed}; install that version here: "
            f"in its checkout, {install_command('server', 'sandbox', 'cluster')}"
        ) from None
    except asyncio.CancelledError:
        return is_there
    finally:
        await database.close()
    print_message(f"{working.played} handed back")
    return signals > 1
