"""The page of a file of matches: local matches in the viewer that a league has."""

from __future__ import annotations

import re
from html import escape

import pytest
from starlette.testclient import TestClient

from cutpurse.engine.errors import CutpurseError
from cutpurse.games import GAMES
from cutpurse.page.app import create_app
from cutpurse.page.league_client import Asking
from cutpurse.page.pages.finding import around
from cutpurse.sdk.local import play
from cutpurse.sdk.matches.record_league import record_league
from cutpurse.v1 import ladder_pb2


class Slip:
    """Fails at its first decision."""

    def choose(self, view: object, decision: object) -> object:
        raise CutpurseError("slipped")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    file = tmp_path_factory.mktemp("records") / "mine.jsonl"
    play("greed", ["greedy", "random", Slip], matches=3, record=file)
    app = create_app(Asking(record_league(file), live=False, keep_s=0.0), live=False)
    return TestClient(app, base_url="http://arena.test")


def test_every_page_shows_local_matches(page: TestClient) -> None:
    addresses, seen = ["/", "/matches", "/bots", "/ladders/greed"], set[str]()
    while addresses:
        address = addresses.pop()
        answer = page.get(address)
        assert answer.status_code == 200, address
        seen.add(address)
        if answer.headers["content-type"].startswith("text/html"):
            found = re.findall(r'href="(/(?:matches|bots|ladders|feeds)[^"#?]*)', answer.text)
            addresses += [one for one in found if one not in seen and one not in addresses]
    assert sum("/replay" in one for one in seen) == 3


def test_the_standings_say_that_nothing_is_rated(page: TestClient) -> None:
    html = page.get("/ladders/greed").text
    assert "By mean place. Nothing is rated in a file of matches." in html
    assert "leads" not in html
    assert re.findall(r'data-name="([^"]*)"', html)[0] == "greedy"


def test_cards_are_explained_wherever_a_replay_names_them(page: TestClient) -> None:
    """In options, log and events, with the text of the catalogue, which is the title of the card too."""
    match = page.get("/api/v1/matches").json()["matches"][0]["match"]
    texts = {escape(f"{card.title}: {card.text}") for card in GAMES["greed"].words.cards if card.text}
    seen = set[str]()
    for at in range(40):
        html = page.get(f"/matches/{match}/replay?at={at}").text
        explained = re.findall(r'<span class="term" title="([^"]*)">([^<]*)</span>', html)
        assert all(title.startswith(f"{term}: ") for title, term in explained)
        assert {title for title, _ in explained} <= texts
        seen.update(part for part in ("options", "told", "entries") if f'class="{part}' in html and explained)
    assert seen == {"options", "told", "entries"}
    assert 'class="term"' not in page.get(f"/matches/{match}").text


def test_a_bot_is_found_among_its_neighbours(page: TestClient) -> None:
    def names(path: str) -> list[tuple[str, str]]:
        return re.findall(r'<tr( class="found")?[^>]* data-name="([^"]*)"', page.get(path).text)

    everybody = [name for _, name in names("/ladders/greed")]
    assert len(everybody) == 3
    assert names("/ladders/greed?find=SLIP") == [(' class="found"' if one == "Slip" else "", one) for one in everybody]
    assert names("/ladders/greed?find=nobody") == []
    assert "called so, or in part" in page.get("/ladders/greed?find=nobody").text
    assert [one for mark, one in names("/ladders/greed?find=local/") if mark] == everybody


def test_the_neighbours_of_the_wanted_are_two_above_and_two_below() -> None:
    rankings = [
        ladder_pb2.Ranking(
            place=place, bot=ladder_pb2.BotName(owner="ann" if place in (4, 20) else "bob", bot=f"b{place}")
        )
        for place in range(1, 31)
    ]
    assert [one.place for one in around(rankings, "Ann/")] == [2, 3, 4, 5, 6, 18, 19, 20, 21, 22]
    assert [one.place for one in around(rankings, "b30, ,nobody")] == [28, 29, 30]
    assert around(rankings, " , ") == []


def test_chosen_bots_meet_head_to_head(page: TestClient) -> None:
    def columns(query: str) -> int:
        return page.get(f"/ladders/greed/head-to-head{query}").text.count('class="turned"')

    assert columns("") == 3
    assert columns("?find=greedy,slip") == 2
    assert "Fewer than two bots" in page.get("/ladders/greed/head-to-head?find=slip").text


def test_opponents_are_ordered_by_result(page: TestClient) -> None:
    def shares(order: str) -> list[int]:
        html = page.get(f"/bots/local/random?ladder=greed&order={order}").text.partition("Against whom")[2]
        return [int(share) for share in re.findall(r'<td class="number">(\d+) %</td>', html.partition("</table>")[0])]

    worst = shares("worst")
    assert len(worst) == 2
    assert worst == sorted(shares("met"))
    assert worst[::-1] == shares("best")
    assert page.get("/bots/local/random?order=odd").status_code == 400


def test_the_first_page_has_a_table_to_look_at_and_three_doors(page: TestClient) -> None:
    html = page.get("/").text
    (address,) = re.findall(r'<a class="table-picture" href="[^"]*/replay"><img src="([^"]*)"', html)
    answer = page.get(address)
    assert answer.headers["content-type"] == "image/svg+xml"
    assert "greedy" in answer.text
    (doors,) = re.findall(r'<ul class="doors">(.*?)</ul>', html, re.DOTALL)
    links = re.findall(r'href="([^"]*)"', doors)
    assert len(links) == 3
    assert all(page.get(link).status_code == 200 for link in links)


def test_a_link_to_a_match_or_a_moment_has_a_preview(page: TestClient) -> None:
    match = page.get("/api/v1/matches").json()["matches"][0]["match"]
    pictures = {}
    for path in (f"/matches/{match}", f"/matches/{match}/replay?at=3"):
        (address,) = re.findall(r'<meta property="og:image" content="([^"]*)">', page.get(path).text)
        assert address.startswith("http://arena.test/matches/")
        pictures[path] = page.get(address.replace(".png", ".svg")).text
    assert "1st " in pictures[f"/matches/{match}"]
    assert "1st " not in pictures[f"/matches/{match}/replay?at=3"]
    assert page.get(f"/matches/{match}/picture.svg?at=x").status_code == 400
    assert page.get("/matches/ffffffff/picture.svg").status_code == 404


def test_a_match_promises_no_deal_and_says_what_failed(page: TestClient) -> None:
    match = page.get("/api/v1/matches").json()["matches"][0]["match"]
    html = page.get(f"/matches/{match}").text
    assert "played without a server" in html
    assert "Commitment" not in html
    assert "Decisions that the server took" in html
    assert "crashed" in html
    assert "How long they thought" not in html
    assert page.get(f"/api/v1/matches/{match}/record").status_code == 200
