"""Options of the commands that run submitted bots on other machines, `cutpurse place` and `cutpurse worker`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from cutpurse.engine.errors import UsageError
from cutpurse.server.settings import LOG_LEVELS

__all__ = ["Folder", "LogLevel", "MachineName", "Metrics", "RunnerImage", "RunnerName"]


def _known_level(level: str) -> str:
    if level not in LOG_LEVELS:
        raise UsageError(f"--log-level {level!r:.80}: there are: {', '.join(LOG_LEVELS)}")
    return level


RunnerName: TypeAlias = Annotated[
    str, typer.Option(metavar="RUNNER", help="bubblewrap, container, or process (no isolation).")
]
RunnerImage: TypeAlias = Annotated[
    str, typer.Option(metavar="IMAGE", help="Image for bots in containers. [default: cutpurse-bot]")
]
MachineName: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="What the server calls this machine. [default: the machine's name]")
]
Folder: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="DIR", help="For files of bots. [default: a folder in ~/.cache/cutpurse]")
]
Metrics: TypeAlias = Annotated[
    str, typer.Option(metavar="HOST:PORT", help="Serve /metrics and /healthz over HTTP. [default: off]")
]
LogLevel: TypeAlias = Annotated[
    str, typer.Option(metavar="LEVEL", help="debug, info, warning or error.", callback=_known_level)
]
