"""A bot that runs and says nothing, as one that hangs: it is stopped and started again; others are let alone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard import queries
from cutpurse.server.access.contact import Contact
from cutpurse.server.access.owners import HostedBotIdentity
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.parts.submissions import hosted_bots
from cutpurse.server.parts.submissions.hosted_bots import LOOKED_S, UNHEARD_S
from cutpurse.server.parts.submissions.process_tokens import ProcessTokens
from tests.looking import until_so
from tests.parts.submissions.desks import FIRST, author_of, bot_folder, handed_in, running_desk
from tests.parts.submissions.houses import House, Process
from tests.server.raw_bot import RawBot

LOOKS = int(UNHEARD_S / LOOKED_S)


def speak(house: House, process: Process) -> None:
    contact = house.resident(process).contact
    assert contact is not None
    contact.hear()


def test_who_is_not_heard_is_stopped_and_another_process_follows_at_once(tmp_path: Path) -> None:
    house = House(tmp_path, "deaf", "fine")
    deaf, fine = house.runner.processes
    deaf.may_end.set()
    speak(house, deaf)  # and hangs after that
    for _ in range(LOOKS):
        speak(house, fine)
        house.look(LOOKED_S)
    assert house.asked() == []
    house.look(LOOKED_S)
    house.until_started(3)
    assert house.asked() == [1]
    assert house.runner.processes[2].task.name == deaf.task.name
    assert house.log.getvalue().count('"resident not heard"') == 1
    for _ in range(LOOKS - 1):  # the next one has as much time to come in
        speak(house, fine)
        house.look(LOOKED_S)
    assert house.asked() == [1]
    assert house.store.states == []


def test_while_the_server_stood_still_nobody_could_be_heard(tmp_path: Path) -> None:
    house = House(tmp_path, "sneak")
    for _ in range(3):
        house.look(2 * UNHEARD_S)
    assert house.asked() == []


async def test_an_envelope_of_its_is_what_is_heard_of_a_process(short: Path) -> None:
    async with running_desk(short) as arena:
        passes, contact = arena.opened.arena.entrance.guard, Contact()
        assert isinstance(passes, ProcessTokens)
        token = passes.give("local", HostedBotIdentity("sneak", "1", contact=contact))
        async with RawBot(arena.address) as other, RawBot(arena.address, token.reveal()) as bot:
            await other.hello("other")
            heard = [contact.take()]
            await bot.hello("sneak")
            heard += [contact.take(), contact.take()]
            await asyncio.gather(bot.play_on(), other.play_on())
            assert [*heard, contact.take()] == [False, True, False, True]


# It is well while it is checked, and stands still in its first match.
HANGS = FIRST.replace(
    "        return",
    """        import os, signal
        if os.environ.get("CUTPURSE_TOKEN") and not os.path.exists("MARK"):
            open("MARK", "w").close()
            os.kill(os.getpid(), signal.SIGSTOP)
        return""",
)


@pytest.mark.soak
async def test_a_bot_that_hangs_plays_again(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosted_bots, "UNHEARD_S", 5.0)
    quick = Ladder("duel", "greed", 2, control=TimeControl(base_ms=2_000, bank_ms=2_000))
    mark = short / "hung"
    async with running_desk(short, [quick], limits=ServerLimits(heartbeat_ms=500)) as arena:
        await handed_in(author_of(arena), bot_folder(short, HANGS.replace("MARK", str(mark))))
        await handed_in(author_of(arena), bot_folder(short, name="fine"))
        await until_so(lambda: '"resident not heard"' in arena.log)
        (line,) = [line for line in map(json.loads, arena.log.splitlines()) if line["event"] == "resident not heard"]
        assert line["bot"] == "local/sneak:1"
        assert mark.exists()

        def has_played() -> bool:
            return any(
                one.bot == "sneak" and one.matches > one.faulted
                for one in arena.opened.store.run(queries.rankings, "duel")
            )

        await until_so(has_played)
