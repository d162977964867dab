"""`cutpurse place`: runs submitted bots of a server on this machine, until it is stopped by signals."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutpurse.engine.errors import UsageError
from cutpurse.process.signals import ends, run_async
from cutpurse.process.terminal import print_message
from cutpurse.server.parts.submissions.machine import monitored, open_storage, usual_folder, usual_name
from cutpurse.server.parts.submissions.options import Folder, LogLevel, MachineName, Metrics, RunnerImage, RunnerName
from cutpurse.wire.connection import dialling
from cutpurse.wire.errors import needs
from cutpurse.wire.server_address import SERVER_VARIABLE
from cutpurse.wire.text import format_count

if TYPE_CHECKING:
    from cutpurse.server.logs import Logger
    from cutpurse.server.parts.submissions.storage import Storage
    from cutpurse.server.runners.port import Runner
    from cutpurse.wire.connection import Dialling

__all__ = ["place"]


def place(
    server: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help=f"host:port or https://host:port. [default: ${SERVER_VARIABLE}]"),
    ] = None,
    runner: RunnerName = "bubblewrap",
    cores: Annotated[
        float | None, typer.Option(metavar="N", help="Processor cores for bots. [default: all but one]")
    ] = None,
    name: MachineName = None,
    folder: Folder = None,
    runner_image: RunnerImage = "",
    ca: Annotated[
        Path | None,
        typer.Option("--ca", metavar="FILE", help="PEM file with certificates to trust. [default: the system's]"),
    ] = None,
    metrics: Metrics = "",
    log_level: LogLevel = "warning",
) -> None:
    """Run submitted bots of a server on this machine, until SIGTERM or Ctrl-C.

    The server must run with --submissions and --places. The token, of scope place, comes from CUTPURSE_TOKEN or
    ~/.config/cutpurse/token. Bots run here with the same limits as on the server; the matches stay there. After the
    first signal the bots move to other places, each when its open matches are over; a second signal ends at once.

    Example: cutpurse place --server https://league.example:7777 --cores 4
    """
    with needs("server"):
        from cutpurse.server.logs import capture_library_logs, logger
        from cutpurse.server.runners.choosing import working_runner
    offered = max(1.0, (os.cpu_count() or 1) - 1.0) if cores is None else cores
    if not 0 < offered < float("inf"):
        raise UsageError(f"--cores {offered:g}: it is a number above 0")
    to = dialling(server, ca)
    running = working_runner(runner, runner_image, "--runner")
    log = logger(sys.stderr, log_level)
    capture_library_logs(log)
    with open_storage(folder or usual_folder("place"), "place") as storage:
        run_async(lambda: _attend(to, name or usual_name("place"), offered, running, storage, metrics, log))


async def _attend(
    to: Dialling, name: str, cores: float, runner: Runner, storage: Storage, metrics: str, log: Logger
) -> None:
    from cutpurse.server.parts.hosts.attendance import Attendance
    from cutpurse.server.parts.hosts.host_facts import host_facts
    from cutpurse.server.parts.hosts.place_bots import PlaceBots
    from cutpurse.server.parts.hosts.tunnel import open_tunnel

    attendance = Attendance(
        to,
        name=name,
        cores=cores,
        runner=runner.name,
        host=host_facts(runner.name),
        log=log,
        say=print_message,
        notes=runner.weaker(),
    )
    bots = PlaceBots(runner, storage, attendance.fetch, log, attendance.get_memory, attendance.put_memory)
    loop = asyncio.get_running_loop()
    is_told = False

    def stop() -> None:
        nonlocal is_told
        if is_told:
            attendance.leave()
            return
        is_told = True
        if count := len(bots.numbers):
            moving = format_count(count, "bot moves", "bots move")
            print_message(f"{moving} to other places, each after its open matches; another signal ends at once")
        attendance.drain()

    for number in (signal.SIGINT, *ends()):
        loop.add_signal_handler(number, stop)
    tunnel = await open_tunnel(storage.server_socket, to)
    figures = {"place_cores": "Cores for bots", "place_bots": "Bots that run here"}
    try:
        with monitored(metrics, figures, lambda: {"place_cores": cores, "place_bots": len(bots.numbers)}, log):
            await attendance.attend(bots)
    finally:
        tunnel.close()
        await bots.close()
