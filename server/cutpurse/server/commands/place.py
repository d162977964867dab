"""`cutpurse place`: runs submitted bots of a server on this machine, until it is stopped by signals."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutpurse.engine.errors import UsageError
from cutpurse.process.signals import ends
from cutpurse.process.terminal import print_message
from cutpurse.wire.connection import dialling
from cutpurse.wire.errors import needs
from cutpurse.wire.server_address import SERVER_VARIABLE
from cutpurse.wire.text import format_count

if TYPE_CHECKING:
    from cutpurse.server.logs import Logger
    from cutpurse.server.runners.port import Runner
    from cutpurse.server.submissions.storage import Storage
    from cutpurse.wire.connection import Dialling

__all__ = ["monitored", "open_storage", "place", "usual_folder", "usual_name"]

MAX_KEPT = 200  # bots whose files are kept for the next run


def place(
    server: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help=f"host:port or https://host:port. [default: ${SERVER_VARIABLE}]"),
    ] = None,
    runner: Annotated[
        str, typer.Option(metavar="RUNNER", help="bubblewrap, container, or process (no isolation).")
    ] = "bubblewrap",
    cores: Annotated[
        float | None, typer.Option(metavar="N", help="Processor cores for bots. [default: all but one]")
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of this place. [default: the machine's name]")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="For files of bots. [default: ~/.cache/cutpurse/place]")
    ] = None,
    runner_image: Annotated[
        str, typer.Option(metavar="IMAGE", help="Image for bots in containers. [default: cutpurse-bot]")
    ] = "",
    ca: Annotated[
        Path | None,
        typer.Option("--ca", metavar="FILE", help="PEM file with certificates to trust. [default: the system's]"),
    ] = None,
    metrics: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Serve /metrics and /healthz over HTTP. [default: off]")
    ] = "",
    log_level: Annotated[str, typer.Option(metavar="LEVEL", help="debug, info, warning or error.")] = "warning",
) -> None:
    """Run submitted bots of a server on this machine, until SIGTERM or Ctrl-C.

    The server must run with --submissions and --places. The token, of scope place, comes from CUTPURSE_TOKEN or
    ~/.config/cutpurse/token. Bots run here with the same limits as on the server; the matches stay there. After the
    first signal the bots move to other places, each when its open matches are over; a second signal ends at once.

    Example: cutpurse place --server https://league.example:7777 --cores 4
    """
    with needs("server"):
        from cutpurse.server.logs import LEVELS, capture_library_logs, logger
        from cutpurse.server.runners.port import runner_named
    if log_level not in LEVELS:
        raise UsageError(f"--log-level {log_level!r:.80}: there are: {', '.join(LEVELS)}")
    offered = max(1.0, (os.cpu_count() or 1) - 1.0) if cores is None else cores
    if not 0 < offered < float("inf"):
        raise UsageError(f"--cores {offered:g}: it is a number above 0")
    to = dialling(server, ca)
    running = runner_named(runner, runner_image)
    if (why := running.missing()) is not None:
        raise UsageError(f"--runner {runner}: {why}")
    log = logger(sys.stderr, log_level)
    capture_library_logs(log)
    with open_storage(folder or usual_folder("place"), "place") as storage:
        for line in running.weaker():
            print_message(f"  {line}")
        asyncio.run(_attend(to, name or usual_name("place"), offered, running, storage, metrics, log))


async def _attend(
    to: Dialling, name: str, cores: float, runner: Runner, storage: Storage, metrics: str, log: Logger
) -> None:
    from cutpurse.server.places.attendance import Attendance
    from cutpurse.server.places.host_facts import host_facts
    from cutpurse.server.places.place_bots import PlaceBots
    from cutpurse.server.places.place_speed import speed_of_this_machine
    from cutpurse.server.places.tunnel import open_tunnel

    speed = await speed_of_this_machine()
    attendance = Attendance(
        to,
        name=name,
        cores=cores,
        runner=runner.name,
        host=host_facts(runner.name),
        speed=speed,
        log=log,
        say=print_message,
    )
    bots = PlaceBots(runner, storage, attendance.fetch, log)
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
    print_message(f"place {name}: {cores:g} cores, runner {runner.name}, speed {speed:.0f}")
    figures = {"place_cores": "Cores for bots", "place_bots": "Bots that run here"}
    try:
        with monitored(metrics, figures, lambda: {"place_cores": cores, "place_bots": len(bots.numbers)}, log):
            await attendance.attend(bots)
    finally:
        tunnel.close()
        await bots.close()


@contextmanager
def monitored(
    address: str, figures: Mapping[str, str], read: Callable[[], Mapping[str, float]], log: Logger
) -> Iterator[None]:
    """Serve the monitoring pages of a place or worker, if there is an address; arguments as in `part_pages`.

    Raises:
        AddressError: If other machines could reach the address, or it is invalid.
        CannotListen: If it is not available.
    """
    if not address:
        yield
        return
    from cutpurse.server.hosting.monitoring import Monitoring
    from cutpurse.server.hosting.part_pages import part_pages

    with Monitoring(address, part_pages(asyncio.get_running_loop(), figures, read), log) as monitoring:
        print_message(f"metrics at http://{monitoring.address}/metrics")
        yield


@contextmanager
def open_storage(folder: Path, user: str) -> Iterator[Storage]:
    """Open the folder for files of bots, which only one place or worker (`user`) may use at a time.

    Raises:
        UsageError: If another one uses it, or it cannot be used.
    """
    import fcntl

    from cutpurse.server.submissions.storage import Storage

    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (folder / "lock").open("w", encoding="ascii")
    except OSError as problem:
        raise UsageError(f"--folder {folder}: cannot be used: {problem.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"--folder {folder}: another {user} uses it; choose another one") from None
        storage = Storage(folder)
        storage.remove_others(_newest(folder))
        try:
            yield storage
        finally:
            storage.close()


def _newest(folder: Path) -> list[bytes]:
    """Return the digests of the files that came last."""
    kept = sorted(folder.glob("?" * 64), key=lambda path: path.stat().st_mtime)[-MAX_KEPT:]
    return [bytes.fromhex(path.name) for path in kept]


def usual_folder(user: str) -> Path:
    """Return the folder of a place or worker (`user`) of this machine's user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "cutpurse" / user


def usual_name(user: str) -> str:
    """Return the machine's name, as far as it can be one of a place or worker (`user`)."""
    return re.sub(r"[^a-z0-9_.-]", "-", socket.gethostname().lower())[:32].lstrip("_.-") or user
