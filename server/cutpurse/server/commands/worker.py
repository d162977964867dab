"""`cutpurse worker`: plays whole matches of hosted ladders on this machine, until it is stopped by a signal."""

from __future__ import annotations

import asyncio
import secrets
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.leaderboard.address import is_postgresql
from cutpurse.process.signals import ends
from cutpurse.process.terminal import print_message
from cutpurse.server.commands.place import monitored, open_storage, usual_folder, usual_name
from cutpurse.wire.errors import INTERRUPTED, needs

if TYPE_CHECKING:
    from cutpurse.server.logs import Logger
    from cutpurse.server.runners.port import Runner
    from cutpurse.server.submissions.storage import Storage

__all__ = ["worker"]

MAX_SLOTS = 1_000


def worker(
    db: Annotated[str, typer.Option(metavar="ADDRESS", help="The league: postgresql://USER@HOST:PORT/DATABASE.")],
    runner: Annotated[
        str, typer.Option(metavar="RUNNER", help="bubblewrap, container, or process (no isolation).")
    ] = "bubblewrap",
    slots: Annotated[int, typer.Option(metavar="N", help="Maximum matches at a time.")] = 1,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of this worker. [default: the machine's name]")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="For files of bots. [default: ~/.cache/cutpurse/worker]")
    ] = None,
    runner_image: Annotated[
        str, typer.Option(metavar="IMAGE", help="Image for bots in containers. [default: cutpurse-bot]")
    ] = "",
    metrics: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Serve /metrics and /healthz over HTTP. [default: off]")
    ] = "",
    log_level: Annotated[str, typer.Option(metavar="LEVEL", help="debug, info, warning or error.")] = "warning",
) -> None:
    """Play matches of a league's hosted ladders on this machine, until SIGTERM or Ctrl-C.

    The first signal lets matches at hand end; a second one gives them up, and they are void. The password of the
    database comes from PGPASSWORD or ~/.pgpass.

    Example: cutpurse worker --db postgresql://worker@db.example/league --slots 4
    """
    with needs("server"):
        from cutpurse.leaderboard.errors import LeaderboardError
        from cutpurse.server.league.hosted_ladders import missing_queue
        from cutpurse.server.logs import LEVELS, capture_library_logs, logger
        from cutpurse.server.runners.port import runner_named
    if log_level not in LEVELS:
        raise UsageError(f"--log-level {log_level!r:.80}: there are: {', '.join(LEVELS)}")
    if not is_postgresql(db):
        raise UsageError("--db: workers play for a league in PostgreSQL: postgresql://USER@HOST:PORT/DATABASE")
    if not 1 <= slots <= MAX_SLOTS:
        raise UsageError(f"--slots {slots}: it can be 1 to {MAX_SLOTS:,}")
    if why := missing_queue():
        raise UsageError(why)
    running = runner_named(runner, runner_image)
    if (missing := running.missing()) is not None:
        raise UsageError(f"--runner {runner}: {missing}")
    log = logger(sys.stderr, log_level)
    capture_library_logs(log)
    with open_storage(folder or usual_folder("worker"), "worker") as storage:
        for line in running.weaker():
            print_message(f"  {line}")
        try:
            is_hurried = asyncio.run(_work(db, name or usual_name("worker"), slots, running, storage, metrics, log))
        except LeaderboardError as problem:
            raise CutpurseError(str(problem)) from None
    if is_hurried:
        raise typer.Exit(INTERRUPTED)


async def _work(db: str, name: str, slots: int, runner: Runner, storage: Storage, metrics: str, log: Logger) -> bool:
    """Work until a signal; return whether a second one gave up the matches at hand."""
    from cutpurse.server.dealing.match_queue import PgMatchQueue
    from cutpurse.server.workers.bot_files import BotFiles
    from cutpurse.server.workers.match_player import MatchPlayer
    from cutpurse.server.workers.worker import OtherVersion, Worker
    from cutpurse.server.workers.worker_database import WorkerDatabase

    database = WorkerDatabase(db, f"{name} {secrets.token_hex(4)}", log)
    await asyncio.to_thread(database.check)
    player = MatchPlayer(runner, storage, BotFiles(storage, database.fetch), log)
    working = Worker(database, PgMatchQueue(database.connect), player, log, print_message)
    loop = asyncio.get_running_loop()
    running = loop.create_task(working.run(slots))
    signals = 0

    def stop() -> None:
        nonlocal signals
        signals += 1
        if signals == 1:
            print_message("ends when the matches at hand are over")
            working.drain()
        elif signals == 2:
            working.give_up()
        else:  # the database cannot be reached
            running.cancel()

    for number in (signal.SIGINT, *ends()):
        loop.add_signal_handler(number, stop)
    print_message(f"worker {name}: {slots} at a time, runner {runner.name}")
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
            f"the league's server is Cutpurse {needed}; install the same version here: pip install cutpurse=={needed}"
        ) from None
    except asyncio.CancelledError:
        return True
    print_message(f"{working.played} handed back")
    return signals > 1
