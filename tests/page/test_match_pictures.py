"""Moments of a match as PNG and SVG, and stretches as animated GIF: on the page and by `cutpurse match picture`."""

from __future__ import annotations

import asyncio
import io
import re
import sys
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

import pytest
from PIL import Image
from starlette.testclient import TestClient

from cutpurse.engine.errors import UsageError
from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.page.match_view.filed_replay import replay_of
from cutpurse.page.match_view.match_pictures import (
    MAX_STRETCH,
    moment_index,
    moment_picture,
    stretch_pictures,
    stretch_range,
)
from cutpurse.page.match_view.pixels import GIF, PNG, request, to_gif, to_png
from cutpurse.page.match_view.replay_path import Replayed
from cutpurse.page.pages import pictures
from cutpurse.page.picture_process import PictureProcess
from cutpurse.page.visitor_process import MAX_WAITING, WorkRefused
from cutpurse.sdk.local import play
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.sdk.matches.record_league import record_league
from tests.page.leagues import BIDI, HOSTILE
from tests.page.test_replay import recorded
from tests.properties.random_play import EVERY_GAME
from tests.typed import run

SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30"><rect width="60" height="30" fill="{}"/></svg>'
)
ECHO: Final = [sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read())"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("records") / "mine.jsonl"
    play("greed", ["greedy", "random"], record=file)
    return file


@pytest.fixture
def page(file: Path) -> TestClient:
    app = create_app(Asking(record_league(file), live=False, keep_s=0.0), live=False)
    return TestClient(app, base_url="http://arena.test")


def match_of(page: TestClient) -> str:
    name: str = page.get("/api/v1/matches").json()["matches"][0]["match"]
    return f"/matches/{name}"


def texts_of(svg: str) -> list[str]:
    drawn = ElementTree.fromstring(svg)
    return [text.text or "" for text in drawn.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize(
    "game", [pytest.param(name, marks=[pytest.mark.full] * (name != "greed")) for name in EVERY_GAME]
)
def test_the_captions_of_a_seat_are_lines_of_its_own_log(game: str) -> None:
    """Also where the line with all cards names a card that the seat does not see."""
    record = recorded(game)
    replayed = Replayed(record, record.seats)
    hidden = 0
    every = {moment.at: {row.text for row in moment.rows if row.is_now} for moment in replayed.moments(None, 0, 10**6)}
    for seat in range(len(record.seats)):
        moments = list(replayed.moments(seat, 0, MAX_STRETCH))
        drawn = list(stretch_pictures(replayed, seat, range(len(moments))))
        for moment, svg in zip(moments[1:], drawn[1:], strict=True):
            caption, where = texts_of(svg)[-2:]
            short = [shown.short for shown in moment.frame.seats]
            assert where == f"as {short[seat]} saw it, {moment.index} of {len(replayed.path(seat).ats) - 1}"
            mine = [row.text for row in moment.rows if row.is_now]
            named = [re.sub(r"\bseat (\d)\b", lambda one: short[int(one[1])], text) for text in mine]  # noqa: B023
            assert caption.removesuffix("…") in "; ".join(named[-2:]) or not named
            hidden += bool(set(mine) - every[moment.at])
    assert hidden


def test_a_moment_out_of_range_and_a_stretch_too_long_are_refused() -> None:
    record = recorded("greed")
    replayed = Replayed(record, record.seats)
    last = len(record.choices)
    every = replayed.path(None).ats
    assert moment_index(replayed, None, None) == moment_index(replayed, None, last) == len(every) - 1
    mine = replayed.path(1).ats
    assert moment_index(replayed, 1, mine[3]) == 3
    assert moment_index(replayed, 1, mine[3] - 1) == 2
    assert stretch_range(replayed, None, every[5], every[4 + MAX_STRETCH]) == range(5, 5 + MAX_STRETCH)
    for first, end in ((-1, 3), (0, last + 1), (4, 3), (0, every[MAX_STRETCH])):
        with pytest.raises(UsageError):
            stretch_range(replayed, None, first, end)


def test_pixels_are_the_same_every_time_and_names_are_text() -> None:
    record = recorded("greed", seats=4)
    for names in (HOSTILE[:4], HOSTILE[4:8], (BIDI, "\x00\x1b[31m", "\ud800", "a & b")):
        svg = moment_picture(Replayed(record, names), None, 3)
        assert "<script" not in svg
        assert "<img" not in svg
        ElementTree.fromstring(svg)
        png = to_png(svg)
        assert png == to_png(svg)
        with Image.open(io.BytesIO(png)) as drawn:
            assert (drawn.format, drawn.size) == ("PNG", (1_200, 630))


def test_text_is_drawn_with_our_font() -> None:
    def dark(text: str) -> int:
        svg = SVG.format("#fff").replace("</svg>", f'<text x="2" y="20" font-size="16">{text}</text></svg>')
        with Image.open(io.BytesIO(to_png(svg, 1.0))) as drawn:
            return sum(drawn.convert("L").histogram()[:128])

    assert 0 < dark("i") < dark("Żółw")


def test_an_animation_has_each_picture_once_and_rests_at_the_last() -> None:
    with Image.open(io.BytesIO(to_gif([SVG.format(colour) for colour in ("red", "blue", "lime")]))) as drawn:
        assert drawn.format == "GIF"
        assert getattr(drawn, "n_frames") == 3  # noqa: B009  # its type is of any picture
        shown = []
        for number in range(3):
            drawn.seek(number)
            shown.append((drawn.convert("RGB").getpixel((5, 5)), drawn.info["duration"]))
    assert shown == [((255, 0, 0), 1_200), ((0, 0, 255), 1_200), ((0, 255, 0), 3_600)]


def test_the_page_draws_moments_and_stretches(page: TestClient) -> None:
    match = match_of(page)
    query = "?at=20&seat=1"
    svg, png = page.get(f"{match}/picture.svg{query}"), page.get(f"{match}/picture.png{query}")
    assert (svg.status_code, svg.headers["content-type"]) == (200, "image/svg+xml")
    assert (png.status_code, png.headers["content-type"]) == (200, "image/png")
    assert png.content == to_png(svg.text)
    again = page.get(f"{match}/picture.png{query}", headers={"If-None-Match": png.headers["etag"]})
    assert again.status_code == 304
    assert page.get(f"{match}/picture.svg?at=20").text != page.get(f"{match}/picture.svg?at=20&seat=1").text
    gif = page.get(f"{match}/animation.gif?from=10&to=12&seat=1")
    assert (gif.status_code, gif.headers["content-type"]) == (200, "image/gif")
    (preview,) = re.findall(r'<meta property="og:image" content="([^"]*)">', page.get(f"{match}/replay?at=3").text)
    assert preview == f"http://arena.test{match}/picture.png?at=3"


@pytest.mark.parametrize(
    ("address", "status", "line"),
    [
        ("picture.png?at=x", 400, "at is the number of a moment, from 0"),
        ("picture.png?at=9999", 400, "there is no moment 9999: this match has moments 0 to"),
        ("picture.svg?at=-1", 400, "there is no moment -1"),
        ("picture.bmp", 404, "a picture of a moment is picture.svg or picture.png"),
        ("picture.png?seat=7", 404, "this match has seats 0 to 1"),
        ("animation.webp?from=1&to=2", 404, "an animation is animation.gif"),
        ("animation.gif", 400, "an animation needs its first and its last moment: ?from=30&to=41"),
        ("animation.gif?from=9&to=2", 400, "the stretch from 9 to 2 ends before it begins"),
        ("animation.gif?from=0&to=60", 400, "from 0 to 60 are 61 moments: an animation has at most 60"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(page: TestClient, address: str, status: int, line: str) -> None:
    answer = page.get(f"{match_of(page)}/{address}")
    assert answer.status_code == status
    assert line in unescape(answer.text)


def test_without_the_libraries_there_is_svg_and_a_line_that_says_how_to_get_more(
    page: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "has_pixels", lambda: False)
    match = match_of(page)
    assert page.get(f"{match}/picture.svg").status_code == 200
    for address in ("picture.png", "animation.gif?from=1&to=2"):
        answer = page.get(f"{match}/{address}")
        assert answer.status_code == 404
        assert "pip install '.[pictures]'" in unescape(answer.text)


# -- drawing in turn
async def test_one_picture_is_drawn_at_a_time_for_a_visitor_and_equal_ones_once() -> None:
    process = PictureProcess(ECHO)
    may_go, drawn = asyncio.Event(), []
    loop = asyncio.get_running_loop()

    def svgs() -> Sequence[str]:
        drawn.append(1)
        asyncio.run_coroutine_threadsafe(may_go.wait(), loop).result()
        return ["a"]

    first = asyncio.create_task(process.get("ann", "one", lambda: request(PNG, svgs())))
    same = asyncio.create_task(process.get("bob", "one", lambda: request(PNG, svgs())))
    await asyncio.sleep(0)
    with pytest.raises(WorkRefused, match="drawn for you already"):
        await process.get("ann", "two", lambda: request(PNG, svgs()))
    waiting = [
        asyncio.create_task(process.get(str(one), one, lambda: request(GIF, ["b"]))) for one in range(MAX_WAITING - 1)
    ]
    await asyncio.sleep(0)
    with pytest.raises(WorkRefused, match="too many pictures"):
        await process.get("eve", "three", lambda: request(PNG, svgs()))
    may_go.set()
    assert await first == await same == b'{"kind": "png", "svgs": ["a"]}'
    assert set(await asyncio.gather(*waiting)) == {b'{"kind": "gif", "svgs": ["b"]}'}
    assert await process.get("ann", "one", lambda: request(PNG, svgs())) == await first
    assert len(drawn) == 1


async def test_a_drawing_that_fails_or_hangs_is_given_up_and_the_next_one_is_made() -> None:
    for command in (["false"], [sys.executable, "-c", "while True: pass"]):
        process = PictureProcess(command, max_s=0.3)
        for _ in range(2):
            with pytest.raises(WorkRefused, match="could not be drawn"):
                await process.get("ann", "one", lambda: request(PNG, ["a"]))


def test_a_visitor_who_asks_for_too_much_is_asked_to_come_again(page: TestClient) -> None:
    class Busy(PictureProcess):
        async def get(self, visitor: str, key: object, ask: object) -> bytes:
            raise WorkRefused("a picture is being drawn for you already; try again in a few seconds")

    page.app.state.pictures = Busy()  # type: ignore[attr-defined]  # TestClient types its app as any ASGI app
    answer = page.get(f"{match_of(page)}/picture.png")
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    assert "a picture is being drawn for you already" in answer.text


# -- on the command line
def test_the_command_draws_what_the_page_draws(file: Path, tmp_path: Path) -> None:
    replayed = replay_of(next(read_matches(file.read_bytes())))
    svg, png, gif = tmp_path / "a.svg", tmp_path / "a.png", tmp_path / "a.gif"
    assert run("match", "picture", file, "--at", 12, "--seat", 1, "--into", svg).exit_code == 0
    index = moment_index(replayed, 1, 12)
    assert svg.read_text(encoding="utf-8") == moment_picture(replayed, 1, index)
    assert run("match", "picture", file, "--into", png).exit_code == 0
    assert png.read_bytes() == to_png(moment_picture(replayed, None, len(replayed.path(None).ats) - 1))
    assert run("match", "picture", file, "--from", 3, "--to", 5, "--into", gif).exit_code == 0
    assert gif.read_bytes() == to_gif(stretch_pictures(replayed, None, range(3, 6)))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ("--into", "a.bmp"),
            "--into a.bmp: the name ends in .png or .svg for a moment, .gif for a stretch, .html for all",
        ),
        (("--into", "a.gif"), "a.gif is an animation: name its first and last moment with --from and --to"),
        (("--into", "a.gif", "--at", 3), "--at is for a moment, and a.gif is an animation"),
        (("--into", "a.png", "--from", 3), "--from and --to make an animation: a.png would have to end in .gif"),
        (("--into", "a.png", "--at", 9999), "there is no moment 9999: this match has moments 0 to"),
        (("--into", "a.png", "--seat", 5), "--seat 5: the match has seats 0 to 1"),
        (("--into", "a.gif", "--from", 5, "--to", 2), "the stretch from 5 to 2 ends before it begins"),
        (("--into", "there.png"), "there.png already exists; name another file with --into"),
    ],
)
def test_a_wrong_option_is_one_line(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[object, ...], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there.png").touch()
    shown = run("match", "picture", file, *words)
    assert shown.exit_code == 2
    assert line in shown.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["there.png"]
