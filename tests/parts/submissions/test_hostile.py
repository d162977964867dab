"""Bots that mean harm, really run: none hurts a match of others, and each ends with its cause named to its author."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard import queries
from cutpurse.sdk.submission_text import submission_state
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.submissions import hosted_bots as residents_module
from cutpurse.server.parts.submissions import submission_queries, submissions
from cutpurse.server.parts.submissions.relays import AT_ONCE_BYTES, BYTES_PER_S, CALL_BYTES, MAX_CONNECTIONS
from cutpurse.server.runners.cgroups import cgroups
from tests.hostile.attackers import SUBMITTED, SUBMITTED_FILES
from tests.looking import until_so
from tests.parts.submissions.desks import FIRST, author_of, bot_folder, handed_in, running_desk
from tests.parts.submissions.servers import cutpurse
from tests.parts.submissions.test_desk import tokens
from tests.server.arenas import RunningArena

# Each is well as long as it is checked, which is without a token.
SERIOUS = """
import os
if os.environ.get("CUTPURSE_TOKEN"):
{}
"""
MEMORY = SERIOUS.format("    kept = [b'x' * (1 << 20) for _ in range(1 << 20)]") + FIRST
FORKS = (
    SERIOUS.format("    while True:\n        try:\n            os.fork()\n        except OSError:\n            pass")
    + FIRST
)
FLOOD = SERIOUS.format("    while True:\n        print('\\x1b[2J' * 1000)") + FIRST
DISK = (
    SERIOUS.format(
        "    with open('/tmp/big', 'wb') as file:\n        while True:\n            file.write(b'x' * (1 << 20))"
    )
    + FIRST
)
MUTE = FIRST.replace("PAUSE_S = 0.05", "PAUSE_S = 600")  # it plays, and never answers


def harm() -> dict[str, str]:
    """What each bot does once it plays, by its name. Without a control group forks are held down, and end nobody."""
    bots = {"memory": MEMORY, "forks": FORKS, "disk": DISK, "flood": FLOOD}
    return {name: source for name, source in bots.items() if name != "forks" or "pids" not in cgroups().lacks()}


def good_ones(arena: RunningArena) -> tuple[int, int]:
    """The rated matches of the two good ones, and in how many they had a fault."""
    ranked = [one for one in arena.opened.store.run(queries.rankings, "duel") if one.bot in ("good", "fine")]
    return sum(one.matches for one in ranked), sum(one.faulted for one in ranked)


async def test_bots_that_turn_bad_are_taken_off_and_others_play_on(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residents_module, "FIRST_WAIT_S", 0.1)
    monkeypatch.setattr(residents_module, "LONGEST_WAIT_S", 0.2)
    owners = ("ann", "bob", "memory", "forks", "flood", "disk")
    keys = dict(zip(owners, tokens(short, *owners), strict=True))
    async with running_desk(short, runner="bubblewrap") as arena:
        await handed_in(author_of(arena, keys["ann"]), bot_folder(short, name="good"))
        await handed_in(author_of(arena, keys["bob"]), bot_folder(short, name="fine"))
        # Without control groups the stacks of its threads count whole, and in 64 it would not even begin.
        little = 256 if "memory" in cgroups().lacks() else 64
        for name, source in harm().items():
            more = f"limits = {{memory_mb = {little}}}" if name == "memory" else ""
            author = author_of(arena, keys[name])
            await author.submit(bot_folder(short, source, name=name, more=more))
            shown = await author.until(name, "1", "running", "taken off")
            if name != "flood":  # who only talks is not heard, and may go on
                shown = await author.until(name, "1", "taken off")
                assert "it ended 5 times in a row, each soon after its start; the last time it " in shown.why
                assert "\n" not in shown.why
                assert str(short) not in shown.why
        before, _ = good_ones(arena)
        await until_so(lambda: good_ones(arena)[0] >= before + 2)
        assert good_ones(arena)[1] == 0
        flood = author_of(arena, keys["flood"])
        talk = ""
        while "\\x1b[2J" not in talk:  # on a busy machine it has only just been started
            talk = (await flood.ask(lambda calls: calls.log("flood"))).talk
        assert "\x1b" not in talk
        assert len(talk) < 2_500_000
        await flood.ask(lambda calls: calls.retire("flood"))
    assert "broke" not in arena.log


def sockets_of_bots(folder: Path) -> int:
    """The connections that bots have with the server, by what the kernel says of its sockets."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return sum(line.endswith(f"{folder}/test.db.bots/run/server.sock") and line.split()[5] == "03" for line in lines)


async def test_a_bot_that_dials_and_calls_without_bound_costs_nobody_else_anything(short: Path) -> None:
    ann, bob, eve = tokens(short, "ann", "bob", "eve")
    async with running_desk(short, runner="bubblewrap") as arena:
        await handed_in(author_of(arena, ann), bot_folder(short, name="good"))
        await handed_in(author_of(arena, bob), bot_folder(short, name="fine"))
        began = asyncio.get_running_loop().time()
        await handed_in(author_of(arena, eve), bot_folder(short, SUBMITTED, name="dials", files=SUBMITTED_FILES))
        before, _ = good_ones(arena)
        most = 0

        def refused() -> int:
            return sum(arena.opened.arena.counts.streams_refused.values())

        def is_enough() -> bool:
            nonlocal most
            most = max(most, sockets_of_bots(short))
            bounds = ("connections at once", "connections a second", "bytes and calls a second")
            met = all(f'"bound": "{bound}"' in arena.log for bound in bounds)
            return met and most > 2 and refused() > 0 and good_ones(arena)[0] >= before + 2

        await until_so(is_enough)
        seconds = asyncio.get_running_loop().time() - began
        assert good_ones(arena)[1] == 0
        assert most <= 3 * MAX_CONNECTIONS
        assert refused() <= (AT_ONCE_BYTES + BYTES_PER_S * seconds) / CALL_BYTES
        assert arena.log.count('"resident held back"') == 3
    assert "broke" not in arena.log


@pytest.mark.soak
async def test_a_bot_that_falls_silent_is_paused_and_then_not_run(short: Path) -> None:
    quick = TimeControl(base_ms=300, bank_ms=300)
    ann, bob = tokens(short, "ann", "bob")
    async with running_desk(short, [Ladder("duel", "greed", 2, control=quick)], runner="bubblewrap") as arena:
        await handed_in(author_of(arena, ann), bot_folder(short, MUTE))
        await handed_in(author_of(arena, bob), bot_folder(short, name="fine"))
        await until_so(lambda: "resident paused" in arena.log)
        shown = await author_of(arena, ann).ask(lambda calls: calls.one("sneak", "1"))
        while shown.is_running:
            shown = await author_of(arena, ann).ask(lambda calls: calls.one("sneak", "1"))
        assert (shown.is_active, submission_state(shown)) == (True, "accepted")
        (bot,) = [entry for entry in arena.opened.store.run(queries.bots, "ann") if entry.bot == "sneak"]
        assert bot.paused is not None
        assert arena.log.count('"resident started"') == 2  # each once: it is not started while it is paused
        why = "ann/sneak:1 is paused: it was taken over in too many of its recent rated matches. Mend it, then: "
        assert shown.why.startswith(why)
        for words, told in ((["submitted"], why), (["change", "sneak:1", "--play"], f"does not run now: {why}")):
            asked = partial(cutpurse, "bot", *words, folder=short, CUTPURSE_SERVER=arena.address, CUTPURSE_TOKEN=ann)
            ran = await asyncio.to_thread(asked)
            assert (ran.returncode, told in ran.stdout + ran.stderr) == (0, True), ran


@pytest.mark.parametrize(
    ("build", "why"),
    [
        ("while True: pass", "it took longer than its 3 s"),
        ("kept = [b'x' * (1 << 20) for _ in range(1 << 20)]", "emory"),  # without control groups a MemoryError
        ("f = open('big', 'wb')\nwhile True: f.write(b'x' * (1 << 20))", "its build failed: it "),
        ("import socket; socket.create_connection(('1.1.1.1', 80), 5)", "its build failed: it ended by itself"),
        ("import os; [os.symlink('/etc/passwd', 'l%d' % n) for n in range(50_000)]", "its build failed: it "),
        ("open('big', 'wb').truncate(65 << 20)", "its build left more than 64 MiB behind, or too many files: let it "),
        ("open('/etc/hacked', 'w')", "its build failed: it ended by itself"),
        ("import os; os.kill(1, 9); os.kill(os.getppid(), 9); raise SystemExit(1)", "its build failed: it "),
    ],
    ids=["for ever", "memory", "disk", "network", "links", "leaves too much", "outside", "kill"],
)
async def test_build_steps_that_mean_harm_fail_with_their_cause(
    short: Path, monkeypatch: pytest.MonkeyPatch, build: str, why: str
) -> None:
    monkeypatch.setattr("cutpurse.server.parts.submissions.tasks.BUILD_S", 3.0 if "took longer" in why else 60.0)
    async with running_desk(short, runner="bubblewrap") as arena:
        author = author_of(arena)
        await author.submit(bot_folder(short, more='build = ["python", "b.py"]', files={"b.py": build}))
        shown = await author.until("sneak", "1", "refused")
        assert why in shown.why
        assert str(short) not in shown.why
        assert [path.name for path in (short / "test.db.bots" / shown.sha256.hex()).iterdir()] == ["bot.zip"]


@pytest.mark.soak
async def test_links_that_a_build_leaves_behind_lead_nobody_anywhere(short: Path) -> None:
    build = (
        "import os\nos.symlink('/etc/passwd', 'passwd')\nos.symlink('..', 'up')\nos.mkdir('locked')\n"
        "open('locked/x', 'w').close()\nos.chmod('locked', 0)\nos.symlink('/', 'locked2')\n"
    )
    (short / "precious").write_text("kept")
    async with running_desk(short, runner="bubblewrap") as arena:
        author = author_of(arena)
        await handed_in(author, bot_folder(short, more='build = ["python", "b.py"]', files={"b.py": build}))
        shown = await author.ask(lambda calls: calls.retire("sneak"))
        await until_so(lambda: "resident stopped" in arena.log)
        store = arena.opened.store
        store.write(submissions.not_kept, [entry.id for entry in store.run(submission_queries.submissions)])
    async with running_desk(short, runner="bubblewrap"):  # what nobody knows of is removed, and nothing else
        await asyncio.sleep(0)
    assert not (short / "test.db.bots" / shown.sha256.hex()).exists()
    assert (short / "precious").read_text() == "kept"
    assert Path("/etc/passwd").exists()


@pytest.mark.soak
async def test_a_server_that_stops_in_the_middle_of_a_check_stops_soon_and_goes_on_later(short: Path) -> None:
    async with running_desk(short, runner="bubblewrap") as arena:
        author = author_of(arena)
        await author.submit(bot_folder(short))
        await author.until("sneak", "1", "built")
    assert '"stopped"' in arena.log
    async with running_desk(short, runner="bubblewrap") as arena:
        await author_of(arena).until("sneak", "1", "running")
