"""Whatever a bot says or does not say: the server stays up, the others finish, the result names the cause.

Every test plays on a real server over a real socket, and ends with an honest match or a new caller being served; no
text that was sent to the bot or logged names a card.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.match import EndCause
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.server.ladder_config import Ladder
from cutpurse.v1 import arena_pb2, game_pb2, game_pb2_grpc
from tests.server.arenas import QUICK, RunningArena, running_arena
from tests.server.raw_bot import Ended, RawBot, honest, others

REFUSED = arena_pb2.RefusalReason
TITLES = [card.title for card in GAMES["greed"].words.cards]
NAMES = [card.name for card in GAMES["greed"].words.cards]


@pytest.fixture(params=[TimeControl()], ids=[""])
async def arena(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[RunningArena]:
    """With the usual clocks, or those that a test is parametrized with."""
    ladder = Ladder("greed", "greed", 4, {}, request.param, matches_wanted=1)
    async with running_arena(tmp_path, [ladder]) as running:
        yield running
    told = running.log.lower()
    assert '"event": "listening"' in told
    assert [word for word in (*TITLES, *NAMES) if len(word) > 3 and f" {word.lower()}" in told] == []
    assert "traceback" not in told


quick = pytest.mark.parametrize("arena", [QUICK], indirect=True, ids=["quick"])


def no_card(text: str) -> str:
    """The text, which names no card."""
    assert not any(title.lower() in text.lower() for title in TITLES if len(title) > 3), text
    return text


async def is_served(arena: RunningArena) -> bool:
    """Whether the server lets a new caller in and tells it what can be played."""
    async with RawBot(arena.address) as bot, grpc.aio.insecure_channel(arena.address) as channel:
        welcome = await bot.hello("newcomer")
        games = await game_pb2_grpc.GameServiceStub(channel).ListGames(game_pb2.ListGamesRequest())
        return bool(welcome.session) and [game.game for game in games.games] == ["greed"]


async def refused(arena: RunningArena, **hello: Any) -> Ended:
    """How a call with this Hello ends."""
    async with RawBot(arena.address) as bot:
        with pytest.raises(Ended) as told:
            await bot.hello("stranger", **hello)
    no_card(told.value.text)
    return told.value


def cause_of(arena: RunningArena, name: str) -> str:
    """The end cause of a bot's seat in its newest match, from the database."""
    entry = arena.opened.store.run(queries.matches)[0]
    (cause,) = [seat.end_cause for seat in entry.seats if seat.bot == name]
    return cause


async def finish(honest_bots: list[asyncio.Task[arena_pb2.MatchEnded]]) -> arena_pb2.MatchEnded:
    """The end as the honest bots were told it; all of them, alike."""
    ends = await asyncio.gather(*honest_bots)
    assert len({tuple((seat.place, seat.score, seat.end_cause) for seat in end.seats) for end in ends}) == 1
    assert all(end.rated and not end.voided for end in ends)
    return ends[0]


# -- the first envelope
@pytest.mark.parametrize("major", [0, 2, 4_294_967_295])
async def test_no_or_another_version(arena: RunningArena, major: int) -> None:
    ended = await refused(arena, protocol_major=major)
    assert (ended.code, ended.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "PROTOCOL_VERSION")
    assert "1.1" in ended.text
    assert f"{major}." in ended.text
    assert await is_served(arena)


async def test_an_unknown_game(arena: RunningArena) -> None:
    ended = await refused(arena, games=[arena_pb2.GameWanted(game="chess\x1b[31m")])
    assert (ended.code, ended.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    assert "greed" in ended.text
    assert "\x1b" not in ended.text
    assert await is_served(arena)


async def test_the_catalogue_of_an_unknown_game_and_of_impossible_settings(arena: RunningArena) -> None:
    async with grpc.aio.insecure_channel(arena.address) as channel:
        games = game_pb2_grpc.GameServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as unknown:
            await games.GetGame(game_pb2.GetGameRequest(game="chess"))
        with pytest.raises(grpc.aio.AioRpcError) as impossible:
            await games.GetGame(game_pb2.GetGameRequest(game="greed", seats=99))
    assert unknown.value.code() is grpc.StatusCode.NOT_FOUND
    assert "greed" in (unknown.value.details() or "")
    assert impossible.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "players" in (impossible.value.details() or "")


@quick
async def test_garbage_instead_of_envelopes(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with grpc.aio.insecure_channel(arena.address) as channel:
        call: Any = channel.stream_stream("/cutpurse.v1.ArenaService/Play")()
        hello = arena_pb2.PlayRequest(hello=arena_pb2.Hello(protocol_major=1, bot="garbage", max_tables=1))
        await call.write(hello.SerializeToString())
        await call.read()
        await call.write(arena_pb2.PlayRequest(received=1).SerializeToString())
        await call.read()  # a match begins
        for number in range(3):
            await call.write(bytes([255, 255, 255, 255, 7 + number]))
        assert await call.code() is grpc.StatusCode.INVALID_ARGUMENT
        no_card(await call.details())
    await finish(playing)  # its seat was played on: the stream is gone
    assert cause_of(arena, "garbage") == EndCause.DISCONNECTED.value
    assert await is_served(arena)


async def test_unknown_fields_and_enum_values_are_passed_over(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with grpc.aio.insecure_channel(arena.address) as channel:
        call: Any = channel.stream_stream("/cutpurse.v1.ArenaService/Play")()
        unknown = bytes.fromhex("a23f036e6577")  # field 1012, a text
        hello = arena_pb2.Hello(protocol_major=1, bot="newer", max_tables=1, features=["telepathy"])
        await call.write(arena_pb2.PlayRequest(hello=hello).SerializeToString() + unknown)
        end = None
        while end is None:
            envelope = arena_pb2.PlayResponse.FromString(await call.read())
            assert not envelope.problems
            request = arena_pb2.PlayRequest(received=envelope.envelope)
            for asked in envelope.decisions:
                request.answers.add(table=asked.table, decision=asked.decision, option=0)
            await call.write(request.SerializeToString() + unknown)
            end = next(iter(envelope.ends), None)
    assert await finish(playing)
    assert [seat.end_cause for seat in end.seats] == [arena_pb2.END_CAUSE_NORMAL] * 4


# -- answers
async def test_an_option_that_was_not_offered_can_be_put_right_twice(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with RawBot(arena.address) as bot:
        await bot.hello("blunt")
        asked = await bot.decision()
        for option, left in ((len(asked.options), 2), (4_294_967_295, 1), (None, 0)):
            await bot.answer(asked, option)
            refusal = await bot.refusal()
            assert (refusal.reason, refusal.corrections_left) == (REFUSED.REFUSAL_REASON_ILLEGAL, left)
            assert refusal.options_count == len(asked.options)
            no_card(refusal.text)
        await bot.play_on()
    await finish(playing)
    seats = arena.opened.store.run(queries.matches)[0].seats
    assert [(seat.faults, seat.end_cause) for seat in seats if seat.bot == "blunt"] == [(1, "normal")]


async def test_an_illegal_answer_that_is_put_right_costs_nothing(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with RawBot(arena.address) as bot:
        await bot.hello("hasty")
        asked = await bot.decision()
        await bot.answer(asked, 99)
        assert (await bot.refusal()).corrections_left == 2
        await bot.answer(asked, 0)
        await bot.play_on()
    await finish(playing)
    assert [seat.faults for seat in arena.opened.store.run(queries.matches)[0].seats] == [0, 0, 0, 0]


async def test_an_answer_given_twice_counts_once(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with RawBot(arena.address) as bot:
        await bot.hello("echo")
        asked = await bot.decision()
        await bot.answer(asked, 0)
        await bot.answer(asked, len(asked.options) - 1)
        refusal = await bot.refusal()
        assert (refusal.decision, refusal.reason) == (asked.decision, REFUSED.REFUSAL_REASON_ALREADY_DECIDED)
        await bot.play_on()
    await finish(playing)
    assert sum(seat.faults for seat in arena.opened.store.run(queries.matches)[0].seats) == 0


async def test_an_answer_before_it_was_asked_and_for_tables_of_others(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with RawBot(arena.address) as bot:
        await bot.hello("seer")
        asked = await bot.decision()
        for table, decision in ((asked.table, asked.decision + 1), (asked.table, 0), (asked.table + 1, 1), (0, 1)):
            await bot.send(answers=[arena_pb2.Answer(table=table, decision=decision, option=0)])
            refusal = await bot.refusal()
            assert (refusal.table, refusal.decision) == (table, decision)
            assert refusal.reason == REFUSED.REFUSAL_REASON_UNKNOWN_DECISION
        await bot.answer(asked)
        await bot.play_on()
    await finish(playing)


@quick
async def test_an_answer_that_is_too_late(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with RawBot(arena.address) as bot:
        await bot.hello("tardy")
        asked = await bot.decision()
        following = await bot.decision()  # it comes when the first was closed
        await bot.answer(asked)
        refusal = await bot.refusal()
        assert refusal.reason == REFUSED.REFUSAL_REASON_TOO_LATE
        assert refusal.decision == asked.decision
        await bot.answer(following)
        await bot.play_on()
    await finish(playing)
    seats = arena.opened.store.run(queries.matches)[0].seats
    assert [seat.faults for seat in seats if seat.bot == "tardy"] == [1]


async def test_an_answer_for_a_table_that_is_over(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with RawBot(arena.address) as bot:
        await bot.hello("nostalgic")
        asked = await bot.decision()
        await bot.answer(asked)
        await bot.play_on()
        await bot.answer(asked)
        assert (await bot.refusal()).reason == REFUSED.REFUSAL_REASON_STALE
    await finish(playing)


async def test_a_bot_that_gives_up_three_times(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with RawBot(arena.address) as bot:
        await bot.hello("raiser")
        for _ in range(3):
            asked = await bot.decision()
            give_up = arena_pb2.GiveUp(table=asked.table, decision=asked.decision, reason="KeyError: 'x'\x1b[2J" * 99)
            await bot.send(give_ups=[give_up])
        end = await bot.play_on()
    await finish(playing)
    assert cause_of(arena, "raiser") == EndCause.CRASHED.value
    assert list(end.seats).count(arena_pb2.SeatOutcome()) == 0
    assert "\x1b" not in arena.log


@quick
async def test_a_bot_that_never_answers_is_played_on(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with RawBot(arena.address) as bot:
        await bot.hello("mute")
        end = await bot.end()
        assert [s.end_cause for s in end.seats].count(arena_pb2.END_CAUSE_TIMEOUT) == 1
    await finish(playing)
    assert cause_of(arena, "mute") == EndCause.TIMEOUT.value


@quick
async def test_a_bot_that_never_reads_again_holds_nobody_up(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with RawBot(arena.address) as bot:
        await bot.hello("deaf")
        await finish(playing)  # it has not even acknowledged that the match began
    assert cause_of(arena, "deaf") == EndCause.TIMEOUT.value


@quick
async def test_a_bot_that_dies_in_mid_decision(arena: RunningArena) -> None:
    playing = await others(arena.address)
    async with RawBot(arena.address) as bot:
        await bot.hello("mortal")
        await bot.decision()
    await finish(playing)
    assert cause_of(arena, "mortal") == EndCause.DISCONNECTED.value
    assert await is_served(arena)


async def test_two_streams_of_one_bot_are_not_two_bots(arena: RunningArena) -> None:
    async with RawBot(arena.address) as older, RawBot(arena.address) as newer:
        await older.hello("twin")
        await newer.hello("twin")
        with pytest.raises(Ended) as ended:
            await older.read()
        assert (ended.value.code, ended.value.reason) == (grpc.StatusCode.ABORTED, "SUPERSEDED")
        end, _ = await asyncio.gather(newer.play_on(), finish(await others(arena.address)))
        assert end.rated


async def test_a_match_between_honest_bots_is_rated_and_opens_its_commitment(arena: RunningArena) -> None:
    ends = await asyncio.gather(*(honest(arena.address, f"honest_{number}") for number in range(4)))
    assert {len(end.opening.seed) for end in ends} == {32}
    assert [ranking.matches for ranking in arena.opened.store.run(queries.rankings, "greed")] == [1, 1, 1, 1]
