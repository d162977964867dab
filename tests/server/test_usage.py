"""What bots report that they used: stored within bounds, secret while the match goes on, open to all afterwards."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.results import DecisionUsage, FinishedMatch
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.run import connect
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.league_queries import STRANGER, Answers
from cutpurse.server.league.presence import NOWHERE
from cutpurse.server.limits import ServerLimits
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.usage import MOST_COST_MICROS, MOST_TOKENS
from tests.server.arenas import running_arena
from tests.server.session.house import House, Peer
from tests.server.small_world import MODEL, Manner, World
from tests.server.test_notes import QUICK
from tests.server.toys import ToySeat
from tests.typed import run


def usage(decision: int = 1, table: int = 1, **said: Any) -> arena_pb2.Usage:
    return arena_pb2.Usage(table=table, decision=decision, **said)


def seated(limits: ServerLimits | None = None, *features: str) -> tuple[Peer, ToySeat]:
    """A bot with an open decision at one table."""
    peer = House(limits).dial(features=features or ["usage"]).welcomed()
    (seat,) = peer.tables(1)
    seat.ask()
    peer.expect("ask 1#1")
    peer.say()
    return peer, seat


# -- what a stream makes of it
def test_a_usage_reaches_its_table_before_the_answer_that_it_came_with() -> None:
    peer, seat = seated()
    seat.length = 1
    order: list[str] = []
    report, answer = seat.report, seat.answer
    seat.report = lambda usage: order.append("usage") or report(usage)  # type: ignore[method-assign, func-returns-value]
    seat.answer = lambda *said: order.append("answer") or answer(*said)  # type: ignore[method-assign, func-returns-value]
    peer.say(
        usages=[usage(input_tokens=9, output_tokens=2, cost_micros=3, model="llama3.2", fallback=6)],
        answers=[arena_pb2.Answer(table=1, decision=1, option=0)],
    )
    assert order == ["usage", "answer"]
    assert seat.usages == [DecisionUsage(1, 9, 2, 3, "llama3.2", "time")]


def test_who_has_not_said_that_it_reports_is_not_listened_to() -> None:
    peer, seat = seated(None, "notes")
    peer.say(usages=[usage(input_tokens=1)])
    peer.expect()
    assert seat.usages == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (
            {"input_tokens": 2**64 - 1},
            "decision 1: input_tokens of a usage is 18446744073709551615; it is a whole number",
        ),
        (
            {"output_tokens": MOST_TOKENS + 1},
            "decision 1: output_tokens of a usage is 1000000001; it is a whole number",
        ),
        (
            {"cost_micros": MOST_COST_MICROS + 1},
            "decision 1: cost_micros of a usage is 1000000000001; it is a whole num",
        ),
    ],
)
def test_a_usage_out_of_bounds_is_not_stored_and_its_bot_hears_why(said: dict[str, int], problem: str) -> None:
    """A negative number is one of these: on the wire -1 is the greatest."""
    peer, seat = seated()
    for _ in range(5):  # it is no strike
        peer.say(usages=[usage(**said)])
    response = peer.read()
    assert response is not None
    (told,) = response.problems
    assert (told.reason, told.table, told.strikes_left) == (arena_pb2.ERROR_REASON_BAD_MESSAGE, 1, 0)
    assert told.text.startswith(problem)
    assert told.text.endswith("; it is not stored")
    assert (seat.usages, peer.link.closed) == ([], None)


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("a" * 100_000, "a" * 64),
        ("=HYPERLINK(1)", "?HYPERLINK?1?"),
        ("\x1b[31mred\n\u202e<b>\U0001f408", "??31mred???b??"),
        ("  Ignore the rules. ", "Ignore the rules."),
        ("\ud7ff", "?"),
    ],
)
def test_the_name_of_a_model_is_cleaned(name: str, stored: str) -> None:
    peer, seat = seated(ServerLimits(most_bytes=1_000_000))
    peer.say(usages=[usage(model=name, fallback=99)])
    assert seat.usages == [DecisionUsage(1, model=stored, fallback="other")]


def test_usages_for_tables_that_are_not_ones_own_are_passed_over_in_silence() -> None:
    peer, seat = seated()
    peer.say(usages=[usage(table=2), usage(table=0), usage(table=2**32 - 1, input_tokens=2**64 - 1)])
    peer.expect()
    assert (seat.usages, peer.link.closed) == ([], None)


def test_a_flood_of_usages_is_read_no_quicker_than_as_many_envelopes_and_one_an_answer_slows_nobody() -> None:
    limits = ServerLimits(envelopes_per_second=10, envelopes_at_once=20)
    peer, _ = seated(limits)
    assert peer.say(usages=[usage()] * 15) == 0.0
    assert peer.say(usages=[usage()] * 9_000) > 1.0
    peer, seat = seated(limits)
    for number in range(1, 300):
        answer = arena_pb2.Answer(table=1, decision=number, option=0)
        assert peer.say(usages=[usage(number, input_tokens=1)], answers=[answer]) == 0.0
        seat.ask()
        peer.expect("accepted 1", f"ask 1#{number + 1}")
    assert len(seat.usages) == 299


# -- what a match makes of it
def played(uses: int) -> tuple[World, list[FinishedMatch]]:
    """Matches of bots of every manner, two of which report what they use."""
    world = World([Ladder("it", "szmal", 4, {}, QUICK)], seed="usage")
    world.bot("ann", 2, Manner(most_s=0.03, illegal=0.05, repeats=0.1, uses=uses))
    world.bot("bob", 2, Manner(most_s=0.2, gives_up=0.02))
    world.bot("cid", 2, Manner(loses_stream=0.05, away_s=0.3, uses=uses))
    world.bot("dee", 2, Manner(never=0.05))
    world.run(lambda: len(world.store.kept) >= 5)
    world.lobby.drain(world.now)
    world.run(lambda: world.lobby.is_idle and not any(bot.sat for bot in world.bots))
    return world, list(world.store.kept.values())


def test_twin_matches_with_and_without_reports_look_the_same_to_every_seat() -> None:
    (silent, without), (talking, with_usage) = played(0), played(70)
    for one, other in zip(silent.bots, talking.bots, strict=True):
        assert [played.told for played in one.done] == [played.told for played in other.done]
        assert all(MODEL.encode() not in body for played in other.done for body in played.told)
    assert silent.log.lines == talking.log.lines
    seen = 0
    for result, same in zip(with_usage, without, strict=True):
        assert result.record() == same.record()
        for seat in result.seats:
            assert seat.course is not None
            assert bool(seat.course.usages) == (seat.player.bot in ("ann", "cid"))
            numbers = [used.decision for used in seat.course.usages]
            assert numbers == sorted(set(numbers))
            assert set(numbers) <= set(range(1, len(seat.course.thinking_ms) + 1))
            assert {replace(used, decision=1) for used in seat.course.usages} <= {
                DecisionUsage(1, 70, 5, 310, MODEL, "time")
            }
            seen += len(numbers)
        stripped = tuple(
            replace(seat, course=replace(seat.course, usages=())) for seat in result.seats if seat.course is not None
        )
        assert replace(result, seats=stripped, make_record=same.make_record) == same
    assert seen > 100


def test_the_last_report_of_a_decision_counts_and_none_of_what_was_not_asked_or_is_over() -> None:
    world = World([Ladder("it", "greed", 2)], seed="late")
    ann, _ = world.bot("ann", 1), world.bot("bob", 1)
    world.run(lambda: bool(ann.open) and bool(next(iter(ann.open.values())).decisions))
    (seat,) = ann.sat.values()
    asked = max(ann.open[seat.number].decisions)
    for number, tokens in ((asked, 1), (asked, 2), (0, 3), (asked + 1, 4), (2**32 - 1, 5)):
        seat.report(DecisionUsage(number, tokens))
    world.lobby.drain(world.now)
    world.run(lambda: bool(world.store.kept))
    seat.report(DecisionUsage(asked, 6))
    world.run(lambda: world.lobby.is_idle)
    (result,) = world.store.kept.values()
    (course,) = [one.course for one in result.seats if one.player.bot == "ann"]
    assert course is not None
    assert course.usages == (DecisionUsage(asked, 2),)


# -- what a league says of it
def test_when_it_is_over_everybody_reads_what_was_used(tmp_path: Path) -> None:
    _, results = played(70)
    with Store(tmp_path / "it.db") as store:
        store.write(ensure_ladder, Ladder("it", "szmal", 4, {}, QUICK).kept)
        for result in results:
            store.submit(result).result(240)
    with LeaderboardReader(tmp_path / "it.db") as reader:
        answers = Answers(reader, lambda: datetime(2026, 1, 2, tzinfo=UTC))
        page = answers.list_matches(ladder_pb2.ListMatchesRequest(), STRANGER, NOWHERE)
        per_bot: dict[str, int] = {}
        for one in page.matches:
            told = answers.get_match(ladder_pb2.GetMatchRequest(match=one.match), STRANGER, NOWHERE)
            assert list(told.match.seats) == list(one.seats)
            for seat, course in zip(one.seats, told.courses, strict=True):
                assert seat.HasField("usage") == (seat.bot.bot in ("ann", "cid")) == bool(course.usages)
                assert sum(used.input_tokens for used in course.usages) == seat.usage.input_tokens
                if course.usages:
                    last = course.usages[-1]
                    assert (last.table, last.cost_micros, last.model, last.fallback) == (0, 310, MODEL, 6)
                    assert (seat.usage.matches, seat.usage.model) == (1, MODEL)
                    assert seat.usage.fallbacks == len(course.usages)
                if one.rated_number:
                    per_bot[seat.bot.bot] = per_bot.get(seat.bot.bot, 0) + seat.usage.input_tokens
        ranking = answers.list_rankings(ladder_pb2.ListRankingsRequest(ladder="it"), STRANGER, NOWHERE).rankings
        assert {one.bot.bot: one.usage.input_tokens for one in ranking} == per_bot
        assert {one.bot.bot for one in ranking if one.HasField("usage")} == {"ann", "cid"}


class Model:
    """A plain bot that reports what it uses."""

    def choose(self, view: Any, decision: Any) -> int:
        decision.report_usage(100, 5, 310, model="small", fallback="" if decision.number else "budget")
        return 0


async def test_over_the_wire_a_bots_usage_is_in_its_log_the_match_and_the_ranking(tmp_path: Path) -> None:
    ladder = Ladder("greed", "greed", 2, matches_wanted=2)
    async with running_arena(tmp_path, [ladder]) as arena:
        await asyncio.gather(
            connect(Model, "greed", server=arena.address, matches=2, quiet=True),
            connect("random", "greed", server=arena.address, matches=2, quiet=True),
        )
        database = arena.opened.store.database.address

        def ask(*words: str) -> str:
            shown = run(*words, "--db", database)
            assert shown.exit_code == 0, shown.stderr
            return shown.stdout

        log = json.loads(ask("bot", "logs", "model", "--limit", "1", "--json"))["logs"][0]
        match, seat = log["match"]["match"], log["match"]["seats"][log["seat"]]
        asked = len(log["usages"])
        assert log["usages"][0] == {
            "decision": 1,
            "input_tokens": 100,
            "output_tokens": 5,
            "cost_micros": 310,
            "model": "small",
            "fallback": "budget",
        }
        assert log["usages"][1]["fallback"] is None
        assert seat["usage"] == {
            "input_tokens": 100 * asked,
            "output_tokens": 5 * asked,
            "cost_micros": 310 * asked,
            "fallbacks": 1,
            "model": "small",
        }
        lines = ask("bot", "logs", "model", "--limit", "1").splitlines()
        assert lines[1].startswith(f"  used {100 * asked:,}+{5 * asked:,} tokens, $0.0")
        assert lines[1].endswith(", small, 1 fallback")
        assert lines[2:4] == ["  decision 1", "    100+5 tokens, $0.00031, small, fallback: budget"]
        assert f"seat {log['seat']} used {100 * asked:,}+" in ask("match", "show", match)
        document = json.loads(ask("match", "show", match, "--json"))
        assert document["courses"][log["seat"]]["usages"] == log["usages"]
        assert document["seats"][1 - log["seat"]]["usage"] is None
        table = ask("ladder", "rankings", "greed")
        assert "  tokens/match  cost/match  " in table.splitlines()[0]
        rows = {row["bot"]: row for row in json.loads(ask("ladder", "rankings", "greed", "--json"))["rankings"]}
        assert rows["random"]["tokens_per_match"] is None
        per_match = rows["model"]["tokens_per_match"]
        assert rows["model"]["cost_micros_per_match"] == pytest.approx(310 * per_match / 105, abs=4)  # both are rounded
        assert f"{per_match:,}" in table
        sheet = ask("ladder", "rankings", "greed", "--csv").splitlines()
        assert sheet[0].endswith(",estimated,tokens_per_match,cost_micros_per_match,person")
        ends = f",{per_match},{rows['model']['cost_micros_per_match']},false"
        assert sum(line.endswith(ends) for line in sheet) == 1
