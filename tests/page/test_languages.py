"""The language of a request, how it is kept, and that no cache gives a reader the words of another's language."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from starlette.types import Scope

from cutpurse.games import GAMES
from cutpurse.page.event_broadcast import EventBroadcaster
from cutpurse.page.language.choosing import language_links
from cutpurse.page.language.game_words import spoken
from cutpurse.page.language.languages import ENGLISH, offered_languages
from cutpurse.page.language.speaking import gettext, language, ngettext, speaking
from cutpurse.page.match_view.drawing import TEMPLATES
from tests.page.pseudo_language import PSEUDO, pseudo_language
from tests.page.serving import page_of_file

POLISH, GERMAN = offered_languages()["pl"], offered_languages()["de"]


@pytest.fixture(scope="module")
def page(league_db: Path) -> Iterator[TestClient]:
    with pseudo_language(), page_of_file(league_db) as client:
        yield client


def spoken_on(page: TestClient, path: str, **headers: str) -> str:
    """The language of a page."""
    page.cookies.clear()
    answer = page.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    tag: str = answer.text.partition('<html lang="')[2].partition('"')[0]
    return tag


@pytest.mark.parametrize(
    ("wishes", "tag"),
    [
        ("", "en"),
        ("pl", "pl"),
        ("pl-PL,pl;q=0.9,en;q=0.5", "pl"),
        ("de-AT", "de"),
        ("DE", "de"),
        ("fr,it;q=0.9", "en"),
        ("fr,de;q=0.2,pl;q=0.4", "pl"),
        ("en;q=0.5,de;q=0.5", "en"),
        ("en,de", "en"),
        ("de;q=0", "en"),
        ("de;q=nonsense,pl;q=0.1", "pl"),
        (";;;,,,=q,\x7f", "en"),
        ("x-" * 5_000, "en"),
    ],
)
def test_the_browser_chooses_the_language(page: TestClient, wishes: str, tag: str) -> None:
    assert spoken_on(page, "/", Accept_Language=wishes) == tag


def test_the_address_comes_before_the_cookie_and_that_before_the_browser(page: TestClient) -> None:
    assert spoken_on(page, "/", Accept_Language="pl", Cookie="lang=de") == "de"
    assert spoken_on(page, "/?lang=pl", Cookie="lang=de") == "pl"
    assert spoken_on(page, "/?lang=xx", Cookie="lang=de") == "de"
    assert spoken_on(page, "/?lang=<script>", Cookie='lang="; x=<script>') == "en"


def test_a_choice_is_kept_and_leads_to_the_same_page(page: TestClient) -> None:
    page.cookies.clear()
    text = page.get("/matches?ladder=greed&faulted=true").text
    assert 'href="/matches?ladder=greed&amp;faulted=true&amp;lang=pl" lang="pl" hreflang="pl"' in text
    assert 'href="/?lang=pl" lang="pl"' in page.get("/api/v1").text  # which is English for everybody
    chosen = page.get("/matches?lang=pl")
    assert chosen.headers["set-cookie"] == "lang=pl; Path=/; Max-Age=31536000; SameSite=Lax"
    again = page.get("/bots")
    assert '<html lang="pl">' in again.text
    assert "set-cookie" not in again.headers
    page.cookies.clear()


@pytest.mark.parametrize("path", ["//evil.test/x", "///evil.test", "/\\evil.test", "/%5Cevil.test", "/%2F%2Fevil.test"])
def test_links_to_the_other_languages_stay_on_the_host(path: str) -> None:
    scope: Scope = {"type": "http", "method": "GET", "path": "/x", "raw_path": path.encode(), "query_string": b""}
    for _, address in language_links(scope):
        assert re.match(r"/[^/\\]", address), address


def test_a_link_keeps_an_encoded_slash_of_a_name(page: TestClient) -> None:
    page.cookies.clear()
    assert 'href="/bots/a%2Fb/c?lang=pl"' in page.get("/bots/a%2Fb/c").text


def test_caches_know_that_the_language_decides(page: TestClient) -> None:
    page.cookies.clear()
    english, polish = page.get("/"), page.get("/", headers={"Accept-Language": "pl"})
    for answer in (english, polish):
        assert {"Accept-Language", "Cookie"} <= set(answer.headers["vary"].split(", "))
    assert english.headers["etag"] != polish.headers["etag"]
    same = page.get("/", headers={"If-None-Match": english.headers["etag"]})
    assert (same.status_code, "Accept-Language" in same.headers["vary"]) == (304, True)
    other = page.get("/", headers={"If-None-Match": english.headers["etag"], "Accept-Language": "pl"})
    assert other.status_code == 200


@pytest.mark.parametrize(
    "path", ["/api/v1/ladders", "/feeds/ladders/greed", "/ladders/greed/rankings.csv", "/robots.txt", "/api/v1/nothing"]
)
def test_what_programs_read_is_english_for_everybody(page: TestClient, path: str) -> None:
    page.cookies.clear()
    english = page.get(path)
    other = page.get(f"{path}?lang=eo" if "/api/" not in path else path, headers={"Accept-Language": "eo"})
    assert other.content == english.content
    assert "Accept-Language" not in other.headers.get("vary", "")
    assert "set-cookie" not in other.headers


def test_a_replay_and_its_batches_are_in_the_language_of_each_reader(page: TestClient) -> None:
    page.cookies.clear()
    match = page.get("/api/v1/matches?ladder=greed&limit=1").json()["matches"][0]["match"]
    for path in (
        f"/matches/{match}/replay?at=9",
        f"/matches/{match}/replay/moments?first=0",
        f"/matches/{match}/picture.svg",
        "/rules/greed/guided?at=9",
        "/rules/greed/guided/moments?first=0",
        "/rules/greed",
    ):
        texts = [page.get(path, headers={"Accept-Language": wish}).text for wish in ("en", "eo", "en", "eo")]
        assert texts[0] == texts[2], path
        assert texts[1] == texts[3], path
        assert texts[0] != texts[1], path
        assert "⟦" not in texts[0].replace(PSEUDO.name, ""), path


async def test_each_language_has_its_own_event_stream() -> None:
    news = EventBroadcaster(look_s=0.001)
    seen: dict[str, str] = {}

    async def listen(tag: str) -> None:
        with speaking(offered_languages()[tag]):
            response = news.response("home", lambda: f"told in {language().tag}")
        async for part in response.body_iterator:
            assert isinstance(part, bytes)
            if b"told in" in part:
                seen[tag] = part.decode().partition("told in ")[2].strip()
                return

    await asyncio.wait_for(asyncio.gather(*map(listen, ("en", "pl", "de", "pl"))), 240)
    news.close()
    assert seen == {"en": "en", "pl": "pl", "de": "de"}


def test_numbers_places_and_moments_are_written_as_the_language_does() -> None:
    moment = datetime(2026, 11, 7, 9, 5, tzinfo=UTC)
    assert [one.number(1_234_567) for one in (ENGLISH, GERMAN)] == ["1,234,567", "1.234.567"]
    assert [one.decimal(-1234.56, 1) for one in (ENGLISH, GERMAN)] == ["-1,234.6", "-1.234,6"]
    assert POLISH.decimal(1234.5, 2) == "1\N{NO-BREAK SPACE}234,50"
    assert [ENGLISH.ordinal(number) for number in (1, 2, 3, 4, 11, 22, 1_001)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "22nd", "1,001st")
    ]
    assert [GERMAN.ordinal(2), POLISH.ordinal(3)] == ["2.", "3."]
    assert ENGLISH.date_and_time(moment) == "2026-11-07 09:05 UTC"
    assert GERMAN.date_and_time(moment) == "7.11.2026 09:05 UTC"
    assert POLISH.date_and_time(moment).endswith("09:05 UTC")


def test_messages_outside_of_requests_are_english() -> None:
    assert gettext("no %(name)s", name="bot") == "no bot"
    assert ngettext("%(num)s bot", "%(num)s bots", 2_000) == "2,000 bots"
    with speaking(PSEUDO):
        assert gettext("no %(name)s", name="bot") == "⟦no bot⟧"
    assert language() is ENGLISH


@pytest.mark.parametrize("game", GAMES)
def test_translated_words_differ_in_nothing_but_texts(game: str) -> None:
    words = GAMES[game].words
    assert spoken(words) is words
    with speaking(PSEUDO):
        other = spoken(words)
        assert spoken(words) is other
    assert [one.name for one in other.cards] == [one.name for one in words.cards]
    assert [(one.value, one.sort, one.traits) for one in other.cards] == [
        (one.value, one.sort, one.traits) for one in words.cards
    ]
    assert [(one.number, one.name, one.rule) for one in other.verbs] == [
        (one.number, one.name, one.rule) for one in words.verbs
    ]
    assert [(one.number, one.name, one.visibility) for one in other.zones] == [
        (one.number, one.name, one.visibility) for one in words.zones
    ]
    assert all(one.title.startswith("⟦") for one in other.cards)
    assert not words.cards[0].title.startswith("⟦")


def test_the_answer_to_a_request_that_is_too_long_repeats_no_part_of_it(page: TestClient) -> None:
    page.cookies.clear()
    answer = page.get("/matches?ladder=" + "secret" * 5_000)
    assert answer.status_code == 414
    assert "secret" not in answer.text
    assert "?lang=pl" in answer.text


def test_numbers_in_drawings_are_those_of_machines_in_every_language() -> None:
    """SVG and HTML know no decimal comma: `<rect width="57,4">` is an error in the browser."""
    for_people = {"aria-label", "title", "content", "placeholder", "alt", "data-head"}
    attribute = re.compile(r'([\w-]+)="[^"<>]*\{\{[^}"]*\|\s*(?:decimal|number|percent|signed|thought)\b')
    planted = '<rect width="{{ (share * 100) | decimal(1) }}"/><p title="{{ one | decimal(1) }}">'
    assert set(attribute.findall(planted)) - for_people == {"width"}
    for file in sorted(TEMPLATES.iterdir()):
        found = set(attribute.findall(file.read_text(encoding="utf-8")))
        assert found <= for_people, f"{file.name}: {found - for_people}"
