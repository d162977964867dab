"""The tutorials run as they are printed; `scripts/wheel_smoke.sh` runs them with an installed wheel, too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from scripts.walk_tutorials import PAGES, NotAsPrinted, Walk
from tests.roots import CHECKOUT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a shell")


@pytest.fixture(autouse=True)
def the_commands_of_this_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")


@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_does_what_is_printed(page: str, tmp_path: Path) -> None:
    slow = ("cutpurse compare",)  # it takes as long as all others together
    assert Walk(CHECKOUT / "docs/tutorial" / page, tmp_path).run(leave_out=slow) >= 12


@pytest.mark.parametrize(
    ("command", "printed", "problem"),
    [
        ("cutpurse rules gree", "Greed", r"page\.md: cutpurse rules gree ended with 2:\n.*no game is called 'gree'"),
        ("cutpurse play greed random random --seed 1", "digest 7091", r"--seed 1 does not say 'digest 7091':\n"),
        ("cutpurse serve --db new.db --game gree", "bots dial in at ...", "has not said 'bots dial in at ...':\n"),
    ],
)
def test_a_page_that_prints_something_else_is_named(command: str, printed: str, problem: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"```\n$ {command}\n{printed}\n```\n", encoding="utf-8")
    with pytest.raises(NotAsPrinted, match=problem):
        Walk(page, tmp_path).run()
