"""The archive of Python code that a browser tab unpacks: this project's own, and what its templates need.

Only plain Python is in it: modules of C are left out, and these packages do without.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from cutpurse.page.match_view.drawing import TEMPLATES
from cutpurse.page.site.tab_table import HOUSE, NO_ANSWER
from cutpurse.sdk import starter
from cutpurse.wire.version import VERSION

__all__ = ["python_archive"]

_OURS: Final = ("engine", "games", "wire", "process", "sdk", "bots", "page", "lab", "leaderboard.statistics")
_OTHERS: Final = ("jinja2", "markupsafe")
_LONG_AGO: Final = (1980, 1, 1, 0, 0, 0)  # so that the same code makes the same archive
_RUN: Final = "cutpurse/sdk/run.py"  # needs gRPC
IN_A_TAB: Final = Path(__file__).parent / "tab_run.py"
_BOTS: Final = "cutpurse.bots"


def python_archive() -> bytes:
    """Return the archive."""
    made = BytesIO()
    with ZipFile(made, "w") as archive:
        for name, content in sorted(_files()):
            archive.writestr(ZipInfo(name, _LONG_AGO), content, ZIP_DEFLATED, 9)
    return made.getvalue()


def _files() -> Iterator[tuple[str, bytes]]:
    for package in [*(f"cutpurse.{name}" for name in _OURS), *_OTHERS]:
        for folder in import_module(package).__path__:
            for path in Path(folder).rglob("*.py"):
                name = f"{package.replace('.', '/')}/{path.relative_to(folder).as_posix()}"
                yield name, (IN_A_TAB if name == _RUN else path).read_bytes()
    for template in Path(starter.__path__[0]).glob("*.txt"):
        yield f"cutpurse/sdk/starter/{template.name}", template.read_bytes()
    for template in TEMPLATES.iterdir():
        yield f"cutpurse/page/templates/{template.name}", template.read_bytes()
    bots = {point.name: point.value for point in entry_points(group=_BOTS)}
    lines = [f"[{_BOTS}]", *(f"{name} = {bots[name]}" for name in (*HOUSE, NO_ANSWER))]
    yield "cutpurse.dist-info/entry_points.txt", "\n".join(lines).encode()
    yield "cutpurse.dist-info/METADATA", f"Metadata-Version: 2.1\nName: cutpurse\nVersion: {VERSION}\n".encode()
