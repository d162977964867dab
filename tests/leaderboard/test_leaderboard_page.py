"""The examples of the pages on the ratings run, one after the other, and print what the pages say."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.roots import CHECKOUT


def programs(page: str) -> list[str]:
    text = (CHECKOUT / "docs/how-to" / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_the_examples_of_the_pages_run(tmp_path: Path) -> None:
    asked, first, second = programs("read_the_rankings.md")

    def run(program: str) -> str:
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", program],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        ).stdout

    printed = run(first)
    said = re.findall(r"# (?:pairing skill: )?(Skill.*|sneak)$", first, re.MULTILINE)
    assert len(said) == 2
    for line, expected in zip(printed.splitlines(), said, strict=True):
        assert re.fullmatch(re.escape(expected).replace(r"\.\.\.", r"\d*"), line)
    assert [line.split()[:2] for line in run(asked).splitlines()] == [["not", "placed"], ["not", "placed"]]
    assert run(second) == "greed-duel\n1\nTrue\n"
