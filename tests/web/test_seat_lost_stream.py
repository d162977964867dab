"""A person whose stream to the server breaks off goes on at the same decision; of a lost server a line says so."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cutpurse.leaderboard.tokens import PEOPLE, new_token
from cutpurse.sdk.run import connect
from cutpurse.server.league.ladder_setup import LadderSelection
from cutpurse.server.limits import ServerLimits
from cutpurse.server.people import people_bot, people_ladder
from cutpurse.server.web.seat.arena_session import PersonSession
from cutpurse.server.web.seat.person import Person
from cutpurse.wire.connection import Dialling
from cutpurse.wire.server_address import TOKEN_VARIABLE
from tests.looking import until_so
from tests.server.arenas import running_arena
from tests.web.people import FirstOption, decision_of, options_of

LIMITS = ServerLimits(connection_age_s=2.0, connection_age_grace_s=0.2)
BOTS = (f"{PEOPLE}/person-1", f"house/{people_bot('random')}")


class CountedSession(PersonSession):
    """A session that counts its streams."""

    streams = 0

    def has_streams(self, count: int) -> bool:
        """Return whether this many streams were opened, and the server has let the last one in."""
        return self.streams >= count and self._is_in.is_set()

    async def _stream(self, channel: Any) -> tuple[str, str]:
        self.streams += 1
        return await super()._stream(channel)


async def test_a_lost_stream_is_opened_again_at_the_same_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, people = new_token(), new_token()
    monkeypatch.setenv(TOKEN_VARIABLE, house.reveal())
    ladders = LadderSelection(games=["greed"], house=("random",), people=True).people_ladders
    async with running_arena(tmp_path, ladders, LIMITS, house=house, people=people) as arena:
        name = people_ladder("greed", 2)
        bot = asyncio.create_task(
            connect(FirstOption, ladders=name, server=arena.address, name=people_bot("random"), quiet=True)
        )
        await until_so(lambda: len(arena.opened.lobby.here()) == 1)
        sessions: list[CountedSession] = []

        def session(carry_out: Any) -> CountedSession:
            dials = Dialling(arena.address, token=people.reveal())
            sessions.append(CountedSession(dials, "person-1", "greed", name, carry_out))
            return sessions[0]

        person = Person("greed", session, asyncio.get_running_loop())
        playing = asyncio.create_task(person.play(BOTS))
        answered: list[int] = []
        async for news in person.listen():
            html = person.html()
            if news.kind != "whole" or (number := decision_of(html)) in (0, *answered):
                continue
            if len(answered) < 2:  # the stream is lost while the person thinks
                await until_so(partial(sessions[0].has_streams, sessions[0].streams + 1))
                assert options_of(person.html()) == options_of(html)
            answered.append(number)
            person.answer(str(number), "0")
        await playing
        assert (person.problem, person.status) == ("", "The match is over.")
        assert len(answered) > 3
        assert answered == sorted(set(answered))
        bot.cancel()
        await asyncio.gather(bot, return_exceptions=True)


async def test_a_server_that_does_not_answer_is_told_in_a_line() -> None:
    dials = Dialling("127.0.0.1:1", token=new_token().reveal())

    def session(carry_out: Any) -> PersonSession:
        return PersonSession(dials, "person-1", "greed", people_ladder("greed", 2), carry_out)

    person = Person("greed", session, asyncio.get_running_loop())
    await person.play(BOTS)
    assert person.status == "Your match does not go on: the arena does not answer."
