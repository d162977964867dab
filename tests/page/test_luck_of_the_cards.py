"""The luck of the cards in the story of a match: found when somebody asks, kept, and shown to everybody afterwards."""

from __future__ import annotations

import json
import re
import sys
from html import unescape
from pathlib import Path
from typing import Final

import pytest
from starlette.testclient import TestClient

from cutpurse.engine.record import read_record
from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.page.luck_process import LuckProcess
from cutpurse.page.match_view.replay_path import Replayed
from cutpurse.sdk.local import play
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.sdk.matches.record_league import record_league
from tests.page.browser import Watched
from tests.page.drawings import taken_apart
from tests.page.test_every_page import judged, newest

LINK: Final = re.compile(r'<p id="luck"[^>]*><a href="([^"]*)">What did the cards give\?</a></p>')
FOUND: Final = {
    "by_seat": [-0.2, 0.18, 0.02],
    "luckiest": [
        {"choices_after": 0, "seat": 1, "luck": 0.1},
        {"choices_after": 30, "seat": 0, "luck": 0.2},
        {"choices_after": 40, "seat": 0, "luck": 0.01},
    ],
}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("records") / "mine.jsonl"
    play("stolen_treasure", ["greedy", "random", "greedy"], record=file)
    return file


def page_of(file: Path, script: str | None = None) -> tuple[TestClient, str]:
    """Serve a file with a process that runs a script, or with the real one; return the address of its match, too."""
    app = create_app(Asking(record_league(file), live=False, keep_s=0.0), live=False)
    if script is not None:
        app.state.luck = LuckProcess([sys.executable, "-S", "-c", script])
    page = TestClient(app, base_url="http://arena.test")
    return page, f"/matches/{page.get('/api/v1/matches').json()['matches'][0]['match']}"


def answers(found: object, marks: Path) -> str:
    """Return a script that answers, and adds a letter to a file for each run."""
    return f"open({str(marks)!r}, 'a').write('x'); print({json.dumps(found)!r})"


def story_of(html: str) -> str:
    (story,) = re.findall(r'<section class="story-of-match".*?</section>', html, re.DOTALL)
    return str(story)


def test_the_story_says_what_the_cards_gave_and_marks_the_luckiest_draws(file: Path, tmp_path: Path) -> None:
    page, match = page_of(file, answers(FOUND, tmp_path / "runs"))
    before = page.get(match).text
    assert LINK.findall(before) == [f"{match}/luck"]
    assert f'data-address="{match}/luck"' in before
    assert 'class="draw' not in before
    assert not (tmp_path / "runs").exists()  # nobody has asked

    asked = page.get(f"{match}/luck", follow_redirects=False)
    assert (asked.status_code, asked.headers["location"]) == (303, f"{match}#luck")
    html = page.get(match).text
    story = taken_apart(story_of(html)).text
    assert "greedy (0): the cards cost it 0.4 places" in story  # two places are one point at three seats
    assert "random: the cards gave it 0.4 places" in story
    assert "greedy (2): the cards made no difference to it" in story
    replayed = Replayed(next(read_matches(file.read_bytes())).record(), ["greedy (0)", "random", "greedy (2)"])
    index = replayed.index_after(30)
    assert "Moment 0 random +0.2: the deal" in story
    assert f"Moment {index} greedy (0) +0.4: " in story
    draws = re.findall(r'<path class="draw s-(\d)" d="M(\d+) [\d.]+h0"/>', html)
    assert draws == [("1", "0"), ("0", str(index))]  # the third is 0.0 places
    links = re.findall(r'<ol class="draws">.*?</ol>', html, re.DOTALL)[0]
    for address in re.findall(r'href="([^"]*)"', links):
        assert page.get(unescape(address)).status_code == 200
    assert 'class="draw s-0"' in page.get(f"{match}/replay").text
    assert 'class="draw' not in page.get(f"{match}/replay?seat=1").text

    assert "luck.js" not in html
    page.get(f"{match}/luck")
    assert (tmp_path / "runs").read_text(encoding="utf-8") == "x"


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("de", "greedy (0): Die Karten kosteten ihn 0,4 Plätze"),
        ("pl", "greedy (0): karty zabrały mu 0,4 miejsca"),
    ],
)
def test_the_luck_has_words_in_every_language(file: Path, tmp_path: Path, language: str, words: str) -> None:
    page, match = page_of(file, answers(FOUND, tmp_path / "runs"))
    page.get(f"{match}/luck")
    assert words in taken_apart(story_of(page.get(f"{match}?lang={language}").text)).text


def test_a_game_without_value_function_has_no_luck(file: Path, tmp_path: Path) -> None:
    page, match = page_of(file, answers(None, tmp_path / "runs"))
    html = page.get(f"{match}/luck").text
    assert 'id="luck"' not in html
    assert "luck.js" not in html


def test_a_process_that_fails_leaves_the_page_as_it_was(file: Path) -> None:
    page, match = page_of(file, "raise SystemExit(1)")
    refused = page.get(f"{match}/luck")
    assert refused.status_code == 503
    assert "the luck of this match could not be found; try again later" in refused.text
    assert LINK.search(page.get(match).text)
    assert page.get("/matches/00000000/luck").status_code == 404


def test_a_visitor_who_waits_for_another_match_gets_the_link_only(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, match = page_of(file, "")
    monkeypatch.setattr(LuckProcess, "has_room_for", lambda process, visitor: False)
    html = page.get(match).text
    assert LINK.search(html)
    assert "data-address" not in html


def test_the_moment_after_a_draw_is_found_by_its_choices(file: Path) -> None:
    record = next(read_matches(file.read_bytes())).record()
    replayed = Replayed(read_record(next(read_matches(file.read_bytes())).text or ""), record.seats)
    ats = replayed.path(None).ats
    for choices in (0, 1, len(record.choices) // 2, len(record.choices), len(record.choices) + 5):
        index = replayed.index_after(choices)
        assert ats[index] >= choices or index == len(ats) - 1
        assert index == 0 or ats[index - 1] < choices
    assert replayed.course.done_before(0) == "the deal"
    assert replayed.course.done_before(len(ats) - 1)


@pytest.mark.full
def test_the_real_process_finds_the_luck_of_a_match(file: Path) -> None:
    page, match = page_of(file)
    story = taken_apart(story_of(page.get(f"{match}/luck").text)).text
    assert len(re.findall(r"the cards (?:gave|cost) it \d\.\d places|made no difference", story)) == 3


@pytest.mark.full
def test_a_browser_shows_the_luck_by_itself_and_anybody_can_read_it(site: str, watched: Watched) -> None:
    match = f"{site}/matches/{newest(site, 'ladder=stolen_treasure')}"
    light = watched.page(color_scheme="light", reduced_motion="reduce")
    light.goto(match)
    light.wait_for_selector("h2#luck")
    assert light.url == match
    assert light.locator("ul.luck li").count() > 1
    assert judged(light) == []
    dark = watched.page(color_scheme="dark", viewport={"width": 360, "height": 740}, java_script_enabled=True)
    dark.goto(match)
    assert dark.locator("h2#luck").count() == 1
    assert judged(dark) == []
