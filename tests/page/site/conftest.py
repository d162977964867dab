"""Sites, each built once for the tests of a process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutpurse.page.site.build import build_site
from cutpurse.page.site.packages import HERE
from tests.page.leagues import league_file
from tests.roots import CHECKOUT
from tests.typed import run_apart


def some_packages(folder: Path, **versions: str) -> Path:
    """Write a folder like that of npm, with files that are no programs, for tests without a browser."""
    locked = json.loads((HERE / "package-lock.json").read_bytes())["packages"]
    for name, package in locked.items():
        if name:
            place = folder / name.removeprefix("node_modules/")
            place.mkdir(parents=True)
            about = {"version": versions.get(place.name, package["version"]), "module": "index.js"}
            (place / "package.json").write_text(json.dumps(about))
            (place / "index.js").touch()
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"):
        (folder / "pyodide" / name).write_text(name)
    return folder


@pytest.fixture(scope="session")
def plain_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site whose Python does not run."""
    folder = tmp_path_factory.mktemp("site")
    build_site(folder / "public", some_packages(folder / "packages"))
    return folder / "public"


@pytest.fixture(scope="session")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the site with a league and serve it from `python -m http.server`; yield its address with a folder in it."""
    packages = CHECKOUT / "server/cutpurse/page/site/node_modules"
    if not (packages / "pyodide" / "package.json").is_file():
        pytest.skip("The packages of the site are not here: npm ci --prefix server/cutpurse/page/site --ignore-scripts")
    folder = tmp_path_factory.mktemp("host")
    database = league_file(folder / "league.db", matches=1)
    words = ("--into", folder / "some/folder", "--packages", packages, "--league", database, "--days", "36500")
    built = run_apart("site", "build", *words)
    assert built.returncode == 0, built.stderr
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        port = re.search(r"port (\d+)", server.stdout.readline())
        assert port is not None
        yield f"http://127.0.0.1:{port[1]}/some/folder/"
        server.kill()
