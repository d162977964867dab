"""The npm packages of the site, in the versions that package-lock.json pins with their hashes: Pyodide and the editor.

Modules of the editor name each other as packages, which browsers cannot find. In the site they name files.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = ["HERE", "PACKAGES", "PYODIDE", "editor_files", "pyodide_files"]

HERE: Final = Path(__file__).parent
PACKAGES: Final = HERE / "node_modules"  # where `npm ci` puts them
_LOCKED: Final = json.loads((HERE / "package-lock.json").read_bytes())["packages"]
PYODIDE: Final = f"pyodide-{_LOCKED['node_modules/pyodide']['version']}"
# Files of Pyodide with their names here: hosts know the media type of .js, and some do not know that of .mjs.
_PYODIDE_FILES: Final = {
    "pyodide.mjs": "pyodide.js",
    "pyodide.asm.mjs": "pyodide.asm.js",
    "pyodide.asm.wasm": "pyodide.asm.wasm",
    "python_stdlib.zip": "python_stdlib.zip",
    "pyodide-lock.json": "pyodide-lock.json",
}
_FROM: Final = re.compile(rb"""^((?:import|export) [^'"]* from )['"](@?[\w/-]+)['"]""", re.MULTILINE)


def pyodide_files(packages: Path) -> dict[str, bytes]:
    """Read the files of Pyodide, by their names in the site.  Raises UsageError if they are missing or others."""
    return {name: _read(packages, "pyodide", file) for file, name in _PYODIDE_FILES.items()}


def editor_files(packages: Path, script: Path) -> dict[str, bytes]:
    """Read a script and the packages that it imports, by their names in the site, with imports of files.

    Raises:
        UsageError: If a package is missing, or is of another version.
    """
    files: dict[str, bytes] = {}
    left = {script.name: script.read_bytes()}
    while left:
        name, content = left.popitem()
        files[name] = _FROM.sub(lambda link: b'%s"./%s"' % (link[1], _file(link[2].decode()).encode()), content)
        for package in [link[2].decode() for link in _FROM.finditer(content)]:
            if _file(package) not in files:
                about = json.loads(_read(packages, package, "package.json"))
                left[_file(package)] = _read(packages, package, about.get("module") or about["exports"]["import"])
    return files


def _file(package: str) -> str:
    return f"{package.removeprefix('@').replace('/', '-')}.js"


def _read(packages: Path, package: str, file: str) -> bytes:
    """Read a file of a package.  Raises UsageError if it is missing, or the package is of another version."""
    how = f"copy package.json and package-lock.json from {HERE} into a folder, call `npm ci --ignore-scripts` there, "
    how += "and name its node_modules with --packages"
    if packages == PACKAGES:
        how = f"get it with `npm ci --prefix {HERE} --ignore-scripts`"
    version = _LOCKED[f"node_modules/{package}"]["version"]
    try:
        there = json.loads((packages / package / "package.json").read_bytes())["version"]
        if there != version:
            raise UsageError(f"the site is made with {package} {version}, and {packages} has {there}: {how}")
        return (packages / package / file).read_bytes()
    except (OSError, ValueError, LookupError, TypeError):
        raise UsageError(f"{package}, a package of the site, is not in {packages}: {how}") from None
