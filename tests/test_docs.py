"""Measured figures can be looked up: each table of `benchmarks/results` is linked from a page of the docs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.roots import CHECKOUT

RESULTS = sorted((CHECKOUT / "benchmarks" / "results").glob("*.md"))


@pytest.mark.parametrize("table", RESULTS, ids=lambda table: table.name)
def test_a_table_of_figures_is_linked_from_a_page(table: Path) -> None:
    assert any(
        f"benchmarks/results/{table.name}" in page.read_text(encoding="utf-8")
        for page in (CHECKOUT / "docs").rglob("*.md")
    )
