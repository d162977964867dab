"""The documents as pages: anchors, links, tables, and nothing of a text that is obeyed as HTML."""

from __future__ import annotations

import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from cutpurse.games import GAMES
from cutpurse.page import documents
from cutpurse.page.markdown import Links, written
from cutpurse.wire.errors import NotFound
from tests.builds import needs_pure
from tests.page.serving import page_of
from tests.roots import CHECKOUT
from tests.test_rule_numbers import definitions

NOWHERE = Links(lambda link: None, lambda link: None, lambda number: None)


@pytest.fixture(scope="module")
def page() -> TestClient:
    return page_of({})


class Anchors(HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value is not None:
                self.ids.append(value)
            if tag == "a" and name == "href" and value is not None:
                self.links.append(value)


def test_html_in_a_text_is_text() -> None:
    text = "# A <b>title</b>\n\n<script>alert(1)</script>\n\n[here](javascript:alert(1)) ![x](http://e.org/x.png)"
    html = written(text, NOWHERE).html
    assert "<script" not in html
    assert "<b>" not in html
    assert "href" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html


def test_headings_have_the_anchors_that_other_pages_use() -> None:
    found = written("# One\n\n## Why did my bot lose?\n\n## The `view`\n\n## The `view`\n", NOWHERE, below=1)
    assert [(one.level, one.anchor) for one in found.headings] == [
        (2, "one"),
        (3, "why-did-my-bot-lose"),
        (3, "the-view"),
        (3, "the-view-1"),
    ]
    assert '<h3 id="why-did-my-bot-lose">Why did my bot lose?</h3>' in found.html
    assert found.title == "One"


def test_a_rule_is_an_anchor_where_it_is_defined_and_a_link_elsewhere() -> None:
    links = Links(
        lambda link: None, lambda link: None, lambda number: f"/rules#{number}" if number[-1] == "2" else None
    )
    found = written("- **GR-1.1** As in GR-1.1, GR-1.2 and GR-1.3; `GR-1.2`.\n", links)
    assert found.rules == ("GR-1.1",)
    assert '<li id="GR-1.1" class="rule">' in found.html
    assert found.html.count('href="#GR-1.1"') == 2
    assert found.html.count('href="/rules#GR-1.2"') == 1
    assert "GR-1.3; <code>GR-1.2</code>" in found.html


def test_tables_scroll_and_lose_an_empty_head() -> None:
    html = written("| | |\n|---|--:|\n| a | b |\n\n| h | i |\n|---|---|\n| c | d |\n", NOWHERE).html
    assert html.count("<table>") == html.count('class="scrolls" tabindex="0"') == 2
    assert html.count("<thead>") == 1
    assert 'style="' not in html


@pytest.mark.parametrize("game", sorted(GAMES))
def test_every_rule_of_a_sheet_is_an_anchor_of_its_page(page: TestClient, game: str) -> None:
    sheet = (CHECKOUT / "docs" / "reference" / "rules" / f"{game}.md").read_text(encoding="utf-8")
    answer = page.get(f"/rules/{game}")
    anchors = Anchors(answer.text).ids
    assert answer.status_code == 200
    assert set(definitions(sheet)) <= set(anchors)
    assert len(anchors) == len(set(anchors))
    for card in GAMES[game].words.cards:
        assert card.title in unescape(answer.text)
    assert sum(anchor.startswith("ruling-") for anchor in anchors) > 15


def addresses() -> list[str]:
    return [
        "/rules",
        *[f"/rules/{game}" for game in GAMES],
        "/docs",
        *[f"/docs/{name}" for name in documents.names() if name != documents.INDEX],
        "/api/v1",
    ]


@pytest.mark.full
def test_every_link_of_a_document_leads_somewhere(page: TestClient) -> None:
    @cache
    def fetched(address: str) -> tuple[int, Anchors]:
        answer = page.get(address)
        return answer.status_code, Anchors(answer.text)

    for address in addresses():
        _, found = fetched(address)
        assert re.findall(r"\]\(|\.md\b(?![`<])", " ".join(found.links)) == [], address
        for link in found.links:
            path, _, anchor = link.partition("#")
            if path.startswith(("/rules", "/docs")):
                status, there = fetched(path)
                assert status == 200, (address, link)
                assert not anchor or anchor in there.ids, (address, link)
            elif not path and anchor:
                assert anchor in found.ids, (address, link)


def test_every_page_of_the_documentation_is_there(page: TestClient) -> None:
    folder = CHECKOUT / "docs"
    for path in (page for page in folder.rglob("*.md") if page.parent.name != "rules"):
        title = re.findall(r"^# (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)[0]
        name = path.relative_to(folder).with_suffix("").as_posix().replace("_", "-")
        answer = page.get("/docs" if name == "index" else f"/docs/{name}")
        assert answer.status_code == 200
        assert f">{title}</h1>" in unescape(answer.text)


@pytest.mark.parametrize(
    ("address", "there"),
    [
        ("/docs/README", "/docs"),
        ("/docs/index.md", "/docs"),
        ("/docs/reference/match_file", "/docs/reference/match-file"),
        ("/docs/reference/match_file.md", "/docs/reference/match-file"),
        ("/docs/match_files.md", "/docs/reference/match-file"),
    ],
)
def test_documents_are_found_by_the_names_of_their_files(page: TestClient, address: str, there: str) -> None:
    answer = page.get(address, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (308, there)


def test_a_document_is_found_by_its_earlier_name(page: TestClient) -> None:
    for name, there in documents.MOVED.items():
        answer = page.get(f"/docs/{name}", follow_redirects=False)
        location = "/docs" if there == "index" else f"/docs/{there}"
        assert (answer.status_code, answer.headers["location"]) == (308, location), name
    assert [name for name in documents.MOVED.values() if page.get(f"/docs/{name}").status_code != 200] == []


@pytest.mark.parametrize(
    "address",
    [
        "/docs/nothing",
        "/docs/..%2f..%2fpyproject",
        "/docs/reference/rules",
        "/docs/reference/rules/greed",
        "/docs/rules%2fgreed",
        "/docs/%00",
        "/docs/pictures/..%2fx.png",
        "/docs/pictures/nothing.png",
        "/docs/pictures/.png",
        f"/docs/pictures/{'a' * 300}.png",
        "/rules/nothing",
        "/rules/..%2frulings",
        "/rules/greed.md",
        "/rules/%ff",
    ],
)
def test_nothing_else_is_there(page: TestClient, address: str) -> None:
    assert page.get(address).status_code == 404


@needs_pure
def test_documents_lie_beside_the_page_or_in_the_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert documents.documents_folder() == CHECKOUT / "docs"
    packed = tmp_path / "docs"
    packed.mkdir()
    (packed / "index.md").write_text("# All\n", encoding="utf-8")
    monkeypatch.setattr(documents, "PACKED", packed)
    assert documents.documents_folder() == packed
    monkeypatch.setattr(documents, "PACKED", tmp_path / "no")
    monkeypatch.setattr(documents, "CHECKOUT", tmp_path / "neither")
    with pytest.raises(NotFound, match="not installed"):
        documents.documents_folder()


@needs_pure
def test_a_picture_is_a_photograph_or_a_drawing(
    page: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "index.md").write_text("# All\n", encoding="utf-8")
    monkeypatch.setattr(documents, "PACKED", tmp_path)
    for name, kind in (("a.png", "image/png"), ("a.svg", "image/svg+xml")):
        (tmp_path / "pictures" / name).write_bytes(kind.encode())
        answer = page.get(f"/docs/pictures/{name}")
        assert (answer.headers["content-type"], answer.text) == (kind, kind)
    (tmp_path / "pictures" / "a.html").write_text("no", encoding="utf-8")
    assert page.get("/docs/pictures/a.html").status_code == 404


@pytest.mark.parametrize("game", GAMES)
def test_the_page_of_a_game_opens_with_the_game_in_a_minute(game: str) -> None:
    with page_of({}) as page:
        html = page.get(f"/rules/{game}").text
    headings = re.findall(r"<h[12][^>]*>(.*?)</h[12]>", html)
    title = GAMES[game].words.title
    assert [unescape(one) for one in headings[:3]] == [title, f"{title} in a minute", "The rules by number"]
    introduction, _, sheet = html.partition('id="by-number"')
    pictures = re.findall(r'<img[^>]* src="(/docs/pictures/[^"]*)"', introduction)
    assert pictures == [f"/docs/pictures/{game}-{number}.svg" for number in (1, 2, 3)]
    assert all(page.get(one).headers["content-type"] == "image/svg+xml" for one in pictures)
    assert re.search(r"<strong>Your turn.?</strong>|<strong>A round.</strong>", introduction)
    assert re.search(r'id="[A-Z]{2}-1\.1"', sheet)
    assert len(re.findall("<h1", html)) == 1


def test_language_models_get_a_list_of_the_documents_and_all_of_them_in_one_text(page: TestClient) -> None:
    answer = page.get("/llms.txt")
    assert (str(answer.url.path), answer.headers["content-type"]) == ("/docs/llms.txt", "text/plain; charset=utf-8")
    assert answer.text == (CHECKOUT / "docs/llms.txt").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([\w./-]+)\)", answer.text)
    assert len(links) > 50
    assert {page.get(f"/docs/{link}").status_code for link in links[::10]} == {200}
    whole = page.get("/docs/llms-full.txt").text
    files = sorted((CHECKOUT / "docs").rglob("*.md"))
    assert sorted(re.findall(r"^<!-- (docs/\S+\.md) -->$", whole, re.MULTILINE)) == sorted(
        file.relative_to(CHECKOUT).as_posix() for file in files
    )
    assert page.get("/docs/other.txt").status_code == 404
