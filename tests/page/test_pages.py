"""Home, ladder and bot: what they say is what the league says, in words, numbers and to scale."""

from __future__ import annotations

import html
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.page import rendering
from cutpurse.page.charts import axis_of
from cutpurse.page.match_view import drawing
from cutpurse.page.rating_display import lead_of
from cutpurse.page.rendering import Rendering
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import format_bot_name
from tests.page.leagues import HOSTILE, PRIVATE
from tests.page.serving import page_of, page_of_file
from tests.page.test_frame import EMPTY
from tests.typed import run

pb = ladder_pb2


@pytest.fixture(scope="module")
def page(league_db: Path) -> Iterator[TestClient]:
    with page_of_file(league_db) as client:
        yield client


def text_of(page: TestClient, path: str) -> str:
    answer = page.get(path)
    assert answer.status_code == 200, answer.text
    text: str = answer.text
    return text


def words_of(markup: str) -> str:
    """What is read."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split()).replace(" ,", ",")


def commands(text: str) -> list[str]:
    """What the first page says to type; what is copied is the same."""
    lines = [words_of(line) for line in re.findall(r"<li><code>(.*?)</code>", text)]
    assert lines == [html.unescape(line) for line in re.findall(r'data-copy="(.*?)"', text)]
    return lines


# -- over a database of real matches
def test_home_has_every_public_ladder_with_its_leader(page: TestClient, league_db: Path) -> None:
    text = text_of(page, "/")
    with LeaderboardReader(league_db) as reader:
        public = [one.name for one in reader.run(queries.ladders) if one.name != PRIVATE]
        leaders = {name: [one for one in reader.run(queries.rankings, name) if one.is_placed][:1] for name in public}
    cards = dict(re.findall(r'data-key="ladder ([^"]+)">(.*?)\n  </li>', text, re.DOTALL))
    assert set(cards) == set(public)
    for ladder, card in cards.items():
        first = words_of(card.split('<ol class="leaders">')[1].split("</li>")[0])
        (leader,) = leaders[ladder]
        name = format_bot_name(pb.BotName(owner=leader.owner, bot=leader.bot))
        assert first.startswith(f"1 {name} {leader.rating:.1f} ±")
    assert "Being played now" not in text
    assert f"/ladders/{PRIVATE}" not in text


def test_a_ladder_shows_who_stands_where(page: TestClient, league_db: Path) -> None:
    text = text_of(page, "/ladders/greed")
    with LeaderboardReader(league_db) as reader:
        rankings = reader.run(queries.rankings, "greed")
        every = reader.run(queries.rankings, "greed", True)
    rows = re.findall(r"<tr data-key=.*?</tr>", text, re.DOTALL)
    assert len(rows) == len(rankings)
    for row, one in zip(rows, rankings, strict=True):
        words = words_of(row)
        assert words.startswith(f"{one.place} " if one.place else "not placed yet ")
        assert f" {one.rating:.1f} ± {(one.high - one.low) / 2:.1f} " in words
        assert f" {one.matches} {one.wins} " in words
        assert ("paused" in words) == one.is_paused
        form = re.findall(r'<span class="form-\d">(\d+)</span>', row)
        assert [int(place) for place in form] == list(reversed(one.form))
    assert text_of(page, "/ladders/greed?every_version=1").count("<tr data-key=") == len(every) > len(rankings)
    assert "frozen" in words_of(text_of(page, "/ladders/duel"))


def test_of_each_pair_one_is_ahead_as_often_as_the_other_is_not(page: TestClient, league_db: Path) -> None:
    text = text_of(page, "/ladders/duel/head-to-head")
    rows = re.findall(r'<tr><th scope="row">.*?</tr>', text, re.DOTALL)
    cells = [re.findall(r"<td class=\"(.*?)\".*?>(?:<span.*?</span>)?(\d*)</td>", row, re.DOTALL) for row in rows]
    size = len(rows)
    assert size > 5
    assert [len(row) for row in cells] == [size] * size
    met = 0
    for a in range(size):
        assert cells[a][a][0] == "self"
        for b in range(a):
            if cells[a][b][1]:
                met += 1
                assert abs(int(cells[a][b][1]) + int(cells[b][a][1]) - 100) <= 1
            else:
                assert not cells[b][a][1]
    assert met > size


def test_a_bot_shows_its_versions_matches_and_faults(page: TestClient, league_db: Path) -> None:
    words = words_of(text_of(page, "/bots/ann/sneak?ladder=greed"))
    with LeaderboardReader(league_db) as reader:
        (one,) = [entry for entry in reader.run(queries.rankings, "greed") if entry.bot == "sneak"]
        steps = reader.run(queries.history, "greed", "ann", "sneak")
        faulted = reader.run(queries.matches, "greed", "dan", "broken", None, True)
    assert "version 1" in words
    assert "version 2" in words
    assert one.is_placed
    assert f"rating {one.rating:.1f} ± {(one.high - one.low) / 2:.1f}, {one.wins} win" in words
    change = steps[0].after.mu - steps[0].before.mu
    assert f"{change:+.2f}".replace("-", "\N{MINUS SIGN}") in words
    text = text_of(page, "/bots/dan/broken?ladder=greed")
    assert faulted
    links = re.findall(r'href="/matches/([0-9a-f]+)/replay\?at=(\d+)&amp;seat=(\d)"', text)
    assert links
    assert {match for match, _, _ in links} <= {entry.match for entry in faulted}
    with LeaderboardReader(league_db) as reader:
        for match, at, seat in links:
            course = reader.run(queries.courses, match)[int(seat)]
            assert course is not None
            assert int(at) in [fault.at for fault in course.faults]
    assert "its own code failed" in words_of(text)


def test_a_version_has_a_page_of_its_own(page: TestClient) -> None:
    words = words_of(text_of(page, "/bots/ann/sneak/2?ladder=greed"))
    assert re.search(r"\b(1st|2nd|3rd|4th)\b", words)
    assert page.get("/bots/ann/sneak/3").status_code == 404


def test_every_bot_of_every_ladder_has_a_page_and_its_name_is_shown_as_text(page: TestClient) -> None:
    seen = set()
    for ladder in ("greed", "szmal", "duel"):
        for path in set(re.findall(r'<a class="bot" href="([^"]+)"', text_of(page, f"/ladders/{ladder}"))):
            seen.add(path)
    assert {f"/bots/cid/{quote(name, safe='')}" for name in HOSTILE} <= {re.sub(r"/[^/]*$", "", path) for path in seen}
    for path in sorted(seen):
        text = text_of(page, path)
        assert "<script>" not in text
        assert not re.search(r"<img[^>]*\sonerror", text)
        assert not re.search(r"<[^>]*\sonmouseover=", text)


def test_a_bot_that_is_named_in_full_is_shown_at_once(page: TestClient) -> None:
    for find in ("BOB/thug", "thug"):
        answer = page.get("/bots", params={"find": find}, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/bots/bob/thug"), find
    assert page.get("/bots", params={"find": "thu"}, follow_redirects=False).status_code == 200


@pytest.mark.parametrize(
    ("find", "found"),
    [
        ("ANN", ["ann/sneak"]),
        ("k/sneak", []),
        ("/thug", ["bob/thug"]),
        ("  ", None),
        ("/<SCRIPT>", [f"cid/{name}" for name in HOSTILE if name.startswith("<script>")]),
        ("nobody is called so", []),
    ],
)
def test_bots_are_found_by_a_part_of_their_name(page: TestClient, find: str, found: list[str] | None) -> None:
    text = text_of(page, f"/bots?find={quote(find, safe='')}")
    told = [html.unescape(name) for name in re.findall(r'<th scope="row"><a class="bot"[^>]*><bdi>(.*?)</bdi>', text)]
    if found is None:
        known = {(one["bot"]["owner"], one["bot"]["bot"]) for one in page.get("/api/v1/bots").json()["bots"]}
        assert len(told) == len(known) > 5
    else:
        assert sorted(told) == sorted(found)
    assert ("No bot and no owner" in text) is (found == [])
    assert "<script>" not in re.sub(r'<script src="[^"]*" defer></script>', "", text)


def test_the_list_of_bots_has_versions_and_only_ladders_that_are_public(page: TestClient) -> None:
    text = words_of(re.search(r"<tr>\s*<th scope=.row.><a[^>]*ann/sneak.*?</tr>", text_of(page, "/bots"), re.S)[0])  # type: ignore[index]
    assert text.startswith("ann/sneak 2 2 ")
    assert PRIVATE not in text_of(page, "/bots")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/bots?find={'x' * 201}", 400),
        ("/ladders/nope", 404),
        (f"/ladders/{PRIVATE}", 404),
        (f"/ladders/{PRIVATE}/head-to-head", 404),
        (f"/streams/ladders/{PRIVATE}", 404),
        ("/streams/ladders/nope", 404),
        ("/ladders/greed?every_version=perhaps", 400),
        ("/bots/ann", 404),
        ("/bots/ann/", 404),
        ("/bots/ann/sneak/1/more", 404),
        ("/bots/nobody/sneak", 404),
        ("/bots/ann/sneak?ladder=nope", 404),
        (f"/bots/ann/sneak?ladder={PRIVATE}", 404),
        ("/bots/%00/%ff", 404),
        (f"/ladders/{'x' * 4000}", 404),
    ],
)
def test_what_is_not_there_or_not_public_is_an_error_page(page: TestClient, path: str, status: int) -> None:
    answer = page.get(path)
    assert answer.status_code == status
    assert "<h1>" in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/ladders/greed/", "/ladders/greed"),
        ("/matches/?ladder=greed&faulted=true", "/matches?ladder=greed&faulted=true"),
        ("/rules/greed//", "/rules/greed"),
        ("/%5Celsewhere.test/", "/%5Celsewhere.test"),
        ("/bots/", "/bots"),
        ("/ladders/", "/ladders"),
    ],
)
def test_an_address_with_a_slash_at_its_end_leads_to_the_one_without(
    page: TestClient, path: str, leads_to: str
) -> None:
    answer = page.get(path, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (308, leads_to)


def test_the_first_page_asks_about_two_dozen_ladders_and_the_others_can_be_found() -> None:
    """Each costs a call, every second as long as somebody looks."""
    asked = []
    titled = ladder_pb2.LadderTerms(title="Cup of <b>spring")

    def ladders(_: ladder_pb2.ListLaddersRequest) -> ladder_pb2.ListLaddersResponse:
        some = [
            ladder_pb2.LadderShown(
                defined=ladder_pb2.LadderDefined(
                    name=f"class-{number:03}", game="greed", seats=4, terms=titled if number == 5 else None
                ),
                matches=number,
                is_frozen=number == 199,
            )
            for number in range(200)
        ]
        return ladder_pb2.ListLaddersResponse(ladders=some)

    def rankings(request: ladder_pb2.ListRankingsRequest) -> ladder_pb2.ListRankingsResponse:
        asked.append(request.ladder)
        return ladder_pb2.ListRankingsResponse()

    page = page_of({**EMPTY, "ListLadders": ladders, "ListRankings": rankings})
    first = page.get("/").text
    assert sorted(asked) == [f"class-{number}" for number in range(128, 152)]  # of about as many matches, by name
    assert '<a href="/ladders">All 200 ladders</a>' in first
    every = page.get("/ladders").text
    names = re.findall(r'<th scope="row"><a href="/ladders/([^"]*)"', every)
    assert (len(names), names[0], names[-1]) == (200, "class-128", "class-199")
    assert "frozen" in every
    assert re.findall(r'row"><a href="/ladders/([^"]*)"', page.get("/ladders?find=LASS-19").text) == [
        *(f"class-{number}" for number in range(190, 199)),
        "class-199",
    ]
    shown = page.get("/ladders?find=spring").text
    assert '<a href="/ladders/class-005"><bdi>Cup of &lt;b&gt;spring</bdi></a> <code' in shown
    assert "No ladder, title or game is called so" in page.get("/ladders?find=szmal").text
    assert len(asked) == 24


@pytest.mark.parametrize("is_first_minute", [True, False])
def test_the_first_page_has_the_picture_of_the_last_match_that_was_over_when_the_minute_began(
    is_first_minute: bool,
) -> None:
    ladder = ladder_pb2.LadderShown(defined=ladder_pb2.LadderDefined(name="class", game="greed", seats=4), matches=2)
    old = ladder_pb2.MatchShown(match="a" * 32, ladder="class", game="greed", decisions=9, finished_ms=1)
    new = ladder_pb2.MatchShown(match="b" * 32, ladder="class", game="greed", decisions=9, finished_ms=2)

    def matches(request: ladder_pb2.ListMatchesRequest) -> ladder_pb2.ListMatchesResponse:
        ended = ([] if is_first_minute else [old]) if request.until_ms else [new, old]
        return ladder_pb2.ListMatchesResponse(matches=ended)

    answers = {
        **EMPTY,
        "ListLadders": lambda _: ladder_pb2.ListLaddersResponse(ladders=[ladder]),
        "ListMatches": matches,
        "GetMatch": lambda _: ladder_pb2.GetMatchResponse(has_record=True),
    }
    pictures = re.findall(r'<a class="table-picture" href="/matches/(\w+)/replay">', page_of(answers).get("/").text)
    assert pictures == [new.match if is_first_minute else old.match]


def test_no_address_leads_to_another_host_nor_to_itself(page: TestClient) -> None:
    for path in ("//elsewhere.test/", "//", "/greed%2F"):
        assert page.get(f"http://arena.test{path}", follow_redirects=False).status_code == 404
    assert page.get("/bots/ann/sneak/").status_code == 200


def test_a_link_to_a_live_match_leads_to_its_page_in_an_archive(page: TestClient, league_db: Path) -> None:
    with LeaderboardReader(league_db) as reader:
        match = reader.run(queries.matches, ladder="greed")[0].match
    answer = page.get(f"/live/{match}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, f"/matches/{match}")


# -- over a league that says what estimates will
def _estimated() -> dict[str, Any]:
    ann, bob, cid, dan = (pb.BotName(owner=owner, bot="sneak", version="1") for owner in ("ann", "bob", "cid", "dan"))
    steps = [
        pb.RatingStep(
            number=number,
            match=f"{number:032x}",
            version="1",
            place=2,
            before=pb.SkillShown(mu=20, sigma=2),
            after=pb.SkillShown(mu=21.25, sigma=2),
            opponents=[
                pb.StepOpponent(bot=bob, likely=0.31, outcome=1),
                pb.StepOpponent(bot=cid, likely=0.6, outcome=-1),
            ],
        )
        for number in (2, 1)
    ]
    ladder = pb.LadderShown(
        defined=pb.LadderDefined(name="duel", game="greed", seats=3, boards=pb.BOARD_KIND_DUPLICATE), bots=2, tables=1
    )
    ranking = [
        pb.Ranking(place=1, bot=ann, rating=27, low=25, high=29, best=1, worst=2, matches=4, wins=3, is_here=True),
        pb.Ranking(place=2, bot=bob, rating=22, low=20, high=24, best=1, worst=2, matches=4, faulted=2),
        pb.Ranking(bot=cid, rating=30, low=20, high=40, matches=3, wins=3),
        pb.Ranking(bot=dan, matches=1),
    ]
    open_match = pb.OpenMatch(match="feed" * 8, ladder="duel", game="greed", started_ms=1, seats=[])
    return {
        **EMPTY,
        "ListLadders": lambda _: pb.ListLaddersResponse(ladders=[ladder]),
        "ListRankings": lambda _: pb.ListRankingsResponse(rankings=ranking, estimated=9, boards=12, placed=2),
        "ListHistory": lambda _: pb.ListHistoryResponse(steps=steps),
        "ListOpponents": lambda _: pb.ListOpponentsResponse(
            opponents=[pb.Opponent(bot=bob, matches=4, ahead=3, level=1)]
        ),
        "ListBots": lambda _: pb.ListBotsResponse(bots=[pb.BotShown(bot=ann, ladders=["duel"], is_here=True)]),
        "ListOpenMatches": lambda _: pb.ListOpenMatchesResponse(matches=[open_match]),
    }


def test_where_there_is_an_estimate_the_places_that_are_deserved_are_shown() -> None:
    page = page_of(_estimated())
    words = words_of(text_of(page, "/ladders/duel"))
    assert "1 1–2 ann/sneak 1 here 27.0 ± 2.0" in words
    assert "one of the best 2 (95 %)" in words
    assert "one deal at several tables · 0 rated boards" in words
    assert "Boards Won" in words
    assert "1st of 2 (deserves 1st to 2nd), rating 27.0 ± 2.0," in words_of(text_of(page, "/bots/ann/sneak"))


def test_a_bot_that_is_not_placed_yet_says_so_and_stands_below_with_its_provisional_rating() -> None:
    page = page_of(_estimated())
    words = words_of(text_of(page, "/ladders/duel"))
    assert words.index("bob/sneak 1 22.0 ± 2.0") < words.index("not placed yet cid/sneak 1 30.0 ± 10.0")
    assert re.search(r"not placed yet dan/sneak 1 1 0 0 %", words)  # no rating, one match
    assert "estimated from all results up to board 9 of 12." in words
    assert "ann/sneak 1 leads." in words
    assert "cid" not in words_of(text_of(page, "/").split('<ol class="leaders">')[1].split("</ol>")[0])


def test_without_a_placed_bot_the_page_says_so() -> None:
    unplaced = pb.ListRankingsResponse(rankings=[pb.Ranking(bot=pb.BotName(owner="dan", bot="sneak"), matches=1)])
    page = page_of({**_estimated(), "ListRankings": lambda _: unplaced})
    for path in ("/", "/ladders/duel"):
        assert "No bot is placed yet." in words_of(text_of(page, path))


def test_tokens_and_cost_per_match_stand_beside_the_rating_where_bots_report_them() -> None:
    assert "Tokens" not in words_of(text_of(page_of(_estimated()), "/ladders/duel"))
    answers = _estimated()
    ranking = answers["ListRankings"](None)
    ranking.rankings[1].usage.CopyFrom(
        pb.UsageTotal(matches=4, input_tokens=40_000, output_tokens=2_002, cost_micros=10_001)
    )
    page = page_of({**answers, "ListRankings": lambda _: ranking})
    text = text_of(page, "/ladders/duel")
    assert "Faults Tokens Cost" in words_of(text)
    assert re.search(r'<td class="number">10,500</td>\s*<td class="number">\$0.0025</td>', text)
    sheet = page.get("/ladders/duel/rankings.csv").text.splitlines()
    assert sheet[0].endswith(",tokens_per_match,cost_micros_per_match")
    assert [line.rsplit(",", 2)[1:] for line in sheet[1:]] == [["", ""], ["10500", "2500"], ["", ""], ["", ""]]


def test_where_boards_are_rated_boards_are_counted() -> None:
    page = page_of(_estimated())
    assert " 0 boards · 2 bots here " in words_of(text_of(page, "/"))
    assert " duel Greed 3 0 boards 2 " in words_of(text_of(page, "/ladders"))
    assert "3 wins in 4 boards" in words_of(text_of(page, "/bots/ann/sneak"))


def test_a_link_to_a_bot_leads_to_what_it_did_on_the_ladder_that_is_looked_at() -> None:
    page = page_of(_estimated())
    assert 'href="/bots/ann/sneak?ladder=duel"' in text_of(page, "/").split("</ol>")[0]
    assert set(re.findall(r'href="/bots/bob/sneak([^"]*)"', text_of(page, "/bots/ann/sneak"))) == {"?ladder=duel"}


def test_what_is_said_of_a_ladder_is_apart() -> None:
    assert "2 bots here · 1 match being played" in text_of(page_of(_estimated()), "/ladders/duel")


@pytest.mark.parametrize(("steps", "said"), [(1, "the newest rated board"), (2, "the newest 2 rated boards")])
def test_so_many_boards_are_told(steps: int, said: str) -> None:
    answers = _estimated()
    history = answers["ListHistory"](None).steps[:steps]
    answers["ListHistory"] = lambda _: pb.ListHistoryResponse(steps=history)
    words = words_of(text_of(page_of(answers), "/bots/ann/sneak"))
    assert f"What {said} made of its pairing skill, by which its opponents are chosen. In brackets" in words


def test_a_bot_page_says_that_the_pairing_skill_is_not_the_rating(page: TestClient) -> None:
    words = words_of(text_of(page, "/bots/ann/sneak?ladder=greed"))
    assert "made of its pairing skill, by which its opponents are chosen." in words


def test_a_change_of_pairing_skill_is_explained() -> None:
    words = words_of(text_of(page_of(_estimated()), "/bots/ann/sneak"))
    assert "2nd of 3, ahead of bob/sneak (31 %), behind cid/sneak (40 %)" in words
    assert "+1.25" in words
    assert "bob/sneak 4 88 %" in words


def test_a_ladder_says_why_a_bot_is_not_placed_where_one_is_not() -> None:
    """Such a bot may stand below one whose rating is lower."""
    said = "while it has fewer than 4 rated boards"
    answers = _estimated()
    assert said in words_of(text_of(page_of(answers), "/ladders/duel"))
    placed = pb.ListRankingsResponse(rankings=answers["ListRankings"](None).rankings[:2])
    assert said not in words_of(text_of(page_of({**answers, "ListRankings": lambda _: placed}), "/ladders/duel"))


def test_ladders_keep_their_places_on_the_first_page_while_matches_begin_and_end() -> None:
    """Cards that change places each second cannot be clicked."""

    def order(*tables: int) -> list[str]:
        ladders = [
            pb.LadderShown(
                defined=pb.LadderDefined(name=name, game="greed", seats=2), matches=matches, tables=count, is_frozen=old
            )
            for name, matches, count, old in zip(
                "abcd", (30, 31, 900, 9_000), tables, (False, False, False, True), strict=True
            )
        ]
        answers = {**EMPTY, "ListLadders": lambda _: pb.ListLaddersResponse(ladders=ladders)}
        return re.findall(r'data-key="ladder ([^"]+)"', text_of(page_of(answers), "/"))

    assert order(0, 0, 0, 0) == order(0, 3, 1, 0) == order(2, 0, 0, 0) == ["c", "a", "b", "d"]


@pytest.mark.parametrize("is_frozen", [False, True])
def test_a_live_page_of_a_frozen_ladder_says_that_no_match_begins(is_frozen: bool) -> None:
    shown = pb.LadderShown(defined=pb.LadderDefined(name="it", game="greed", seats=2), is_frozen=is_frozen)
    page = page_of({**EMPTY, "ListLadders": lambda _: pb.ListLaddersResponse(ladders=[shown])})
    assert ("no match begins on it" in text_of(page, "/live?ladder=it")) is is_frozen


def test_what_is_being_played_is_linked() -> None:
    answers = _estimated()
    text = text_of(page_of(answers), "/")
    assert f'href="/live/{"feed" * 8}"' in text
    assert 'href="/live?ladder=duel"' not in text  # whose boards are sealed
    told = answers["ListLadders"](None)
    told.ladders[0].defined.boards = pb.BOARD_KIND_PLAIN
    answers["ListLadders"] = lambda _: told
    assert 'href="/live?ladder=duel"' in text_of(page_of(answers), "/")
    assert "2 bots here · <a " in text_of(page_of(answers), "/ladders/duel")
    assert 'data-events="/streams/home"' in text
    assert "data-events" not in text_of(page_of(_estimated(), live=False), "/")


@pytest.mark.parametrize(
    ("dial", "line"),
    [
        ("127.0.0.1:7777", "cutpurse bot run my_bot/my_bot.py --game greed"),
        ("127.0.0.1:4321", "cutpurse bot run my_bot/my_bot.py --game greed --server 127.0.0.1:4321"),
        ("https://0.0.0.0:7777", "cutpurse bot run my_bot/my_bot.py --game greed --server https://arena.test:7777"),
        ("[::]:7777", "cutpurse bot run my_bot/my_bot.py --game greed --server arena.test:7777"),
    ],
)
def test_the_first_bot_is_told_where_to_dial(dial: str, line: str) -> None:
    page = page_of(EMPTY, bots_dial=dial)
    lines = commands(text_of(page, "/"))
    assert len(lines) == 5
    assert lines[-1] == line
    hostile = page.get("/", headers={"host": "<script>:80"})
    assert "<script>" not in hostile.text


def test_an_archive_asks_nobody_to_join() -> None:
    assert "first bot in five lines" not in text_of(page_of(EMPTY, live=False), "/")


@pytest.mark.full
def test_every_link_of_these_pages_leads_somewhere(page: TestClient) -> None:
    paths = ["/", "/ladders/greed", "/ladders/greed?every_version=1", "/ladders/greed/head-to-head"]
    paths += ["/bots/ann/sneak", "/bots/dan/broken?ladder=greed", "/nowhere"]
    links: dict[str, str] = {}
    for path in paths:
        for link in re.findall(r'(?:href|src)="([^"]*)"', page.get(path).text):
            assert link.startswith(("/", "#")), link
            if link.startswith("/") and not link.startswith("/nowhere?lang="):
                links.setdefault(html.unescape(link).partition("#")[0], path)
    assert len(links) > 60
    assert any("/replay?at=" in link for link in links)
    assert {link: answer for link in links if (answer := page.get(link).status_code) != 200} == {}


def test_the_commands_for_a_first_bot_do_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = text_of(page_of(EMPTY, bots_dial="127.0.0.1:1"), "/")
    install, init, play, check, dial = commands(text)
    assert install == "pip install ."
    for line in (init, play.replace("--matches 100", "--matches 2"), check):
        shown = run(*line.split()[1:])
        assert shown.exit_code == 0, shown.stderr
    shown = run(*dial.split()[1:], "--reconnect-timeout", "0.1")
    assert (shown.exit_code, "127.0.0.1:1" in shown.stderr) == (5, True)


@pytest.mark.parametrize(
    ("house", "said"), [([], "2 bots here"), (["random"], "2 bots here, beside those of the house")]
)
def test_bots_of_the_house_are_not_counted_and_it_says_so(house: list[str], said: str) -> None:
    defined = pb.LadderDefined(name="greed", game="greed", terms=pb.LadderTerms(house=house))
    ladder = pb.LadderShown(defined=defined, bots=2)
    drawn: dict[str, Any] = {"rows": [], "first": None, "lead": None, "wanted": "", "found": []}
    standings = Rendering(live=True).html("standings.html", ladder=ladder, every_version=False, **drawn)
    assert re.findall(r"\d+ bots here[^<]*?(?= *<)", standings) == [said]


def test_templates_that_a_newer_package_puts_in_their_place_are_not_those_of_a_running_page(tmp_path: Path) -> None:
    folder = tmp_path / "web"
    shutil.copytree(Path(rendering.__file__).parent, folder, ignore=shutil.ignore_patterns("*.py", "docs"))
    page = Rendering(live=False, folder=folder)
    context = {"here": "/nowhere", "title": "Not Found", "text": "There is no such page.", "number": 404}
    before = page.html("problem.html", **context)
    for template in (folder / "templates").iterdir():
        template.write_text("{{ of_a_newer_version }}", encoding="utf-8")
    assert page.html("problem.html", **context) == before
    assert "<h1>Rules</h1>" in page.html(
        "rules.html", here="/rules", games=[], written={"html": ""}
    )  # not shown before


def test_templates_of_a_table_are_those_of_the_beginning_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawing.rendered("told.html", told=[])
    folder = tmp_path / "templates"
    shutil.copytree(drawing.TEMPLATES, folder)
    monkeypatch.setattr(drawing, "TEMPLATES", folder)
    drawing.environment.cache_clear()
    try:
        page_of({})
        (folder / "told.html").write_text("{{ of_a_newer_version }}", encoding="utf-8")
        assert drawing.rendered("told.html", told=[]) == before
    finally:
        drawing.environment.cache_clear()


@pytest.mark.parametrize(
    ("every_version", "before"), [(False, "Every version</a>"), (True, "Only the newest of each bot</a>")]
)
def test_sentences_above_the_rankings_are_apart(every_version: bool, before: str) -> None:
    ladder = pb.LadderShown(defined=pb.LadderDefined(name="greed", game="greed"))
    rows = [pb.Ranking(bot=pb.BotName(bot="new"))]
    drawn: dict[str, Any] = {
        "lead": lead_of(rows),
        "axis": axis_of([0, 50]),
        "all": 1,
        "state": pb.ListRankingsResponse(),
    }
    drawn |= {"first": rows[0], "wanted": "", "found": [], "anchors": []}
    page = Rendering(live=True)
    standings = page.html("standings.html", ladder=ladder, rows=rows, every_version=every_version, **drawn)
    assert f"{before}. A bot is <a" in " ".join(standings.split())


@pytest.mark.parametrize("path", ["/", "/ladders/greed", "/bots", "/matches", "/rules", "/rules/greed", "/api/v1"])
def test_a_page_that_a_browser_has_is_not_sent_again(page: TestClient, path: str) -> None:
    first = page.get(path)
    assert (first.status_code, first.headers["cache-control"]) == (200, "no-cache")
    again = page.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert "content-security-policy" in again.headers
    assert page.get(path, headers={"If-None-Match": 'W/"other"'}).content == first.content


def test_what_is_not_there_is_not_kept(page: TestClient) -> None:
    answer = page.get("/ladders/none", headers={"If-None-Match": "*"})
    assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-store")
    assert "etag" not in answer.headers
