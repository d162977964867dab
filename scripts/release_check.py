"""The check of the files of a release, as users install them: `python -m scripts.release_check DIST`.

`make release-check` builds them first. A local index serves them, and the packages that they need at the versions of
`scripts/demo.lock`. Each wheel that fits this machine is installed from it by name into an environment of its own, and
plays a match and the demo there. `uvx` and `pipx` then run the newest of them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import venv
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from cutpurse.wire.text import format_count
from cutpurse.wire.version import VERSION
from scripts.long_description import RELATIVE, RELEASE_VARIABLES

__all__ = ["check_description", "fitting", "index_files", "served"]

CHECKOUT: Final = Path(__file__).resolve().parents[1]
TOOLS: Final = ("uv==0.13.8", "pipx==1.8.0")
MATCH: Final = ("play", "greed", "greedy", "random", "random", "random", "--matches", "2")


def main() -> None:
    """Check the files of a folder.  Exits with a line that says what is wrong."""
    dist = Path(sys.argv[1]).resolve()
    wheels = fitting(dist.glob("*.whl"))
    if not wheels or not list(dist.glob("*.tar.gz")):
        sys.exit(f"release-check: {dist} has no sdist, or no wheel for this machine: make release-check builds them")
    for wheel in wheels:
        check_description(wheel)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        needed = folder / "needed"
        say("fetching what the wheels need")
        pip(sys.executable, "wheel", "--require-hashes", "-r", CHECKOUT / "scripts/demo.lock", "-w", needed)
        for number, wheel in enumerate(wheels):
            index_files([wheel, *needed.glob("*.whl")], folder / f"index-{number}")
            with served(folder / f"index-{number}") as url:
                try_wheel(wheel, url, folder / f"try-{number}")
        with served(folder / f"index-{len(wheels) - 1}") as url:
            try_tools(url, folder)
    say(f"{format_count(len(wheels), 'wheel', 'wheels')} of {VERSION}: all is well")


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"release-check: {text}", flush=True)


def fitting(wheels: Iterable[Path]) -> list[Path]:
    """Return the wheels that can be installed here, the pure one first."""
    tags = frozenset(sys_tags())
    matching = [wheel for wheel in wheels if parse_wheel_filename(wheel.name)[3] & tags]
    return sorted(matching, key=lambda wheel: (not wheel.name.endswith("-any.whl"), wheel.name))


def check_description(wheel: Path) -> None:
    """Exit if a wheel of the release workflow has a README that an index cannot show whole."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        links = RELATIVE.findall(archive.read(name).decode())
    if links and RELEASE_VARIABLES[1] in os.environ:
        sys.exit(f"release-check: {wheel.name}: its README has addresses that lead nowhere on an index: {links[0][2]}")


def index_files(files: Iterable[Path], folder: Path) -> None:
    """Copy packages into a folder in the form of an index: `NAME/FILE`."""
    for file in files:
        package = folder / re.sub(r"[-_.]+", "-", file.name.split("-")[0]).lower()
        package.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, package)


class _Quiet(SimpleHTTPRequestHandler):
    """A server of files and of lists of folders, which are what an index is; it logs nothing."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve an index on this machine, and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield "http://{}:{}".format(*server.server_address)
        finally:
            server.shutdown()


def pip(python: str | Path, *words: object) -> None:
    """Run pip of an environment."""
    run(Path.cwd(), python, "-m", "pip", "--disable-pip-version-check", "-q", *words)


def run(folder: Path, *words: object) -> str:
    """Run a command in a folder and return its output.  Exits with what it said if it fails."""
    command = [str(word) for word in words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"release-check: {' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def try_wheel(wheel: Path, url: str, folder: Path) -> None:
    """Install a wheel by its name, and play a match and the demo with it."""
    say(f"{wheel.name}: installing it by name")
    venv.create(folder / "venv", with_pip=True)
    scripts = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    pip(scripts / "python", "install", "-i", url, f"cutpurse[server,web]=={VERSION}")
    build = "pure Python" if wheel.name.endswith("-any.whl") else "compiled engine"
    output = run(folder, scripts / "cutpurse", "--version")
    if not output.startswith(f"cutpurse {VERSION}, {build},"):
        sys.exit(f"release-check: {wheel.name} says it is {output.strip()!r}, and must be {VERSION}, {build}")
    run(folder, scripts / "cutpurse", *MATCH)
    say(f"{wheel.name}: playing the demo")
    run(folder, scripts / "cutpurse", "demo", "--matches", "2", "--folder", "demo")
    run(folder, scripts / "cutpurse", "db", "verify", "demo/demo.db")


def try_tools(url: str, folder: Path) -> None:
    """Play a match as `uvx` and `pipx` run a package that is not installed."""
    venv.create(folder / "tools", with_pip=True)
    scripts = folder / "tools" / ("Scripts" if sys.platform == "win32" else "bin")
    pip(scripts / "python", "install", *TOOLS)
    say("playing a match by uvx")
    uvx = ("uvx", "--no-config", "--cache-dir", folder / "uv", "--python", sys.executable, "--default-index", url)
    run(folder, scripts / uvx[0], *uvx[1:], "--from", f"cutpurse=={VERSION}", "cutpurse", *MATCH)
    say("playing a match by pipx")
    pipx = ("run", "--no-cache", "--python", sys.executable, "-i", url, "--spec", f"cutpurse=={VERSION}")
    run(folder, "env", f"PIPX_HOME={folder / 'pipx'}", scripts / "pipx", *pipx, "cutpurse", *MATCH)


if __name__ == "__main__":
    main()
