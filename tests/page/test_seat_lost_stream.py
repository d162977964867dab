"""A person whose stream to the server breaks off goes on at the same decision; of a lost server a line says so."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from cutpurse.check.local_arena import Host
from cutpurse.engine.clocks import PEOPLE_CLOCK
from cutpurse.leaderboard.results import PERSON, LadderTerms
from cutpurse.leaderboard.tokens import PEOPLE, new_token
from cutpurse.page.seat.arena_session import OwnerDials, PersonSession
from cutpurse.page.seat.person import Person
from cutpurse.page.seat.shared_drawing import Listener
from cutpurse.sdk.run import connect
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.parts.people.part import PeoplePart
from cutpurse.wire.answer_times import WaitLimits
from cutpurse.wire.connection import Dialling
from cutpurse.wire.person_names import people_bot, people_ladder
from cutpurse.wire.server_address import TOKEN_VARIABLE
from tests.looking import until_so
from tests.page.people import FirstOption, decision_of, options_of
from tests.parts.open_parts import part_of
from tests.parts.people.seats import seats_for_people
from tests.server.arenas import running_arena
from tests.server.tokens import tokens_in

DUEL = Ladder("duel", "greed", 2, control=PEOPLE_CLOCK, terms=LadderTerms(house=("random",), admits_people=True))
LIMITS = ServerLimits(connection_age_s=2.0, connection_age_grace_s=0.2)
BOTS = (f"{PEOPLE}/person-1", f"house/{people_bot('random')}")


def owner_token(folder: Path) -> str:
    return tokens_in(folder / "test.db", "ann")["ann"]


class CountedSession(PersonSession):
    """A session that counts its streams."""

    streams = 0

    def has_streams(self, count: int) -> bool:
        """Return whether this many streams were opened, and the server has let the last one in."""
        return self.streams >= count and self._is_in.is_set()

    async def _stream(self, channel: Any) -> tuple[str, str]:
        self.streams += 1
        return await super()._stream(channel)


@pytest.mark.parametrize("rated_on", ["", "duel"])
async def test_a_lost_stream_is_opened_again_at_the_same_decision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rated_on: str
) -> None:
    house = new_token()
    monkeypatch.setenv(TOKEN_VARIABLE, house.reveal())
    monkeypatch.setattr("cutpurse.page.seat.person.WAITS", WaitLimits(0.0, 0.0, 0.0))
    parts = [seats_for_people(["random"], games=["greed"])]
    token = owner_token(tmp_path)
    async with running_arena(tmp_path, [DUEL], LIMITS, house=house, parts=parts) as arena:
        people = part_of(arena.opened, PeoplePart).token
        name, opponent = (rated_on, "random") if rated_on else (people_ladder("greed", 2), people_bot("random"))
        bot = asyncio.create_task(connect(FirstOption, ladders=name, server=arena.address, name=opponent, quiet=True))
        await until_so(lambda: len(arena.opened.lobby.here()) == 1)
        sessions: list[CountedSession] = []

        def session(carry_out: Any) -> CountedSession:
            dials = Dialling(arena.address, token=people.reveal())
            to, bot_name = (OwnerDials(dials, token), PERSON) if rated_on else (dials, "person-1")
            sessions.append(CountedSession(to, bot_name, "greed", name, carry_out))
            return sessions[0]

        person = Person("greed", session, asyncio.get_running_loop(), rated_on)
        playing = asyncio.create_task(person.play(() if rated_on else BOTS))
        answered: list[int] = []
        async for news in person.listen(Listener()):
            html = await person.html()
            if news.step is None or (number := decision_of(html)) in (0, *answered):
                continue
            if len(answered) < 2:  # the stream is lost while the person thinks
                await until_so(partial(sessions[0].has_streams, sessions[0].streams + 1))
                assert options_of(await person.html()) == options_of(html)
            answered.append(number)
            person.answer(str(number), "0")
        await playing
        assert (person.problem, person.status) == ("", "The match is over.")
        assert len(answered) > 3
        assert answered == sorted(set(answered))
        bot.cancel()
        await asyncio.gather(bot, return_exceptions=True)


async def test_a_ladder_of_another_server_is_told_in_a_line() -> None:
    async with Host(is_on_a_port=True) as other:
        other.sends_to = "127.0.0.1:2"
        dials = OwnerDials(Dialling(other.address), new_token().reveal())

        def session(carry_out: Any) -> PersonSession:
            return PersonSession(dials, PERSON, "greed", "duel", carry_out)

        person = Person("greed", session, asyncio.get_running_loop(), "duel")
        await person.play(())
    assert person.status == (
        "Your match does not go on: another server of this league plays the ladder duel; "
        "play there on the page of that server."
    )


async def test_a_server_that_does_not_answer_is_told_in_a_line() -> None:
    dials = Dialling("127.0.0.1:1", token=new_token().reveal())

    def session(carry_out: Any) -> PersonSession:
        return PersonSession(dials, "person-1", "greed", people_ladder("greed", 2), carry_out)

    person = Person("greed", session, asyncio.get_running_loop())
    await person.play(BOTS)
    assert person.status == "Your match does not go on: the arena does not answer."
