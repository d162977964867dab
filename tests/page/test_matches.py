"""The pages of matches: which are listed, where the other pages are, and all that is told of one."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.queries import MatchEntry
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.results import Nonces
from cutpurse.page.match_view.pairing_reason import reason_text
from cutpurse.page.pages.matches import bot_meant
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound, ServerUnreachable
from tests.page.leagues import PRIVATE, SCRIPTS
from tests.page.serving import page_of, page_of_file
from tests.page.test_frame import EMPTY


@pytest.fixture(scope="module")
def page(league_db: Path) -> Iterator[TestClient]:
    with page_of_file(league_db) as page:
        yield page


@pytest.fixture(scope="module")
def stored(league_db: Path) -> list[MatchEntry]:
    """What the database has, the newest first; without what is private."""
    with LeaderboardReader(league_db) as reader:
        return [match for match in reader.run(queries.matches, limit=1_000) if match.ladder != PRIVATE]


def listed(html: str) -> list[str]:
    """The first signs of the matches of a page."""
    return re.findall(r'<th scope="row"><a class="match" href="/matches/[0-9a-f]{32}">([0-9a-f]{8})<', html)


def link(html: str, rel: str) -> str | None:
    """The address of the page before or after."""
    found = re.search(rf'rel="{rel}" href="([^"]*)"', html)
    return unescape(found[1]) if found else None


def test_all_matches_can_be_turned_over_there_and_back(page: TestClient, stored: list[MatchEntry]) -> None:
    pages = []
    address: str | None = "/matches"
    while address is not None:
        html = page.get(address).text
        pages.append((address, listed(html)))
        address = link(html, "next")
    assert [match for _, some in pages for match in some] == [match.match[:8] for match in stored]
    assert len(pages) > 1
    back: list[str] = []
    address = pages[-1][0]
    while address is not None:
        back.append(address)
        address = link(page.get(address).text, "prev")
    assert back == [address for address, _ in reversed(pages)]


def test_matches_are_found_by_ladder_bot_day_and_fault(page: TestClient, stored: list[MatchEntry]) -> None:
    def shown(**query: str) -> list[str]:
        return listed(page.get("/matches", params=query).text)

    def of(*wanted: MatchEntry) -> list[str]:
        return [match.match[:8] for match in wanted][:50]

    szmal = [match for match in stored if match.ladder == "szmal"]
    assert shown(ladder="szmal") == of(*szmal)
    thug = [match for match in stored if any(seat.bot == "thug" for seat in match.seats)]
    assert shown(bot="bob/thug") == of(*thug) == shown(bot=" thug ")
    second = [match for match in stored if any((seat.bot, seat.version) == ("sneak", "2") for seat in match.seats)]
    assert shown(bot="ann/sneak:2") == of(*second)
    first_day = [match for match in stored if match.finished < datetime(2026, 1, 2, tzinfo=UTC)]
    assert shown(day="2026-01-01") == of(*first_day)
    faulted = [match for match in stored if any(seat.faults for seat in match.seats)]
    assert shown(faulted="true") == of(*faulted)
    both = [match for match in faulted if match.ladder == "greed"]
    assert shown(faulted="true", ladder="greed", bot="") == of(*both)
    assert szmal
    assert thug
    assert second
    assert first_day
    assert both
    assert shown(day="2030-01-01") == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("ladder=nowhere", 404),
        (f"ladder={PRIVATE}", 404),
        ("bot=nobody/here", 404),
        ("event=nothing", 404),
        ("event=%00", 404),
        ("event=tournament", 200),
        ("bot=/", 400),
        ("day=yesterday", 400),
        ("day=2026-02-30", 400),
        ("day=0001-01-01", 400),
        ("before=-1", 400),
        ("before=99999999999999999999", 400),
        ("faulted=perhaps", 400),
        ("before=3&trail=%00", 200),
        ("before=3&trail=9.x", 200),
        ("whatever=1", 200),
    ],
)
def test_what_makes_no_sense_is_told(page: TestClient, query: str, status: int) -> None:
    answer = page.get(f"/matches?{query}")
    assert (answer.status_code, "<h1>" in answer.text) == (status, True)


def test_a_match_tells_seats_ratings_faults_and_what_proves_it(page: TestClient, stored: list[MatchEntry]) -> None:
    match = next(match for match in stored if match.sequence is not None and any(seat.faults for seat in match.seats))
    html = unescape(page.get(f"/matches/{match.match}").text)
    assert html == unescape(page.get(f"/matches/{match.match[:8]}").text)
    assert f"cutpurse match verify {match.match}" in html
    assert match.deal.commitment.hex() in html
    assert match.deal.seed.hex() in html
    assert reason_text(match.reason) in html
    assert f'href="/api/v1/matches/{match.match}/record"' in html
    assert f'href="/matches/{match.match}/replay"' in html
    moments = re.findall(rf'href="/matches/{match.match}/replay\?at=(\d+)&seat=(\d+)"', html)
    assert len(moments) == sum(seat.faults for seat in match.seats)
    assert {int(seat) for _, seat in moments} == {at for at, seat in enumerate(match.seats) if seat.faults}
    for seat in match.seats:
        assert seat.before is not None
        assert seat.after is not None
        change = f"{seat.after.mu - seat.before.mu:+.2f}".replace("-", "\N{MINUS SIGN}")
        assert f">{change}<" in html
    assert html.count("<rect ") >= sum(1 for _ in match.seats)
    assert "Nonces" not in html


def test_a_match_shows_the_nonces_by_seat(league_db: Path, stored: list[MatchEntry], tmp_path: Path) -> None:
    match, path = stored[0], tmp_path / "nonces.db"
    shutil.copy(league_db, path)
    given = [bytes([seat]) * 16 for seat in range(1, len(match.seats))]
    with closing(sqlite3.connect(path)) as database, database:
        nonces = Nonces(match.match, (b"", *given)).to_json()
        database.execute("UPDATE boards SET nonces = ? WHERE id = ?", (nonces, match.deal.board))
    with page_of_file(path) as page:
        html = unescape(page.get(f"/matches/{match.match}").text)
    assert "so the server alone could not choose the cards" in html
    shown = re.findall(r"<dt>Nonces</dt><dd>(.*?)</dd>", html)
    assert re.findall(r'<code class="long">(.*?)</code>', shown[0]) == ["-", *[nonce.hex() for nonce in given]]


def test_its_bots_lead_to_what_they_did_on_its_ladder_if_it_was_rated(
    page: TestClient, stored: list[MatchEntry]
) -> None:
    rated = next(one for one in stored if one.sequence)
    asked = next(one for one in stored if one.requested_by)
    for match, query in ((rated, f"?ladder={rated.ladder}"), (asked, "")):
        links = re.findall(r'href="/bots/[^"?]*([^"]*)"', page.get(f"/matches/{match.match}").text)
        assert len(links) > len(match.seats)
        assert set(links) == {query}
    assert re.search(r'href="/bots/[^"?]*\?ladder=greed"', page.get("/matches?ladder=greed").text)


def test_a_void_match_and_one_that_was_asked_for_say_so(page: TestClient, stored: list[MatchEntry]) -> None:
    void = next(match for match in stored if match.void_cause)
    html = page.get(f"/matches/{void.match}").text
    assert "by a fault of the server it counts for nothing" in html
    assert " won" not in html
    asked = next(match for match in stored if match.requested_by)
    html = page.get(f"/matches/{asked.match}").text
    assert "Asked for by <bdi>ann</bdi>" in html
    assert "not rated" in html


@pytest.mark.parametrize("decisions", [0, 1])
def test_where_nothing_was_decided_nothing_is_offered_to_be_replayed(decisions: int) -> None:
    match = ladder_pb2.MatchShown(
        match="ab" * 16, ladder="duel", game="greed", void_cause="void_server", decisions=decisions
    )
    told = ladder_pb2.GetMatchResponse(match=match, has_record=True)
    html = page_of({"GetMatch": lambda _: told}).get(f"/matches/{match.match}").text
    assert ("there is nothing to replay" in html) == (not decisions)
    assert (f'href="/matches/{match.match}/replay"' in html) == bool(decisions)
    assert "How long they thought" not in html


def test_what_bots_report_of_their_models_is_on_the_page_of_the_match_and_cleaned() -> None:
    used = ladder_pb2.UsageTotal(
        matches=1, input_tokens=11_004, output_tokens=1_561, cost_micros=2_210, fallbacks=1, model="<b>llama3.2"
    )
    bots = [ladder_pb2.BotName(owner="ann", bot=name, version="1") for name in ("model", "plain")]
    seats = [ladder_pb2.MatchSeat(bot=bots[0], place=1, usage=used), ladder_pb2.MatchSeat(bot=bots[1], place=2)]
    match = ladder_pb2.MatchShown(match="ab" * 16, ladder="slow", game="greed", decisions=9, seats=seats)
    told = ladder_pb2.GetMatchResponse(match=match)
    html = page_of({"GetMatch": lambda _: told}).get(f"/matches/{match.match}").text
    assert '<td data-head="Tokens" class="number">11,004 + 1,561</td>' in html
    assert '<td data-head="Cost" class="number">$0.00221</td>' in html
    assert '<td data-head="Model">&lt;b&gt;llama3.2 <span class="quiet">1 fallback</span></td>' in html
    assert html.count('<td data-head="Tokens" class="number"></td>') == 1
    del told.match.seats[0]
    assert "Tokens" not in page_of({"GetMatch": lambda _: told}).get(f"/matches/{match.match}").text


def test_a_link_to_a_match_can_be_shown_in_a_line_and_its_moment_cited(
    page: TestClient, stored: list[MatchEntry]
) -> None:
    match = next(match for match in stored if match.ladder == "greed" and not match.void_cause)
    for path in (f"/matches/{match.match}", f"/matches/{match.match}/replay"):
        text = page.get(path).text
        (told,) = re.findall(r'<meta property="og:description" content="([^"]*)">', text)
        assert unescape(told).startswith("Greed on greed: 1st ")
        assert f"{match.finished:%Y-%m-%d %H:%M} UTC" in told
        for seat in match.seats:
            assert f" with {seat.score}" in told
    assert f"data-exact>{match.finished:%Y-%m-%d %H:%M} UTC</time>" in page.get(f"/matches/{match.match}").text


def test_a_hidden_match_is_not_there_as_an_unknown_one_is_not(page: TestClient, league_db: Path) -> None:
    with LeaderboardReader(league_db) as reader:
        hidden = reader.run(queries.matches, ladder=PRIVATE)[0].match
    for path in ("/matches/{}", "/api/v1/matches/{}", "/api/v1/matches/{}/record"):
        there, nowhere = page.get(path.format(hidden)), page.get(path.format("f" * 32))
        assert there.status_code == nowhere.status_code == 404
        assert there.text.replace(hidden, "") == nowhere.text.replace("f" * 32, "")


def test_names_are_text(page: TestClient) -> None:
    html = page.get("/matches", params={"bot": f"cid/{SCRIPTS[0]}"}).text
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert listed(html)


def test_a_match_that_is_being_played_leads_to_where_it_is_watched() -> None:
    name = "ab" * 16
    seats = [arena_pb2.SeatTaken(owner="ann", bot="sneak", version="1")]
    going = ladder_pb2.OpenMatch(match=name, ladder="greed", game="greed", started_ms=1, seats=seats)

    def unknown(request: ladder_pb2.GetMatchRequest) -> ladder_pb2.GetMatchResponse:
        raise NotFound(f"no match begins with {request.match}")

    def open_matches(request: ladder_pb2.ListOpenMatchesRequest) -> ladder_pb2.ListOpenMatchesResponse:
        is_it = request.match == name
        return ladder_pb2.ListOpenMatchesResponse(matches=[going] if is_it else [])

    page = page_of({"GetMatch": unknown, "ListOpenMatches": open_matches})
    answer = page.get(f"/matches/{name}")
    assert (answer.status_code, f'href="/live/{name}"' in answer.text) == (200, True)
    watched = page.get(
        f"/live/{name}"
    )  # once it is over, and nothing is told here any more, its page tells how it ended
    assert (watched.status_code, f'href="/matches/{name}"' in watched.text) == (200, True)
    assert page.get(f"/matches/{name[:8]}").status_code == 404

    going.is_over = True  # and not stored yet
    answer = page.get(f"/matches/{name}")
    assert (answer.status_code, f'href="/live/{name}"' in answer.text) == (200, False)
    assert "Its result is being stored" in answer.text
    answer = page.get(f"/live/{name}", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (307, f"/matches/{name}")


def test_a_match_that_is_stored_between_two_questions_is_shown() -> None:
    """It is not over when it is asked for, and not being played any more when that is asked."""
    shown = ladder_pb2.MatchShown(match="ab" * 16, ladder="greed", game="greed", void_cause="void_server")
    answers = iter([None, ladder_pb2.GetMatchResponse(match=shown)])

    def stored(request: ladder_pb2.GetMatchRequest) -> ladder_pb2.GetMatchResponse:
        if (answer := next(answers)) is None:
            raise NotFound(f"match {request.match} is being played")
        return answer

    page = page_of({"GetMatch": stored, "ListOpenMatches": lambda _: ladder_pb2.ListOpenMatchesResponse()})
    answer = page.get(f"/matches/{shown.match}")
    assert (answer.status_code, "Void:" in answer.text) == (200, True)


def test_a_match_is_followed_under_one_name_by_however_few_signs_it_is_called() -> None:
    name, other = "ab" * 16, "ab" * 5 + "cd" * 11  # the first ten signs are those of both
    matches = [ladder_pb2.OpenMatch(match=one, ladder="greed", game="greed") for one in (name, other)]
    asked: list[str] = []

    def watch(request: ladder_pb2.WatchMatchRequest) -> Iterator[ladder_pb2.WatchMatchResponse]:
        asked.append(request.match)
        raise NotFound("it is over")

    def open_matches(request: ladder_pb2.ListOpenMatchesRequest) -> ladder_pb2.ListOpenMatchesResponse:
        if len(asked) == 5:
            raise ServerUnreachable("nobody answers")
        return ladder_pb2.ListOpenMatchesResponse(matches=matches)

    def stored(request: ladder_pb2.GetMatchRequest) -> ladder_pb2.GetMatchResponse:
        raise NotFound("it is not over")

    page = page_of({"WatchMatch": watch, "ListOpenMatches": open_matches, "GetMatch": stored})
    called = [name, name[:20], other[:11], name[:8], name[:7], name[:20]]
    for one in called:
        assert "This match is not being played any more." in page.get("/streams/live", params={"match": one}).text
    assert asked == [name, name, other, name[:8], name[:7], name[:20]]


def test_two_versions_of_a_bot_in_a_match_are_told_apart() -> None:
    bots = [ladder_pb2.BotName(owner="ann", bot=bot, version=version) for bot, version in (("x", "7.1"), ("x", "7.2"))]
    bots.append(ladder_pb2.BotName(owner="bob", bot="x", version="7.3"))
    seats = [ladder_pb2.MatchSeat(bot=bot, place=1 + place) for place, bot in enumerate(bots)]
    shown = ladder_pb2.MatchShown(match="ab" * 16, ladder="it", game="greed", seats=seats, requested_by="ann")
    taken = [arena_pb2.SeatTaken(owner=bot.owner, bot=bot.bot, version=bot.version) for bot in bots]
    going = ladder_pb2.OpenMatch(match="cd" * 16, ladder="it", game="greed", seats=taken)
    answers = {
        **EMPTY,
        "GetMatch": lambda _: ladder_pb2.GetMatchResponse(match=shown),
        "ListMatches": lambda _: ladder_pb2.ListMatchesResponse(matches=[shown]),
        "ListOpenMatches": lambda _: ladder_pb2.ListOpenMatchesResponse(matches=[going]),
    }
    page = page_of(answers)
    for path in ("/", "/live", "/matches"):
        text = page.get(path).text
        assert [text.count(version) > 0 for version in (">7.1<", ">7.2<", ">7.3<")] == [True, True, False], path
    text = page.get(f"/matches/{shown.match}").text
    assert "1st ann/x 7.1 with 0, 2nd ann/x 7.2 with 0, 3rd bob/x with 0" in text
    lead = text.partition('<p class="lead">')[2].partition("</p>")[0]
    assert "7.1" in lead


def test_of_a_board_of_several_matches_it_is_said_that_they_are_rated_together() -> None:
    names = [digit * 32 for digit in "ab"]
    seat = ladder_pb2.MatchSeat(bot=ladder_pb2.BotName(owner="ann", bot="sneak", version="1"), place=1)
    shown = ladder_pb2.MatchShown(
        match=names[0],
        ladder="final",
        game="greed",
        seats=[seat],
        rated_number=7,
        board_kind=ladder_pb2.BOARD_KIND_ROTATION,
        board_matches=names,
    )
    page = page_of({"GetMatch": lambda _: ladder_pb2.GetMatchResponse(match=shown)})
    html = page.get(f"/matches/{names[0]}").text
    assert "rated with the whole board of 2 matches, number 7 of its ladder" in html
    assert "pairing" not in html  # the board may have rated nothing, as here
    assert f'Also played on it: <a class="match" href="/matches/{names[1]}">' in html


@pytest.mark.parametrize(
    ("text", "owner", "bot", "version"),
    [
        ("ann/sneak", "ann", "sneak", ""),
        ("ann/sneak:2", "ann", "sneak", "2"),
        ("sneak", "ann", "sneak", ""),
        ("other", "local", "other", ""),
        ("other:3", "local", "other", "3"),
        ("a/b/c:d", "a/b", "c:d", ""),
        ("x/a/b", "x", "a/b", ""),
    ],
)
def test_which_bot_is_meant(text: str, owner: str, bot: str, version: str) -> None:
    names = [("ann", "sneak"), ("a/b", "c:d"), ("x", "a/b"), ("local", "one"), ("bob", "one")]
    known = [ladder_pb2.BotShown(bot=ladder_pb2.BotName(owner=owner, bot=bot)) for owner, bot in names]
    assert bot_meant(text, known) == ladder_pb2.BotName(owner=owner, bot=bot, version=version)


def test_links_of_hostile_names_lead_back(page: TestClient) -> None:
    for name in SCRIPTS:
        assert page.get(f"/matches?bot={quote('cid/' + name, safe='')}").status_code == 200


@pytest.mark.parametrize("path", ["/matches/{}", "/matches/{}/replay"])
def test_the_first_signs_of_a_match_lead_to_its_whole_name(
    page: TestClient, stored: list[MatchEntry], path: str
) -> None:
    """So that caches, bookmarks and links have one address for it."""
    name = next(match.match for match in stored if match.sequence)
    answer = page.get(path.format(name[:8]), follow_redirects=False)
    assert answer.status_code == 307
    assert answer.headers["location"].partition("?")[0] == path.format(name)
    assert page.get(path.format(name), follow_redirects=False).status_code == 200


def test_how_a_pairing_skill_moved_is_told_as_exactly_as_on_the_page_of_the_bot(
    page: TestClient, stored: list[MatchEntry]
) -> None:
    """Of a bot with many matches a tenth is more than one match moves."""
    match = next(match for match in stored if match.sequence)
    told = page.get(f"/matches/{match.match}").text
    assert "once for the whole board" not in told
    assert len(re.findall(r'<span class="(?:good|bad)">[+−]\d+\.\d\d</span>', told)) == len(match.seats)


def test_a_sealed_match_is_listed_and_nowhere_said_to_be_watchable() -> None:
    name = "5ea1" * 8
    sealed = ladder_pb2.OpenMatch(match=name, ladder="dup", game="greed", started_ms=1, is_sealed=True)
    defined = ladder_pb2.LadderDefined(name="dup", game="greed", seats=2, boards=ladder_pb2.BOARD_KIND_DUPLICATE)
    ladders = ladder_pb2.ListLaddersResponse(ladders=[ladder_pb2.LadderShown(defined=defined, tables=1)])

    def nothing(request: ladder_pb2.GetMatchRequest) -> ladder_pb2.GetMatchResponse:
        raise NotFound(f"match {request.match} is being played")

    page = page_of(
        {
            "ListLadders": lambda _: ladders,
            "ListRankings": lambda _: ladder_pb2.ListRankingsResponse(),
            "ListMatches": lambda _: ladder_pb2.ListMatchesResponse(),
            "ListOpenMatches": lambda _: ladder_pb2.ListOpenMatchesResponse(matches=[sealed]),
            "GetMatch": nothing,
        }
    )
    for path in ("/", "/live", f"/matches/{name}"):
        answer = page.get(path)
        assert (answer.status_code, name[:8] in answer.text or "Sealed" in answer.text) == (200, True), path
        assert f'href="/live/{name}' not in answer.text
        assert 'href="/live?ladder=dup' not in answer.text
    assert page.get(f"/live/{name}", follow_redirects=False).headers["location"] == f"/matches/{name}"


def test_the_live_page_of_a_ladder_shows_the_last_table_until_something_is_played() -> None:
    defined = ladder_pb2.LadderDefined(name="duel", game="greed", seats=2, boards=ladder_pb2.BOARD_KIND_PLAIN)
    ladder = ladder_pb2.LadderShown(defined=defined)
    seat = ladder_pb2.MatchSeat(bot=ladder_pb2.BotName(owner="ann", bot="sneak", version="1"), place=1)
    void = ladder_pb2.MatchShown(match="0" * 32, ladder="duel", game="greed", decisions=3, void_cause="lost")
    last = ladder_pb2.MatchShown(match="ab" * 16, ladder="duel", game="greed", decisions=9, seats=[seat])
    page = page_of(
        {
            "ListLadders": lambda _: ladder_pb2.ListLaddersResponse(ladders=[ladder]),
            "ListRankings": lambda _: ladder_pb2.ListRankingsResponse(),
            "ListMatches": lambda _: ladder_pb2.ListMatchesResponse(matches=[void, last]),
            "ListOpenMatches": lambda _: ladder_pb2.ListOpenMatchesResponse(),
            "GetMatch": lambda asked: ladder_pb2.GetMatchResponse(
                match=last if asked.match == last.match else void, has_record=True
            ),
        }
    )
    text = page.get("/live?ladder=duel").text
    assert re.findall(r'src="/matches/(\w+)/picture\.svg"', text) == [last.match]
    assert f'href="/matches/{last.match}/replay"' in text
    assert "The last match, as it ended" in text
