"""Where the bot in JavaScript is, and how it is started; the bot itself is `bot.mjs`, which needs no Python.

Its npm packages are installed where it lies in a checkout, and in a folder of the user's cache otherwise. This module
knows no server and no match.
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

from cutpurse.sdk.errors import NotFound

__all__ = ["command", "folder"]

OLDEST_NODE: Final = 18
INSTALL_S: Final = 120.0  # for npm; it takes a few seconds when it works
LOCK: Final = "package-lock.json"
FILES: Final = ("bot.mjs", "package.json", LOCK)
# Exactly the packages of the lock file; their own install scripts do not run.
INSTALL: Final = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1")


def command() -> list[str]:
    """The command line that runs it; the npm packages are installed first if they are not there yet.

    It dials CUTPURSE_SERVER under the name CUTPURSE_BOT.  Raises NotFound, with the reason, where Node, npm or the
    packages are not to be had.
    """
    node = _node()
    place = folder()
    if not _is_installed(place):
        _install(place)
    return [node, str(place / "bot.mjs")]


def folder() -> Path:
    """The folder to run it in: that of a checkout, or a copy in the cache, made if need be.

    Raises NotFound if the copy cannot be made.
    """
    here = Path(__file__).resolve().parent
    checkout = here.parents[1] / "javascript"
    if checkout.is_dir():
        return checkout
    # The places that they have in a checkout, so that the bot finds its .proto files.
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
    """Ours, as the XDG base directories have it."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cutpurse"


def _put(file: Path, content: bytes) -> None:
    """Write a file in one step, so that nobody reads half of it."""
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as half:
        half.write(content)
    Path(half.name).replace(file)


def _node() -> str:
    """The path of Node.  Raises NotFound."""
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
    """Whether the packages of the lock file are there, in their versions. npm writes its list when it is done."""
    try:
        wanted = _versions(place / LOCK)
        return _versions(place / "node_modules" / ".package-lock.json") == wanted
    except (OSError, ValueError, KeyError):
        return False


def _versions(lock: Path) -> dict[str, str]:
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    return {name: package["version"] for name, package in packages.items() if name}


def _install(place: Path) -> None:
    """Install aside, and put all of it in its place in one step: others may be doing the same.  Raises NotFound."""
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
        if not _is_installed(place):  # else somebody else was first
            raise NotFound(f"the packages cannot be put into {place}: {problem}") from None


def _run(command: list[str], place: Path) -> subprocess.CompletedProcess[str]:
    """Raises NotFound if it cannot be run or does not end."""
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
