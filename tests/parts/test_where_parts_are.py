"""Everything of a part is found by its name: its folder, its tests, its row in "Host a server", its how-to page."""

from __future__ import annotations

import re
from pathlib import Path

from cutpurse.server.installed_parts import installed_parts
from tests.roots import CHECKOUT

PARTS = CHECKOUT / "server/cutpurse/server/parts"
HOW_TO = CHECKOUT / "docs/how-to"
ROW = re.compile(r"^\| [^|]+ \| `(\w+)` \| [^|]+ \| \[[^]]+\]\((\w+\.md)[^)]*\) \|$", re.MULTILINE)


def folders(parent: Path) -> set[str]:
    return {path.name for path in parent.iterdir() if path.is_dir() and path.name != "__pycache__"}


def rows(page: str) -> dict[str, str]:
    """Return the how-to page of each part, by its name."""
    return dict(ROW.findall(page))


def test_each_part_has_its_folders_and_its_row() -> None:
    names = {kind.name for kind in installed_parts().kinds}
    assert folders(PARTS) == names
    assert folders(CHECKOUT / "tests/parts") == names
    assert rows((HOW_TO / "host_a_server.md").read_text(encoding="utf-8")).keys() == names


def test_a_part_can_be_read_from_two_files() -> None:
    files = [PARTS / name / file for name in folders(PARTS) for file in ("kind.py", "part.py")]
    assert [file for file in files if not file.is_file()] == []


def test_the_page_of_each_part_exists() -> None:
    pages = rows((HOW_TO / "host_a_server.md").read_text(encoding="utf-8"))
    assert {name for name, page in pages.items() if not (HOW_TO / page).is_file()} == set()


def test_a_row_without_a_page_is_missed() -> None:
    assert rows("| fly | `wings` | `--fly` | nowhere |\n| run | `legs` | always | [Run](run.md#fast) |\n") == {
        "legs": "run.md"
    }
