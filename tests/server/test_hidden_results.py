"""Results that are hidden until a time: no call tells them to anybody but hosts before, and to everybody after."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest
from google.protobuf.message import Message

from cutpurse.v1 import event_pb2, ladder_pb2
from tests.server.dialling import Ended
from tests.server.hidden_results import LINE, SERIES, TEST, TOURNAMENT, UNTIL, HiddenLeague, hidden_league
from tests.server.league_world import CALLS, METHODS, at_secret_table, requests_with

BOT: Final = {"owner": "ann", "bot": "sneak"}
TESTED: Final = {"test": {"ladder": "duel", "new": {"bot": "sneak"}, "old": {"bot": "sneak"}}}
REFUSED: Final[list[tuple[str, dict[str, Any]]]] = [  # questions about results of the ladder duel
    ("ListRankings", {"ladder": "duel"}),
    ("ListHistory", {"ladder": "duel", "bot": BOT}),
    ("ListOpponents", {"ladder": "duel", "bot": BOT}),
    ("ListMatches", {"ladder": "duel"}),
    ("ListOpenMatches", {"ladder": "duel"}),
    ("GetMatch", {"match": "match0000"}),
    ("GetRecord", {"match": "match0000"}),
    ("WatchMatch", {"ladder": "duel"}),
    ("PlanEvent", {"event": TESTED}),
    ("StartEvent", {"event": TESTED}),
    ("GetEvent", {"event": TEST}),
    ("GetEvent", {"event": TOURNAMENT}),
    ("ListEvents", {"ladder": "duel"}),
    ("GetEvent", {"event": SERIES}),
]
OF_ANN: Final = ({"event": TESTED}, {"event": TEST})  # which only she may ask
# Calls that tell no results, or only some of one's own bots: what they answer is tested below.
OTHERS: Final = {
    "ListLadders",
    "CreateLadder",
    "ChangeLadder",
    "DeleteLadder",
    "RequestMatch",
    "ListBots",
    "ListLogs",
    "LiftPause",
    "ChangeBot",
    "StopEvent",
}
TOLD: Final = {  # messages that may be sent to somebody who may not see results
    *(f"{call}Response" for call in OTHERS),
    *(
        "ListMatchesResponse",
        "ListOpenMatchesResponse",
        "ListEventsResponse",
        "LadderShown",
        "LadderDefined",
        "LadderClock",
        "LadderTerms",
    ),
    "EventShown",
    *("Setting", "BotShown", "BotName", "SeatLog", "SeatCourse", "SeatFault", "NoteKept", "MatchShown", "MatchSeat"),
}
ANSWERED: Final = {  # the calls that answer some of the questions below
    *(
        "ListLadders",
        "ChangeBot",
        "ListMatches",
        "ListOpenMatches",
        "ListBots",
        "ListLogs",
        "ListEvents",
        "StopEvent",
    )
}
NOT_HOSTS: Final = ("", "ann", "bob", "cid", "player")


@pytest.fixture
async def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HiddenLeague]:
    async with hidden_league(tmp_path, monkeypatch) as league:
        yield league


def messages_in(message: Message) -> Iterator[Message]:
    """Yield a message and all in it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else [value]:
                yield from messages_in(inner)


def results_in(answer: Message) -> list[Message]:
    """List the parts of an answer that tell a result."""
    found = []
    for one in messages_in(answer):
        tells = one.DESCRIPTOR.name not in TOLD
        if isinstance(one, ladder_pb2.MatchSeat):
            tells = bool(one.place or one.score or one.HasField("before") or one.HasField("after"))
        if tells:
            found.append(one)
    return found


def test_every_call_is_tried() -> None:
    assert sorted({*dict(REFUSED), *OTHERS}) == sorted(CALLS)


async def test_before_the_time_every_question_gets_one_line(league: HiddenLeague) -> None:
    for method, fields in REFUSED:
        for who in ("ann",) if fields in OF_ANN else NOT_HOSTS:
            assert await league.world.refusal(method, who, **fields) == ("NOT_YOURS", LINE("duel")), (method, who)


@pytest.mark.full
async def test_no_call_tells_a_result_in_any_form_before_the_time(league: HiddenLeague) -> None:
    world = league.world
    answered = set()
    async with at_secret_table(world):
        (open_match,) = (await world.ask("ListOpenMatches", "root")).matches
        for method in CALLS:
            questions = [getattr(METHODS[method][1], f"{method}Request")()]
            for name in ("duel", "hidden", "sneak", "match0001", "feedc0de0001", TEST, TOURNAMENT, open_match.match):
                questions += requests_with(method, name)
            for who, request in product(("", "ann"), questions):
                try:
                    answer = await world.send(method, request, who, most=1)
                except Ended:
                    continue
                answered.add(method)
                for one in answer if isinstance(answer, list) else [answer]:
                    assert results_in(one) == [], (who, method, request)
    assert answered == ANSWERED


async def test_a_host_sees_everything_before_the_time_as_everybody_does_after_it(league: HiddenLeague) -> None:
    world = league.world
    asked = {method: fields for method, fields in REFUSED if method not in ("WatchMatch", "PlanEvent", "StartEvent")}
    asked |= {"ListMatches": {}, "ListOpenMatches": {}, "ListBots": {}}
    before = {method: await world.ask(method, "root", **fields) for method, fields in asked.items()}
    assert len(before["ListMatches"].matches) == 7
    assert before["ListBots"].bots
    assert (await world.ask("GetEvent", "root", event=TEST)).event.test.max_boards > 0
    assert (await world.ask("ListLadders", "root")).ladders[0].has_hidden_results
    league.is_over = True
    for method, fields in asked.items():
        assert await world.ask(method, "root", **fields) == before[method], method
    for method in ("ListRankings", "ListHistory", "ListOpponents", "GetRecord"):
        assert await world.ask(method, "", **asked[method]) == before[method], method
    assert [one.match for one in (await world.ask("ListMatches")).matches] == ["match0002", "match0001", "match0000"]
    assert len((await world.ask("ListMatches", "ann")).matches) == 7
    assert (await world.ask("GetMatch", "", match="match0000")).match == before["GetMatch"].match
    assert (await world.ask("GetEvent", "ann", event=TEST)).event.event == TEST
    assert not any(one.has_hidden_results for one in (await world.ask("ListLadders", "ann")).ladders)


async def test_a_private_ladder_stays_unknown_to_strangers(league: HiddenLeague) -> None:
    for who in ("", "bob"):
        reason, text = await league.world.refusal("ListRankings", who, ladder="hidden")
        assert (reason, "hidden until" in text) == ("NOT_FOUND", False)
        assert (await league.world.refusal("GetMatch", who, match="feedc0de0001"))[0] == "NOT_FOUND"
    assert await league.world.refusal("GetMatch", "ann", match="feedc0de0001") == ("NOT_YOURS", LINE("hidden"))


async def test_an_author_gets_logs_of_own_bots_without_the_result(league: HiddenLeague) -> None:
    world = league.world
    for match in ("", "match0001"):
        logs = (await world.ask("ListLogs", "ann", bot={"bot": "sneak"}, match=match)).logs
        assert len(logs) == (1 if match else 3)
        for log in logs:
            own, other = log.match.seats
            assert (own.bot.bot, own.faults, log.notes[0].text) == ("sneak", 1, "whispered")
            assert (log.course.faults[0].text, list(log.course.thinking_ms)) == ("quietly", [12, 34])
            assert other == ladder_pb2.MatchSeat(bot=ladder_pb2.BotName(owner="bob", bot="thug", version="2"))
            assert (log.match.rated_number, log.match.reason) == (0, "")
            assert results_in(log) == []
    with_result = (await world.ask("ListLogs", "root", bot=BOT)).logs
    league.is_over = True
    assert (await world.ask("ListLogs", "ann", bot={"bot": "sneak"})).logs == with_result
    assert with_result[0].match.seats[0].place == 1


async def test_what_is_played_now_is_neither_listed_nor_watched_before_the_time(league: HiddenLeague) -> None:
    world = league.world
    async with at_secret_table(world):
        (open_match,) = (await world.ask("ListOpenMatches", "root")).matches
        name = open_match.match
        assert (await world.ask("ListOpenMatches", "ann")).matches == []
        for fields in ({"match": name}, {"match": name, "seat": 0}, {"ladder": "hidden"}):
            assert await league.world.refusal("WatchMatch", "ann", **fields) == ("NOT_YOURS", LINE("hidden"))
        assert await league.world.refusal("GetMatch", "ann", match=name) == ("NOT_YOURS", LINE("hidden"))
        seat = [one.owner for one in open_match.seats].index("ann")
        watch = ladder_pb2.WatchMatchRequest(match=name, seat=seat)
        assert await league.world.refusal("WatchMatch", "root", match=name, seat=seat) == (
            "NOT_YOURS",
            f"only the owner of its bot may watch seat {seat}, with a token",
        )
        league.is_over = True
        told = await world.send("WatchMatch", watch, "ann", most=1)
        assert told[0].WhichOneof("what") == "started"
        assert [one.match for one in (await world.ask("ListOpenMatches", "ann")).matches] == [name]


async def test_a_version_test_ends_without_telling_what_it_found(league: HiddenLeague) -> None:
    world = league.world
    kind = event_pb2.EVENT_KIND_TEST
    assert (await world.ask("ListEvents", "ann", kind=kind)).events == []
    assert [event.event for event in (await world.ask("ListEvents", "root", kind=kind)).events] == [TEST]
    stopped = (await world.ask("StopEvent", "ann", event=TEST)).event
    assert (stopped.event, stopped.WhichOneof("detail"), stopped.outcome) == (TEST, None, "stopped")
    assert (await world.ask("GetEvent", "root", event=TEST)).event.outcome == "stopped"
    league.is_over = True
    assert [event.outcome for event in (await world.ask("ListEvents", "ann", kind=kind)).events] == ["stopped"]


async def test_a_host_may_hide_results_longer_or_show_them_and_a_past_time_shows_them(league: HiddenLeague) -> None:
    later = UNTIL + timedelta(days=1)
    await league.hide("duel", later)
    league.is_over = True
    text = (await league.world.refusal("ListRankings", "", ladder="duel"))[1]
    assert text == f"results of duel are hidden until {later:%Y-%m-%d %H:%M} UTC"
    await league.hide("duel", UNTIL - timedelta(days=400))
    assert len((await league.world.ask("ListRankings", ladder="duel")).rankings) == 2
    await league.hide("duel", later)
    await league.hide("duel", None)
    assert len((await league.world.ask("ListRankings", ladder="duel")).rankings) == 2
    terms = {"results_hidden_until_ms": 2**62}
    reason, text = await league.world.refusal("ChangeLadder", "root", ladder="duel", terms=terms)
    assert (reason, text) == (
        "SETTINGS",
        f"results_hidden_until_ms is {2**62}; it is in ms since 1970, and before 2100",
    )
    assert (await league.world.refusal("ChangeLadder", "ann", ladder="duel", terms={}))[0] == "TOKEN_SCOPE"


async def test_the_command_line_says_the_same_line(league: HiddenLeague, tmp_path: Path) -> None:
    typed = league.world.typed
    for words in (
        "ladder rankings duel",
        "ladder history duel ann/sneak",
        "ladder history duel ann/sneak --opponents",
        "ladder circles duel",
        "match list --ladder duel",
        "match show match0000",
        f"match replay match0000 --server {league.world.arena.address}",
        f"match replay match0000 --luck --server {league.world.arena.address}",
        f"match download match0000 --out {tmp_path / 'match.jsonl'}",
        "match watch --ladder duel",
        f"export --ladder duel --to {tmp_path / 'data'}",
        "event start duel sneak:1.1 sneak:1.0 --format test --yes --force",
    ):
        answer = await typed(words, "ann")
        assert (answer.exit_code, len(answer.stderr.splitlines())) == (6, 1), (words, answer.stderr)
        assert LINE("duel") in answer.stderr, words
    logs = await typed("bot logs sneak", "ann")
    assert (logs.exit_code, logs.stdout.count("result hidden"), "place" in logs.stdout) == (0, 3, False)
    assert "match replay" not in logs.stdout
    assert "whispered" in logs.stdout
    listed = json.loads((await typed("bot logs sneak --json", "ann")).stdout)["logs"][0]["match"]["seats"][0]
    assert (listed["place"], listed["score"], listed["after"], listed["faults"]) == (None, None, None, 1)
    assert (await typed("match list", "ann")).stdout.count("match000") == 0
    shown = await typed("ladder show duel", "ann")
    assert f"hidden until {UNTIL:%Y-%m-%d %H:%M} UTC" in shown.stdout
    assert "results hidden" in (await typed("ladder list", "ann")).stdout
    for words, code, text in (
        ("ladder change duel --results-hidden-until 2001-01-31", 0, "ladder duel is changed"),
        ("ladder change duel --results-hidden-until soon", 2, "--results-hidden-until is 'soon'; it is as 2027-01-31"),
        ("ladder change duel --results-hidden-until 2101-01-31", 2, "and before 2100"),
        ("ladder change duel --results-hidden-until 2027-01-31 --show-results", 2, "name one of them"),
        ("ladder create new --game greed --results-hidden-until 2027-01-31T18:00", 0, "ladder new is made"),
        ("ladder change new --show-results", 0, "ladder new is changed"),
    ):
        answer = await typed(words, "root")
        assert (answer.exit_code, len(answer.stderr.splitlines())) == (code, 1), (words, answer.stderr)
        assert text in answer.stderr, words
    assert (await typed("ladder rankings duel", "ann")).exit_code == 0
