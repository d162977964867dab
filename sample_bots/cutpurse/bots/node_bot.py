"""The location and the command of the bot in JavaScript; the bot itself is `bot.mjs`, which needs no Python.

In a checkout its npm packages are installed beside it, otherwise in a folder of the user's cache. This module knows no
server and no match.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Final

from cutpurse.wire.errors import NotFound

__all__ = ["command", "folder"]

OLDEST_NODE: Final = 18
INSTALL_S: Final = 120.0  # for npm, which normally takes a few seconds
LOCK: Final = "package-lock.json"
FILES: Final = ("bot.mjs", "package.json", LOCK)
# Installs exactly the packages of the lock file, without running their install scripts.
INSTALL: Final = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1")


def command() -> list[str]:
    """Return the command line that runs the bot; install the npm packages first if they are missing.

    The bot connects to CUTPURSE_SERVER under the name CUTPURSE_BOT.  Raises NotFound, with the reason, if Node, npm or
    the packages are not available.
    """
    node = _node()
    place = folder()
    if not _is_installed(place):
        _install(place)
    return [node, str(place / "bot.mjs")]


def folder() -> Path:
    """Return the folder to run the bot in: that of a checkout, or a copy in the cache, made if necessary.

    Raises NotFound if the copy cannot be made.
    """
    here = Path(__file__).resolve().parent
    checkout = here.parents[1] / "javascript"
    if checkout.is_dir():
        return checkout
    # The same paths as in a checkout, so that the bot finds its .proto files.
    files = {f"sample_bots/javascript/{name}": here / "javascript" / name for name in FILES}
    files |= {f"proto/cutpurse/v1/{proto.name}": proto for proto in sorted((here.parent / "v1").glob("*.proto"))}
    try:
        contents = {name: file.read_bytes() for name, file in files.items()}
        digest = sha256(b"\0".join(contents.values())).hexdigest()[:16]
        copy = _cache() / "javascript" / digest
        for name, content in contents.items():
            _put(copy / name, content)
    except OSError as problem:
        raise NotFound(f"the bot in JavaScript cannot be copied to the cache: {problem}") from None
    return copy / "sample_bots" / "javascript"


def _cache() -> Path:
    """Return our cache folder, as the XDG base directories define it."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cutpurse"


def _put(file: Path, content: bytes) -> None:
    """Write a file in one step, so that no process reads half of it."""
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as half:
        half.write(content)
    Path(half.name).replace(file)


def _node() -> str:
    """Return the path of Node.  Raises NotFound."""
    node = shutil.which("node")
    if node is None:
        raise NotFound("Node is not installed")
    said = _run([node, "--version"], Path.cwd())
    version = said.stdout.strip()
    number = version.removeprefix("v").partition(".")[0]
    if not number.isdigit() or int(number) < OLDEST_NODE:
        raise NotFound(f"Node {OLDEST_NODE} or newer is needed; {node} is {version or 'of no known version'}")
    return node


def _is_installed(place: Path) -> bool:
    """Return whether the packages of the lock file are installed, in these versions. npm writes its list last."""
    try:
        lock_versions = _versions(place / LOCK)
        return _versions(place / "node_modules" / ".package-lock.json") == lock_versions
    except (OSError, ValueError, KeyError):
        return False


def _versions(lock: Path) -> dict[str, str]:
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    return {name: package["version"] for name, package in packages.items() if name}


def _install(place: Path) -> None:
    """Install into a temporary folder, then move the packages into place; others may do the same.  Raises NotFound."""
    npm = shutil.which("npm")
    if npm is None:
        raise NotFound("npm is not installed, and the packages of the bot in JavaScript are not there")
    try:
        with tempfile.TemporaryDirectory(prefix=".installing-", dir=place) as aside:
            for name in ("package.json", LOCK):
                shutil.copy(place / name, aside)
            done = _run([npm, *INSTALL], Path(aside))
            if done.returncode:
                said = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
                raise NotFound(f"npm cannot install the packages: {(said or ['it does not say why'])[0]}")
            modules = place / "node_modules"
            if modules.exists() and not _is_installed(place):
                modules.rename(Path(aside) / "older")
            if not modules.exists():
                (Path(aside) / "node_modules").rename(modules)
    except OSError as problem:
        if not _is_installed(place):  # else another process was first
            raise NotFound(f"the packages cannot be put into {place}: {problem}") from None


def _run(command: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    """Run a command.  Raises NotFound if it cannot be run or does not end."""
    try:
        return subprocess.run(
            command,
            cwd=place,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=INSTALL_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NotFound(f"{command[0]} cannot be run, or does not end: {type(problem).__name__}") from None
