"""A site, built once for the tests of a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cutpurse.page.site.build import HERE, build_site


def some_pyodide(folder: Path, version: str = "") -> Path:
    """Write a folder like that of the npm package, with files that are not Python, for tests without a browser."""
    pinned = json.loads((HERE / "package.json").read_bytes())["dependencies"]["pyodide"]
    folder.mkdir()
    (folder / "package.json").write_text(json.dumps({"version": version or pinned}))
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"):
        (folder / name).write_text(name)
    return folder


@pytest.fixture(scope="session")
def plain_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a site whose Python does not run."""
    folder = tmp_path_factory.mktemp("site")
    build_site(folder / "public", some_pyodide(folder / "pyodide"))
    return folder / "public"
