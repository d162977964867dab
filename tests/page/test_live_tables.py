"""A match that is being played is read once, drawn once and told to every reader; who does not keep up comes again."""

from __future__ import annotations

import asyncio
import json
import queue
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, Self

import pytest

from cutpurse.engine.errors import CutpurseError
from cutpurse.games import GAMES
from cutpurse.page.language.languages import ENGLISH
from cutpurse.page.match_view import live_feed
from cutpurse.page.match_view.live_feed import BrowserEvent, LiveSubscriber, Watches
from cutpurse.sdk.matches.watching import WatchBegin, WatchUpdate, watched
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound, ServerRefused, ServerUnreachable
from tests.page.drawings import taken_apart
from tests.page.test_frames import check_cards
from tests.properties.random_play import EVERY_GAME
from tests.server.test_watching import Hall, Seen

SOON_S = 240.0
WAKE = ladder_pb2.WatchMatchResponse()  # for who waits in a stream that is closed


class Stream:
    """What a league tells, piece by piece, as the test says."""

    def __init__(self) -> None:
        self.pieces: queue.SimpleQueue[ladder_pb2.WatchMatchResponse | CutpurseError | None] = queue.SimpleQueue()
        self.opened = 0
        self.is_closed = False

    def __call__(self) -> Self:
        self.opened += 1
        self.is_closed = False
        return self

    def __iter__(self) -> Iterator[ladder_pb2.WatchMatchResponse]:
        while not self.is_closed and (piece := self.pieces.get()) is not None:
            if isinstance(piece, CutpurseError):
                raise piece
            if piece is not WAKE:
                yield piece

    def close(self) -> None:
        self.is_closed = True
        self.pieces.put(WAKE)

    def tell(self, *pieces: ladder_pb2.WatchMatchResponse | CutpurseError | None) -> None:
        for piece in pieces:
            self.pieces.put(piece)


class Screen:
    """A reader, and the lines that their browser would have."""

    def __init__(self, reader: LiveSubscriber) -> None:
        self.news = reader.read()
        self.lines: list[str] = []
        self.number = -1
        self.said: list[str] = []
        self.kinds: list[str] = []

    async def next(self) -> BrowserEvent | None:
        try:
            news = await asyncio.wait_for(anext(self.news), SOON_S)
        except StopAsyncIteration:
            return None
        told: Any = json.loads(news.text)
        self.kinds.append(news.kind)
        if news.kind == "status":
            self.said.append(told["text"])
        elif news.kind == "whole":
            self.lines, self.number = told["lines"], told["number"]
        elif news.kind == "step":
            assert told["number"] == self.number + 1
            self.number += 1
            before = self.lines
            self.lines = []
            for one in told["lines"]:
                self.lines += [one] if isinstance(one, str) else before[one[0] : one[1]]
        return news

    async def until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            assert await self.next() is not None

    @property
    def html(self) -> str:
        return "\n".join(self.lines)


@pytest.fixture(scope="module")
def matches() -> dict[str, list[ladder_pb2.WatchMatchResponse]]:
    """By game, all that a spectator is told of a match."""
    told = {}
    for game in EVERY_GAME:
        hall = Hall(game)
        hall.bots()
        seen = Seen(hall, match=hall.begin().name)
        hall.world.run(lambda seen=seen: seen.ending is not None)  # type: ignore[misc]  # a default of a lambda
        told[game] = [message for _, message in seen.told]
    return told


@asynccontextmanager
async def watching(step_s: float = 0.0) -> AsyncIterator[Watches]:
    watches = Watches(step_s=step_s)
    try:
        yield watches
    finally:
        watches.close()


@pytest.mark.parametrize("game", EVERY_GAME)
async def test_a_spectator_is_shown_what_all_may_see_and_nothing_else(
    game: str, matches: dict[str, list[ladder_pb2.WatchMatchResponse]]
) -> None:
    stream = Stream()
    steps = list(watched(matches[game]))
    async with watching() as watches:
        _, reader = watches.join("it", "", stream)
        screen = Screen(reader)
        for number, (message, step) in enumerate(zip(matches[game], steps, strict=True), 1):
            stream.tell(message)
            await screen.until(lambda number=number: screen.number == number)  # type: ignore[misc]  # as above
            if isinstance(step, WatchBegin | WatchUpdate):
                check_cards(step.view, taken_apart(screen.html))
        text = taken_apart(screen.html).text
        assert "The match is over" in text
        assert "the promise fits the seed that was opened" in text
        ended = matches[game][-1].ended.match
        for seat in ended.seats:
            assert f"{seat.score:,}" in text
        stream.tell(None)
        await screen.until(lambda: screen.kinds[-1] == "over")
        assert await screen.next() is None
        assert watches.readers == 0
    assert stream.opened == 1
    assert any("shown 10 s later than to the bots" in said for said in screen.said)


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [("seed", "The deal is not the promised one"), ("all", "is shown when all matches of its board are over")],
)
async def test_an_end_says_whether_the_deal_was_the_promised_one(
    matches: dict[str, list[ladder_pb2.WatchMatchResponse]], spoilt: str, said: str
) -> None:
    end = ladder_pb2.WatchMatchResponse()
    end.CopyFrom(matches["greed"][-1])
    if spoilt == "seed":
        end.ended.match.opening.seed = bytes(32)
    else:
        end.ended.match.ClearField("opening")
    stream = Stream()
    async with watching() as watches:
        screen = Screen(watches.join("it", "", stream)[1])
        stream.tell(matches["greed"][0], end, None)
        await screen.until(lambda: 'class="ends"' in screen.html)
        assert said in taken_apart(screen.html).text
        assert ("/replay" in screen.html) is (spoilt == "seed")


async def test_all_readers_are_told_the_same_and_who_comes_later_has_the_whole_table(
    matches: dict[str, list[ladder_pb2.WatchMatchResponse]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_feed, "MOST_UNREAD", 10_000)  # nothing here takes any time
    stream = Stream()
    async with watching() as watches:
        first = Screen(watches.join("it", "", stream)[1])
        stream.tell(*matches["greed"][:5])
        await first.until(lambda: first.number >= 2)
        second = Screen(watches.join("it", "", stream)[1])
        assert watches.readers == 2
        stream.tell(*matches["greed"][5:], None)
        for screen in (first, second):
            while await screen.next() is not None:
                pass
    assert stream.opened == 1
    assert first.lines == second.lines
    assert (first.number, first.kinds[-1]) == (second.number, second.kinds[-1])
    assert second.kinds[:2] == ["status", "whole"]


async def test_who_does_not_read_is_let_go_and_the_others_are_not(
    matches: dict[str, list[ladder_pb2.WatchMatchResponse]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_feed, "MOST_UNREAD", 6)
    monkeypatch.setattr(live_feed, "MERGES", 10_000)
    stream = Stream()
    async with watching() as watches:
        watch, deaf = watches.join("it", "", stream)
        screen = Screen(watches.join("it", "", stream)[1])
        for number, message in enumerate(matches["greed"][:20], 1):
            stream.tell(message)
            await screen.until(lambda number=number: screen.number == number)  # type: ignore[misc]  # as above
        assert watch.readers == 1
        assert [news async for news in deaf.read()] == []
        again = Screen(watches.join("it", "", stream)[1])
        await again.until(lambda: again.number == screen.number)
        assert again.lines == screen.lines


async def test_a_stream_that_is_lost_is_told_and_taken_up_again(
    matches: dict[str, list[ladder_pb2.WatchMatchResponse]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_feed, "PAUSES_S", (0.01,))
    stream = Stream()
    async with watching() as watches:
        screen = Screen(watches.join("", "it", stream)[1])
        stream.tell(*matches["szmal"][:3], ServerUnreachable("the server at 10.0.0.1:7777: gone"))
        await screen.until(lambda: live_feed.UNREACHED in screen.said)
        stream.tell(ServerUnreachable("again"), matches["greed"][0])
        await screen.until(lambda: "game-greed" in screen.html)
        assert not any("10.0.0.1" in said for said in screen.said)
        assert "Match" in screen.said[-1]
        stream.tell(NotFound("no such ladder any more"))
        await screen.until(lambda: screen.kinds[-1] == "over")
        assert screen.said[-1] == "This ladder is not shown here any more."
    assert stream.opened == 3


async def test_a_table_that_cannot_be_drawn_ends_and_does_not_hang(
    matches: dict[str, list[ladder_pb2.WatchMatchResponse]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(*_: object) -> str:
        raise ZeroDivisionError

    monkeypatch.setattr(live_feed._Picture, "of", breaks)
    told: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))
    stream = Stream()
    async with watching() as watches:
        screen = Screen(watches.join("it", "", stream)[1])
        stream.tell(matches["greed"][0])
        await screen.until(lambda: screen.kinds[-1:] == ["over"])
        assert live_feed.BROKEN in screen.said
        assert watches.readers == 0
        stream.tell(None)
    assert [type(one) for one in told] == [ZeroDivisionError]


async def test_a_server_that_lets_nobody_else_watch_is_told(
    matches: dict[str, list[ladder_pb2.WatchMatchResponse]],
) -> None:
    stream = Stream()
    async with watching() as watches:
        screen = Screen(watches.join("it", "", stream)[1])
        stream.tell(ServerRefused("the server at 10.0.0.1:7777: 64 are watching already"))
        await screen.until(lambda: screen.kinds[-1:] == ["over"])
        assert live_feed.REFUSED in screen.said
        assert not any("10.0.0.1" in said for said in screen.said)


async def test_a_ladder_is_followed_from_one_match_to_the_next(
    matches: dict[str, list[ladder_pb2.WatchMatchResponse]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_feed, "OVER_S", 0.0)
    monkeypatch.setattr(live_feed, "MOST_UNREAD", 10_000)
    stream = Stream()
    async with watching() as watches:
        screen = Screen(watches.join("", "it", stream)[1])
        for game in ("greed", "szmal"):
            stream.tell(*matches[game])
            await screen.until(lambda game=game: f"game-{game}" in screen.html and 'class="ends"' in screen.html)  # type: ignore[misc]
        assert "over" not in screen.kinds
        assert GAMES["szmal"].words.title not in screen.said


async def test_what_is_missed_is_skipped_when_matches_are_played_faster_than_they_are_shown(
    matches: dict[str, list[ladder_pb2.WatchMatchResponse]],
) -> None:
    stream = Stream()
    async with watching(step_s=60.0) as watches:
        watch, reader = watches.join("", "it", stream)
        screen = Screen(reader)
        stream.tell(matches["greed"][0])
        await screen.until(lambda: "game-greed" in screen.html)
        missed = [*matches["greed"][1:], *matches["szmal"], matches["bag_o_loot"][0]]
        stream.tell(*missed)
        while len(watch._waiting) < len(missed):
            await asyncio.sleep(0)
        # Nothing is waited for: the pace is the test's.
        watch._step_s = 0.0
        watch._showing.cancel()
        watch._showing = asyncio.get_running_loop().create_task(watch._show())
        await screen.until(lambda: "game-bag_o_loot" in screen.html)
        assert screen.kinds.count("whole") == 2


async def test_a_watch_that_nobody_reads_ends_though_nothing_happens(
    matches: dict[str, list[ladder_pb2.WatchMatchResponse]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a ladder on which nothing is played is followed for ever, and counts among those that may be."""
    monkeypatch.setattr(live_feed, "LINGER_S", 0.0)
    stream = Stream()
    async with watching() as watches:
        watch, reader = watches.join("it", "", stream)
        screen = Screen(reader)
        stream.tell(matches["greed"][0])
        await screen.until(lambda: bool(screen.lines))
        watch.leave(reader)
        async with asyncio.timeout(SOON_S):
            while ("it", "", ENGLISH) in watches._watches:
                await asyncio.sleep(0)
        assert stream.is_closed
        other, _ = watches.join("it", "", stream)
        assert other is not watch
        stream.tell(None, None)


async def test_a_reader_who_comes_back_in_time_finds_the_same_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_feed, "LINGER_S", 0.0)
    stream = Stream()
    async with watching() as watches:
        watch, reader = watches.join("it", "", stream)
        watch.leave(reader)
        again, _ = watches.join("it", "", stream)  # before the loop looks at its timers
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert again is watch
        assert not stream.is_closed
        assert stream.opened <= 1


async def test_who_looks_at_most_matches_makes_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_feed, "MOST_WATCHES", 4)
    streams = [Stream() for _ in range(4)]
    async with watching() as watches:
        many = [
            Screen(watches.join(f"m{number}", "", stream, "one of many windows")[1])
            for number, stream in enumerate(streams)
        ]
        watches.join("m0", "", streams[0], "a friend")  # so that one is not theirs alone
        first, _ = watches.join("n", "", Stream(), "somebody")
        assert [name for name, _, _ in watches._watches] == ["m0", "m2", "m3", "n"]
        await many[1].until(lambda: many[1].kinds[-1:] == ["over"])
        assert many[1].said[-1] == live_feed.MADE_ROOM
        assert await many[1].next() is None
        assert streams[1].is_closed
        # With two and one of them nobody has more than a share: the server says whether there is room.
        watches.join("o", "", Stream(), "somebody")
        assert {name for name, _, _ in watches._watches} > {"m2", "m3", "n", "o"}
        # What nobody looks at any more goes first.
        first.leave(next(iter(first._readers)))
        watches.join("p", "", Stream(), "somebody")
        assert ("n", "", ENGLISH) not in watches._watches
        assert len(watches._watches) == 5
