"""The program specifications for building and running a bot, made from its bot.toml.

This module knows no process.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cutpurse.server.runners.port import ProgramSpec, ResourceLimits
from cutpurse.server.runners.runtimes import python_runtime
from cutpurse.v1 import arena_pb2
from cutpurse.wire.manifest import Manifest
from cutpurse.wire.server_address import PROTO_VARIABLE, RECONNECT_VARIABLE, TOKEN_VARIABLE

__all__ = ["BUILD_S", "LEFT_BYTES", "build_task", "play_task", "runtime_variables", "without_paths"]

MIB: Final = 1 << 20
# Limits for compilers. Builds run at low CPU priority, and mostly wait on a busy server. So the wall-clock limit is
# twice the CPU limit.
BUILD_S: Final = 600.0
BUILD_CPU_S: Final = 300.0
BUILD_BYTES: Final = 1_536 * MIB  # of memory
BUILD_FILES_BYTES: Final = 512 * MIB  # of the folder, and of the scratch folder, during a build
BUILD_PROCESSES: Final = 256  # compilers start threads for each core of this machine
LEFT_BYTES: Final = 64 * MIB  # maximum growth of the folder by a build
PATIENCE_S: Final = 30  # without a server until a bot ends, since its server is gone; a busy one is only slow


def build_task(manifest: Manifest, folder: Path, talk: Path) -> ProgramSpec:
    """Describe the build of a bot: it may write into its folder, and has no socket."""
    return ProgramSpec(
        name=f"the build of {manifest.name}",
        folder=folder,
        command=manifest.build,
        talk=talk,
        is_writable=True,
        environment=_environment(manifest),
        limits=ResourceLimits(
            memory_bytes=BUILD_BYTES,
            processes=BUILD_PROCESSES,
            file_bytes=BUILD_FILES_BYTES,
            cpu_cores=1.0,
            cpu_s=BUILD_CPU_S,
            wall_s=BUILD_S,
        ),
        runtimes=python_runtime(),
        for_runtimes=runtime_variables(),
    )


def play_task(
    manifest: Manifest,
    folder: Path,
    arena: Path,
    talk: Path,
    token: str = "",
    ladders: Sequence[str] = (),
    memory: Path | None = None,
) -> ProgramSpec:
    """Describe the bot itself: it has a socket in `arena` to the server, a token for it, and perhaps a memory."""
    return ProgramSpec(
        name=f"{manifest.name}:{manifest.version}",
        folder=folder,
        command=manifest.run,
        talk=talk,
        arena=arena,
        environment=_environment(manifest) | ({TOKEN_VARIABLE: token} if token else {}),
        limits=ResourceLimits(memory_bytes=manifest.memory_mb * MIB),
        runtimes=python_runtime(),
        for_runtimes=runtime_variables(),
        ladders=tuple(ladders),
        memory=memory,
    )


def _environment(manifest: Manifest) -> dict[str, str]:
    return {
        "CUTPURSE_BOT": manifest.name,
        "CUTPURSE_VERSION": manifest.version,
        RECONNECT_VARIABLE: str(PATIENCE_S),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def runtime_variables() -> dict[str, str]:
    """Return the environment variables that lead to files of this machine, for `ProgramSpec.for_runtimes`."""
    return {PROTO_VARIABLE: str(Path(arena_pb2.__file__).resolve().parents[2])}


def without_paths(text: str, folder: Path, arena: Path | None = None) -> str:
    """Replace the paths of this machine in a program's output, so that its author may read it."""
    known = [(folder, "/bot"), *([(arena, "/run/cutpurse")] if arena is not None else [])]
    known += [(path, f"/runtime{number}") for number, path in enumerate(python_runtime())]
    for path, name in sorted(known, key=lambda pair: -len(str(pair[0]))):
        text = text.replace(str(path), name)
    return text
