"""No text of the page is left out of the catalogue: in a language whose messages stand in brackets, all words do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from starlette.testclient import TestClient

from cutpurse.games import GAMES
from cutpurse.wire.text import printable
from tests.page.pseudo_language import pseudo_language, untranslated
from tests.page.serving import page_of_file

PAGES: Final = (
    "/",
    "/ladders",
    "/ladders?find=nothing",
    "/ladders/greed",
    "/ladders/greed?every_version=true",
    "/ladders/duel",
    "/ladders/greed/head-to-head",
    "/bots",
    "/bots/ann/sneak",
    "/bots/ann/sneak/2",
    "/matches",
    "/matches?faulted=true&bot=dan%2Fbroken",
    "/live",
    "/rules",
    "/docs",
    "/docs/tutorial/first-bot",
    "/nowhere",
    *[pytest.param(f"/rules/{game}", marks=() if game == "greed" else pytest.mark.full) for game in GAMES],
    *[pytest.param(f"/rules/{game}/guided?at=9", marks=() if game == "szmal" else pytest.mark.full) for game in GAMES],
)
MATCHES: Final = (
    *[pytest.param(f"ladder={game}", marks=() if game == "szmal" else pytest.mark.full) for game in GAMES],
    "faulted=true",
    "ladder=duel",
)


@pytest.fixture(scope="module")
def page(league_db: Path) -> Iterator[TestClient]:
    with pseudo_language(), page_of_file(league_db) as client:
        yield client


@pytest.fixture(scope="module")
def names(page: TestClient) -> frozenset[str]:
    """The names of bots with their owners and versions, and of ladders."""
    bots = [one["bot"] for one in page.get("/api/v1/bots").json()["bots"]]
    ladders = [one["defined"]["name"] for one in page.get("/api/v1/ladders").json()["ladders"]]
    shown = [one["bot"] if one["owner"] == "local" else f"{one['owner']}/{printable(one['bot'])}" for one in bots]
    versions = [f"{name}:{one['version']}" for name, one in zip(shown, bots, strict=True)]
    titles = ["Documentation", "Write your first bot"]  # of documents, which are English
    return frozenset([*titles, *shown, *versions, *ladders, *[one["bot"] for one in bots]])


def text_of(page: TestClient, path: str) -> str:
    answer = page.get(path + ("&" if "?" in path else "?") + "lang=eo")
    assert '<html lang="eo">' in answer.text
    text: str = answer.text
    return text


@pytest.mark.parametrize("path", PAGES)
def test_pages_have_no_english_left(page: TestClient, names: frozenset[str], path: str) -> None:
    assert untranslated(text_of(page, path), names) == []


@pytest.mark.parametrize("query", MATCHES)
def test_a_match_and_its_replay_have_no_english_left(page: TestClient, names: frozenset[str], query: str) -> None:
    matches = page.get(f"/api/v1/matches?{query}&limit=40").json()["matches"]
    match = next((one for one in matches if one["void_cause"]), matches[0]) if "duel" in query else matches[0]
    assert untranslated(text_of(page, f"/matches/{match['match']}"), names) == []
    for where in ("at=0", "at=9", "at=30&seat=0", "at=100000"):
        assert untranslated(text_of(page, f"/matches/{match['match']}/replay?{where}"), names) == []
