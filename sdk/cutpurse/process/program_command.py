"""The command of a program that plays as a bot, `exec:COMMAND`, and the environment it is started in."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.wire.errors import BotNotLoaded
from cutpurse.wire.server_address import PROTO_VARIABLE, RECONNECT_VARIABLE, SERVER_VARIABLE

__all__ = ["PROGRAM", "command_of", "environment_for"]

PROGRAM: Final = "exec:"  # begins the name of a bot that is a command
PATIENCE_S: Final = 10  # seconds without a server after which a program exits; a busy one is only slow


def command_of(spec: str) -> list[str]:
    """Return the command of `exec:COMMAND`, split as a shell would.

    Raises:
        UsageError: If there is no command.
        BotNotLoaded: If its program does not exist or cannot be run.
    """
    try:
        command = shlex.split(spec.removeprefix(PROGRAM), posix=os.name == "posix")
    except ValueError as problem:
        raise UsageError(f"bot {spec}: {problem}") from None
    if not command:
        raise UsageError(f"bot {spec}: after {PROGRAM} comes a command, such as '{PROGRAM}node bot.mjs'")
    if shutil.which(command[0]) is None:
        what = "cannot be run: it is not executable" if Path(command[0]).is_file() else "is not to be found"
        raise BotNotLoaded(f"bot {spec}: {command[0]} {what}")
    return command


def environment_for(address: str) -> dict[str, str]:
    """Return the environment variables for a program that connects to `address`."""
    from cutpurse.v1 import arena_pb2  # late: it needs protobuf

    protos = Path(arena_pb2.__file__).resolve().parents[2]
    return {SERVER_VARIABLE: address, PROTO_VARIABLE: str(protos), RECONNECT_VARIABLE: str(PATIENCE_S)}
