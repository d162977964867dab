"""Hostile bots at a real place, through TLS and real sandboxes: place, server and the other seats are not harmed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.match import EndCause
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.queries import MatchEntry
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.submissions import hosted_bots, intake
from cutpurse.server.parts.submissions.checking import SubmissionCheck
from cutpurse.server.runners.choosing import runner_named
from cutpurse.wire.connection import Dialling
from tests.looking import until_so
from tests.parts.hosts.hostile_bots import BOTS, NEIGHBOUR, SECRET
from tests.parts.hosts.test_playing_at_places import places_at
from tests.parts.open_parts import parts_with
from tests.parts.submissions.desks import PATIENT, Author, bot_folder
from tests.server.arenas import RunningArena, running_arena
from tests.server.secure import place_in
from tests.server.tokens import tokens_in

pytestmark = pytest.mark.soak

GOOD = ("good", "fine")
# On `rough` the hostile bots play with each other and with a good one.
BRIEF = TimeControl(base_ms=500, bank_ms=500)
LADDERS = [Ladder("duel", "greed", 2, control=PATIENT), Ladder("rough", "greed", 2, control=BRIEF)]
MATCHES = 5  # of the good bots, after all the others have begun
PLACE_KIB = 400 * 1024  # of the place's process


def stored_in(arena: RunningArena, ladder: str) -> list[MatchEntry]:
    return arena.opened.store.run(queries.matches, ladder=ladder, limit=10_000)


def matches(arena: RunningArena, ladder: str) -> int:
    return len(stored_in(arena, ladder))


async def output_of(author: Author, name: str) -> str:
    return (await author.ask(lambda calls: calls.log(name))).talk


def ends(arena: RunningArena) -> list[tuple[str, str]]:
    """Each end of a bot's process that the server tells: the bot's name, and how it ended."""
    lines = [json.loads(line) for line in arena.log.splitlines() if '"resident ended"' in line]
    return [(line["bot"].partition("/")[0], line["how"]) for line in lines]


def commands() -> Iterator[bytes]:
    """The command line of every process there is."""
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            yield (process / "cmdline").read_bytes()


def resident_kib(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1])


async def test_bots_that_mean_harm_hurt_neither_place_nor_server_nor_other_seats(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (why := runner_named("bubblewrap").missing()) is not None:
        pytest.skip(why)
    monkeypatch.setattr(hosted_bots, "FIRST_WAIT_S", 0.1)
    monkeypatch.setattr(hosted_bots, "LONGEST_WAIT_S", 0.2)
    monkeypatch.setattr(intake, "check_apart", lambda *_: SubmissionCheck(()))  # tested elsewhere, in minutes
    secure = place_in(short)
    keys = tokens_in(short / "test.db", *GOOD, *BOTS, lab=("place",))
    lab = keys.pop("lab")
    async with running_arena(
        short,
        LADDERS,
        certificate=secure.certificate,
        parts=parts_with(submissions="bubblewrap", places=True),
    ) as arena:
        ca = secure.ca_file
        authors = {}
        for owner, key in keys.items():
            authors[owner] = author = Author(arena.address)
            author.to = Dialling(arena.address, ca=ca.read_bytes(), token=key)
        environment = {"CUTPURSE_TOKEN": lab, "CUTPURSE_CA": str(ca)}
        with places_at(short, arena, "lab1", runner="bubblewrap", cores="5", **environment) as (place,):
            await until_so(lambda: '"place attends"' in arena.log)
            await authors["good"].submit(bot_folder(short, name="good", files=NEIGHBOUR), "duel", "rough")
            await authors["fine"].submit(bot_folder(short, name="fine"), "duel")
            await until_so(lambda: matches(arena, "duel") > 0)
            for name, bot in BOTS.items():
                await authors[name].submit(bot_folder(short, bot.source, name=name), "rough")
            said: dict[str, str] = {}
            unheard = set(BOTS)
            while unheard:  # all in turn, because the output of a bot that prints without end is soon replaced
                for name in sorted(unheard):
                    said[name] = await output_of(authors[name], name)
                    if BOTS[name].says in said[name]:
                        unheard.remove(name)
            await until_so(lambda: {"ends", "kills-its-relay"} <= {name for name, _ in ends(arena)})
            await until_so(lambda: matches(arena, "rough") >= MATCHES)  # void ones, too: the machine may be busy
            before = matches(arena, "duel")
            await until_so(lambda: matches(arena, "duel") >= before + MATCHES)
            assert place.process is not None
            assert place.process.poll() is None
            assert resident_kib(place.process.pid) < PLACE_KIB
            stored = arena.opened.store.run(queries.matches, limit=10_000)
            assert '"place lost"' not in arena.log
        await until_so(lambda: not any(str(place.folder).encode() in command for command in commands()))
        assert "broke" not in arena.log
        ended = ends(arena)
    # What ends, ends for its own reason; what does not, is not blamed.
    assert [(name, how) for name, how in ended if not BOTS[name].ends or BOTS[name].ends not in how] == []
    seats = [seat for match in stored for seat in match.seats]
    assert {seat.faults for seat in seats if seat.bot in GOOD} == {0}
    assert {match.void_cause for match in stored} <= {None, EndCause.VOID_SERVER.value}  # the machine may stand still
    for match in stored:
        for seat in match.seats:
            if match.void_cause is None and seat.bot in BOTS and BOTS[seat.bot].is_faulted is not None:
                assert bool(seat.faults) == BOTS[seat.bot].is_faulted, (match, seat)
    assert "[]" in said["reads"]
    assert SECRET not in "".join(said.values())
