"""The picture of a table: it stands alone, shows who sits there and what lies there, and nothing sticks out."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from cutpurse.games import GAMES
from cutpurse.page.match_view.frames import SeatMarks, frame, whole_view
from cutpurse.page.match_view.picture import HEIGHT, WIDTH, picture
from tests.properties.random_play import EVERY_GAME, RandomGame

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("ann/sneak", "bob/<b>thug</b>", "c" * 60, "d", "e", "f", "g", "h", "i")
TABLES = [(game, seats) for game in EVERY_GAME for seats in GAMES[game].words.seats]


@pytest.mark.parametrize(("game", "seats"), TABLES)
def test_all_seats_and_cards_are_inside_the_picture(game: str, seats: int) -> None:
    play = RandomGame(GAMES[game], seats, 5)
    for number, state in enumerate(play.play(play.begin())):
        if number % 12:
            continue
        made = frame(whole_view(state), (), NAMES[:seats])
        drawn = ElementTree.fromstring(picture(made))
        boxes = drawn.findall(f"{SVG}rect")
        for box in boxes:
            left, top, width, height = (float(box.get(name, "0")) for name in ("x", "y", "width", "height"))
            assert left >= 0
            assert top >= 0
            assert left + width <= WIDTH + 0.1
            assert top + height <= HEIGHT + 0.1
        texts = [text.text for text in drawn.findall(f"{SVG}text")]
        assert "sneak" in texts
        assert all(seat.worth is None or seat.worth.text in texts for seat in made.seats)
        used = {use.get("href", "")[1:] for use in drawn.findall(f"{SVG}use")}
        assert used == {symbol.get("id") for symbol in drawn.iter(f"{SVG}symbol")}
        if number > 60:
            break


def test_a_picture_needs_no_style_and_shows_names_as_text() -> None:
    text = picture(frame(whole_view(GAMES["greed"].new(4)), (), NAMES[:4]))
    assert re.findall(r"<style|\sstyle=|class=|<b>|var\(|https?://(?!www.w3.org)", text) == []
    assert "&lt;b&gt;thug&lt;/b&gt;" in text
    assert ">" + "c" * 60 + "<" not in text


def test_at_the_end_the_picture_shows_places_and_scores() -> None:
    marks = {seat: SeatMarks(place=seat + 1, score=1_000 * (4 - seat)) for seat in range(4)}
    text = picture(frame(whole_view(GAMES["szmal"].new(4)), (), NAMES[:4], marks=marks))
    for shown in (">1st 4,000<", ">2nd 3,000<", ">3rd 2,000<", ">4th 1,000<"):
        assert shown in text
