"""Replays in a browser: stepped through by the keyboard, played, jumped through, and as a seat saw them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Page

from cutpurse.engine.record import Record, replay
from cutpurse.games import GAMES
from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.server.hosting.page import listening_socket
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import league_at
from tests.page.browser import Watched
from tests.properties.random_play import EVERY_GAME

MOST = 160  # decisions of a match that is stepped through, where there is such a one


@pytest.fixture(scope="module")
def archive(league_db: Path) -> Iterator[str]:
    """The address of a page that shows the database."""
    with league_at(db=league_db, as_stranger=True) as league:
        listening, address = listening_socket("127.0.0.1:0")
        server = uvicorn.Server(
            uvicorn.Config(create_app(Asking(league, live=False), live=False), log_config=None, lifespan="off")
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        with listening:
            thread.start()
            yield f"http://{address}"
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def records(league_db: Path) -> dict[str, tuple[str, Record]]:
    """By game a match that is not long, with its record."""
    found = {}
    with league_at(db=league_db, as_stranger=True) as league:
        matches = league.ListMatches(ladder_pb2.ListMatchesRequest(limit=500)).matches
        for game in EVERY_GAME:
            mine = [match for match in matches if match.game == game and not match.void_cause]
            shortest = min(
                mine,
                key=lambda match: (match.decisions > MOST, not any(s.faults for s in match.seats), match.decisions),
            )
            request = ladder_pb2.GetRecordRequest(match=shortest.match)
            (filed,) = read_matches(b"".join([one.piece for one in league.GetRecord(request)]))
            found[game] = shortest.match, filed.record()
    return found


def opened(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("html[data-moment]")


def pressed(page: Page, key: str, moment: int) -> None:
    page.keyboard.press(key)
    page.wait_for_selector(f'html[data-moment="{moment}"]')


LONGEST = "bag_o_loot"  # half a minute of keys: in the long run only


@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[pytest.mark.soak] * (game == LONGEST)) for game in EVERY_GAME]
)
def test_a_replay_is_stepped_through_from_first_to_last(
    page: Page, archive: str, records: dict[str, tuple[str, Record]], game: str
) -> None:
    match, record = records[game]
    page.emulate_media(reduced_motion="reduce")
    opened(page, f"{archive}/matches/{match}/replay")
    ats = json.loads(page.get_attribute("#player", "data-ats") or "")
    steps = [(len(played.choices), asked.seat) for played, asked, _ in replay(record, GAMES[game])]
    assert ats == [*[at for at, _ in steps], len(record.choices)]
    assert page.evaluate("document.documentElement.dataset.moment") == "0"
    for moment, (_, seat) in enumerate(steps):
        assert page.locator(".decided h2 .s").get_attribute("title") == f"seat {seat}"
        pressed(page, "ArrowRight", moment + 1)
    assert page.locator(".decided h2").inner_text() == "The match is over"
    result = record.result
    for seat, (place, score) in enumerate(zip(result["places"], result["scores"], strict=True)):
        beside = page.locator(f'[data-seat="{seat}"]')
        assert beside.locator(".chip.ended").inner_text()[0] == str(place)
        assert beside.locator(".score").inner_text() == f"{score:,}"
    page.keyboard.press("ArrowRight")  # there is nothing more
    pressed(page, "Home", 0)
    pressed(page, "End", len(steps))
    pressed(page, "ArrowLeft", len(steps) - 1)
    page.wait_for_url(f"**/replay?at={ats[-2]}")


def test_cards_move_from_where_they_lay(page: Page, archive: str, records: dict[str, tuple[str, Record]]) -> None:
    match, _ = records["greed"]
    opened(page, f"{archive}/matches/{match}/replay?at=0")
    flown = """() => document.getAnimations().filter((one) =>
        one.effect.getKeyframes().some((frame) => /translate/.test(frame.transform || ""))).length"""
    page.evaluate(
        """() => {
            const animate = Element.prototype.animate;
            Element.prototype.animate = function (steps) {
                window.flown = (window.flown || 0) + Number(/translate/.test(steps[0].transform));
                return animate.call(this, steps, { duration: 60000 });
            };
        }"""
    )
    pressed(page, "ArrowRight", 1)
    assert page.evaluate(flown) >= 1
    assert page.evaluate("window.flown") >= 1
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("window.flown = 0")
    pressed(page, "ArrowRight", 2)
    assert page.evaluate("window.flown") == 0


def test_a_set_that_is_stolen_moves_as_a_whole(
    page: Page, archive: str, records: dict[str, tuple[str, Record]]
) -> None:
    match, record = records["bag_o_loot"]
    steal = next(at for at, choice in enumerate(record.choices) if choice[1] == "steal")
    opened(page, f"{archive}/matches/{match}/replay?at={steal}")
    page.evaluate(
        """() => {
            const animate = Element.prototype.animate;
            window.flown = [];
            Element.prototype.animate = function (steps, timing) {
                if (this.dataset.zone && /translate/.test(steps[0].transform)) window.flown.push(this.dataset.zone);
                return animate.call(this, steps, timing);
            };
        }"""
    )
    ats = json.loads(page.get_attribute("#player", "data-ats") or "")
    pressed(page, "ArrowRight", ats.index(steal) + 1)
    assert page.evaluate("window.flown") == [str(record.choices[steal][2]["zone"])]


def test_a_replay_is_played_and_paused_and_jumped_through(
    page: Page, archive: str, records: dict[str, tuple[str, Record]]
) -> None:
    match, _ = records["bag_o_loot"]
    opened(page, f"{archive}/matches/{match}/replay")
    page.click("#more > summary")
    page.select_option("#speed", "120")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Space")
    page.wait_for_selector(", ".join([f'html[data-moment="{moment}"]' for moment in range(4, 99)]))
    page.click("#play")
    assert page.get_attribute("#play", "aria-label") == "play"
    steals = json.loads(page.get_attribute("#player", "data-steals") or "")
    page.evaluate("document.activeElement.blur()")
    here = int(page.evaluate("document.documentElement.dataset.moment"))
    to = next(one for one in steals if one > here)
    pressed(page, "s", to)
    assert page.locator(".entries .now.steal").count() >= 1
    pressed(page, "s", next(one for one in steals if one > to))
    pressed(page, "Shift+S", to)
    page.locator(".entries li a").first.click()
    page.wait_for_selector(", ".join([f'html[data-moment="{moment}"]' for moment in range(to)]))
    page.locator("#at").fill("20")
    page.wait_for_url("**/replay?at=20")
    page.reload()
    assert "Moment 20" in page.inner_text("#position")


def test_a_fault_is_found_and_told(page: Page, archive: str, records: dict[str, tuple[str, Record]]) -> None:
    faulty = [one for one in records.values() if any(len(choice) > 3 for choice in one[1].choices)]
    assert faulty, "no match of the league has a fault"
    match, record = faulty[0]
    opened(page, f"{archive}/matches/{match}/replay")
    page.keyboard.press("f")
    page.wait_for_selector(".decided .cause")
    at = int(page.evaluate("JSON.parse(player.dataset.ats)[document.documentElement.dataset.moment]"))
    assert len(record.choices[at]) > 3
    assert "The server decided for it" in page.inner_text(".decided .cause")
    assert page.locator(".options .chosen .chip.fault").count() == 1


def test_a_seat_view_is_what_the_seat_was_sent(
    page: Page, archive: str, records: dict[str, tuple[str, Record]]
) -> None:
    match, record = records["greed"]
    seat = 1
    page.emulate_media(reduced_motion="reduce")
    opened(page, f"{archive}/matches/{match}/replay")
    page.click(".viewers > summary")
    page.click(f'a[data-viewer="{seat}"]')
    page.wait_for_selector(f'.board[data-viewer="{seat}"]')
    page.wait_for_selector("html[data-moment]")
    words = GAMES["greed"].words
    own = 0
    for played, asked, _ in replay(record, GAMES["greed"]):
        if asked.seat != seat:
            continue
        page.wait_for_selector(f'html[data-moment="{own}"]')
        view = played.game.view(seat)
        for zone in view.zones:
            drawn = page.evaluate(
                f"[...document.querySelectorAll('[data-zone=\"{zone.number}\"] [data-face]:not(.known)')]"
                ".map((one) => one.dataset.face).sort()"
            )
            assert drawn == sorted(words.cards[card - 1].name for card in zone.cards)
        texts = page.locator(".options li").count()
        assert texts == len(asked.options)
        own += 1
        if own == 12:
            break
        page.keyboard.press("ArrowRight")
    assert own > 3
    assert page.locator("#proof tr.mine .good").inner_text() == "the same"


def test_a_replay_works_without_scripts_and_on_a_phone(
    watched: Watched, archive: str, records: dict[str, tuple[str, Record]]
) -> None:
    match, _ = records["szmal"]
    page = watched.page(java_script_enabled=False, viewport={"width": 360, "height": 740}, color_scheme="dark")
    page.goto(f"{archive}/matches/{match}/replay?at=3")
    page.click('[data-go="on"]')
    page.wait_for_url("**at=4")
    assert page.locator("[data-key]").count() > 10
    page.locator("#at").fill("30")
    page.click("#go")
    page.wait_for_url("**at=30")
    wide = watched.page(viewport={"width": 360, "height": 740})
    for game in EVERY_GAME:
        opened(wide, f"{archive}/matches/{records[game][0]}/replay?at=40")
        assert wide.evaluate("document.documentElement.scrollWidth") <= 360, game


def test_a_card_that_is_face_down_lies_in_line_with_the_others(
    page: Page, archive: str, records: dict[str, tuple[str, Record]]
) -> None:
    match, record = records["steal_and_plunder"]
    out, mixed = [], 0
    for at in range(20, len(record.choices), 10):
        for seat in range(len(record.seats)):
            opened(page, f"{archive}/matches/{match}/replay?at={at}&seat={seat}")
            for is_mixed, by in page.evaluate(
                """() => [...document.querySelectorAll(".zone.pack .lie:has(.card)")].map((pile) => {
                    const [of, first] = [pile, pile.firstElementChild].map((one) => one.getBoundingClientRect().left);
                    const open = pile.querySelector("li:first-child:has(.back) ~ li > .card:not(.back)");
                    return [Boolean(open), first - of];
                })"""
            ):
                mixed += is_mixed
                out += [(at, seat, by)] if abs(by) > 1 else []
        if mixed:
            break
    assert mixed, "no pile hides its first card"
    assert not out


def test_a_short_name_is_whole_where_eight_seats_share_the_table(
    page: Page, archive: str, records: dict[str, tuple[str, Record]]
) -> None:
    match, record = records["bag_o_loot"]
    opened(page, f"{archive}/matches/{match}/replay?at={len(record.choices)}")
    cut = """() => [...document.querySelectorAll(".player")].map((player) => {
        player.style.flex = "0 0 206px";
        player.querySelector("h2 > .s").textContent = "robber 12";
        const name = player.querySelector("h2");
        return name.scrollWidth > name.clientWidth;
    })"""
    assert page.evaluate(cut) == [False] * len(record.seats)


def test_a_key_that_is_held_down_runs_no_faster_than_can_be_seen(
    page: Page, archive: str, records: dict[str, tuple[str, Record]]
) -> None:
    """Browsers repeat a key thirty times a second: what could not be painted in time went on after it was let go."""
    opened(page, f"{archive}/matches/{records['greed'][0]}/replay")
    held = """async () => {
        const down = (repeat) => document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", repeat }));
        const turn = () => new Promise((done) => {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = done;
            port2.postMessage(0);
        });
        const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(() => setTimeout(done))));
        const moments = () => Number(document.documentElement.dataset.moment);
        down(false);
        while (moments() < 1) await turn();
        await frame();
        down(true);
        while (moments() < 2) await turn();
        for (let more = 0; more < 9; more++) { down(true); await null; }
        const atOnce = moments();
        await frame();
        const later = moments();
        down(true);
        while (moments() < 3) await turn();
        return [atOnce, later, moments()];
    }"""
    assert page.evaluate(held) == [2, 2, 3]


def test_a_stretch_is_marked_by_keys_or_buttons_and_has_a_link_to_its_animation(
    page: Page, archive: str, records: dict[str, tuple[str, Record]]
) -> None:
    match, _ = records["greed"]
    opened(page, f"{archive}/matches/{match}/replay?at=0&seat=1")
    ats = json.loads(page.get_attribute("#player", "data-ats") or "")
    share, animation = page.locator("#pictures"), page.locator("#animation")
    page.locator("#more > summary").click()
    address = share.locator("[data-picture=png]").get_attribute("href")
    assert address == f"/matches/{match}/picture.png?at={ats[0]}&seat=1"
    page.locator("#begin").click()
    assert page.locator("#stretch-status").inner_text() == "begins at moment 0"
    page.keyboard.press("Escape")
    assert not share.is_visible()
    pressed(page, "ArrowRight", 1)
    pressed(page, "ArrowRight", 2)
    assert (
        share.locator("[data-picture=svg]").get_attribute("href") == f"/matches/{match}/picture.svg?at={ats[2]}&seat=1"
    )
    page.keyboard.press("e")
    assert page.locator("#stretch-status").inner_text() == "moments 0 to 2, GIF"
    address = animation.get_attribute("href") or ""
    assert address == f"/matches/{match}/animation.gif?from={ats[0]}&to={ats[2]}&seat=1"
    assert page.request.get(f"{archive}{address}").headers["content-type"] == "image/gif"
    pressed(page, "End", len(ats) - 1)
    page.keyboard.press("b")
    assert "mark another" in page.locator("#stretch-status").inner_text()
    assert not animation.is_visible()
