"""The guided match of each game: its record verifies, and each comment names what happens at its moment."""

from __future__ import annotations

import html
import json
import re
from typing import Final

import pytest

from cutpurse.engine.record import read_record, verified
from cutpurse.games import GAMES, game_named
from cutpurse.page.guided_matches import FOLDER, GUIDED, guided_match
from cutpurse.page.match_view.replay_path import Moment
from tests.page.serving import page_of
from tests.properties.random_play import EVERY_GAME

_SEAT: Final = re.compile(r"\bseat (\d)\b")


def acts_of(moment: Moment) -> list[str]:
    """List what was done just before a moment; after the deal and where nothing was done, say who is asked."""
    done = [line.text for line in moment.frame.lines if line.weight == "act"]
    if moment.decided is not None and (not done or moment.index == 0):
        return [f"seat {moment.decided.seat}"]
    return done


def cards_in(game: str, text: str) -> set[str]:
    """List the titles of a game's cards that a text names."""
    titles = {card.title for card in GAMES[game].words.cards}
    text = _SEAT.sub("", text)  # its number is no card
    return {title for title in titles if re.search(rf"(?<!\w){re.escape(title)}(?!\w)", text)}


def test_every_game_has_a_guided_match() -> None:
    assert set(EVERY_GAME) == GUIDED


@pytest.mark.parametrize("game", EVERY_GAME)
def test_the_record_verifies_with_the_rules_of_today(game: str) -> None:
    line = (FOLDER / f"{game}.jsonl").read_text(encoding="utf-8")
    record = read_record(line)
    assert (record.game, record.rules) == (game, GAMES[game].words.version)
    assert len(record.choices) <= 75
    assert verified(line, game_named(game)).match.over
    replayed = guided_match(game).replayed
    assert replayed.hashes == record.events


@pytest.mark.parametrize("game", EVERY_GAME)
def test_each_comment_names_what_happens_at_its_moment(game: str) -> None:
    match = guided_match(game)
    path = match.replayed.path(None)
    ats = [comment.at for comment in match.comments]
    assert 6 <= len(ats) <= 12
    assert ats == sorted(set(ats))
    assert (ats[0], ats[-1]) == (0, path.ats[-1])  # from the deal to the end
    for comment in match.comments:
        assert comment.at in path.ats, comment
        assert len(comment.text) <= 230, comment
        (moment,) = match.replayed.moments(None, path.index(comment.at))
        acts = acts_of(moment)
        players = {match.replayed.names[int(seat)] for act in acts for seat in _SEAT.findall(act)}
        assert players & set(re.findall(r"\w+", comment.text)), (comment, acts)
        cards = cards_in(game, " / ".join(acts))
        assert not cards or cards & cards_in(game, comment.text), (comment, cards)


def test_the_page_shows_the_comment_of_its_moment_and_leads_to_the_others() -> None:
    page = page_of({})
    comments = guided_match("greed").comments
    first = page.get("/rules/greed/guided")
    assert first.status_code == 200
    assert html.escape(comments[0].text, quote=False) in first.text.replace("&#39;", "'")
    assert 'href="/rules/greed/guided?at=1" data-index="1">next comment' in first.text
    texts = re.findall(r'data-texts="([^"]*)"', first.text)
    assert json.loads(html.unescape(texts[0])) == [comment.text for comment in comments]
    between = page.get("/rules/greed/guided", params={"at": comments[2].at + 1}).text
    shown = re.findall(r'id="guide-text"[^>]*>(.*?)</p>', between)
    assert html.unescape(shown[0]) == comments[2].text
    last = page.get("/rules/greed/guided", params={"at": comments[-1].at}).text
    assert re.search(r'id="guide-next" aria-disabled="true"', last)
    assert "12 of 12" in last
    for absent in ("play-on", "/matches/", "own_match"):
        assert absent not in last


def test_moments_come_in_batches_and_the_rules_lead_there() -> None:
    page = page_of({})
    batch = page.get("/rules/greed/guided/moments?seat=&first=0").json()
    assert len(batch["frames"]) == len(guided_match("greed").replayed.path(None).ats)
    assert page.get("/rules/greed/guided/moments?first=999").status_code == 404
    assert 'href="/rules/greed/guided"' in page.get("/rules/greed").text
    for nothing in ("/rules/chess/guided", "/rules/README/guided", "/rules/greed/guided?at=x"):
        assert page.get(nothing).status_code in (400, 404), nothing
