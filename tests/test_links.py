"""Every relative link of the pages leads to a file of the checkout, and every `#anchor` to one of its headings."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from cutpurse.page.markdown import Links, written
from tests.roots import CHECKOUT

PAGES = sorted(
    page
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "benchmarks/**/*.md",
        "proto/**/*.md",
        "*/README.md",
        "sample_bots/*/*.md",
        "tests/**/*.md",
    )
    for page in CHECKOUT.glob(pattern)
    if not {"node_modules", ".venv", "target"} & set(page.parts)
)


@cache
def links_and_anchors(page: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the targets of a page's links and pictures, and its anchors."""
    targets: set[str] = set()

    def collect(link: str) -> str:
        targets.add(link)
        return link

    links = Links(collect, collect, lambda number: None)
    result = written(page.read_text(encoding="utf-8"), links)
    return frozenset(targets), frozenset(heading.anchor for heading in result.headings) | frozenset(result.rules)


def broken(page: Path) -> list[str]:
    """Return the relative links of a page that lead nowhere."""
    wrong = []
    for link in links_and_anchors(page)[0]:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / unquote(path)).resolve() if path else page
        if (
            not target.exists()
            or (path.endswith("/") and not target.is_dir())
            or (anchor and target.suffix == ".md" and anchor not in links_and_anchors(target)[1])
        ):
            wrong.append(link)
    return sorted(wrong)


def test_every_link_leads_somewhere() -> None:
    assert {page.relative_to(CHECKOUT): links for page in PAGES if (links := broken(page))} == {}


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\n[b](b.md#b) [no](c.md) [no](b.md#c) ![no](d.png) [a](#a) [no](#b)\n")
    (tmp_path / "b.md").write_text("# B\n")
    assert broken(tmp_path / "a.md") == ["#b", "b.md#c", "c.md", "d.png"]


def test_every_page_of_the_documents_is_listed() -> None:
    index = CHECKOUT / "docs" / "index.md"
    listed = {(index.parent / link.partition("#")[0]).resolve() for link in links_and_anchors(index)[0]}
    pages = {
        page for page in PAGES if page.is_relative_to(index.parent) and page.parent.name not in ("rules", "decisions")
    }
    assert pages - listed - {index} == set()


@pytest.mark.parametrize(
    "ability", ["submissions", "events", "notices", "sign_in", "people", "agreements", "add_machines"]
)
def test_host_a_server_names_the_page_of_each_ability(ability: str) -> None:
    page = CHECKOUT / "docs" / "how-to" / "host_a_server.md"
    table = page.read_text(encoding="utf-8").partition("## What else it can do\n")[2].partition("\n## ")[0]
    assert f"]({ability}.md" in table
