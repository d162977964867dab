"""Bots on rotations: a fresh process plays each match, and nothing of an earlier one is there, whatever a bot tries."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.match_file_writer import match_file
from cutpurse.leaderboard.recompute import recompute
from cutpurse.sdk.matches.match_file import check, read_matches
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches import open_boards as boards_module
from cutpurse.server.parts.submissions import hosted_bots as residents_module
from cutpurse.wire.errors import NotAuthorised
from tests.looking import until_so
from tests.parts.submissions.desks import FIRST, PATIENT, author_of, bot_folder, handed_in, running_desk
from tests.parts.submissions.test_desk import tokens
from tests.server.arenas import RunningArena

ROTATION = Ladder("rot", "greed", 2, control=PATIENT, boards="rotation")
PLAIN = Ladder("duel", "greed", 2, control=PATIENT)

# It looks for what an earlier process of its own may have left, then leaves it, in every place that it can think of.
REMEMBERS = r"""
import json, os, secrets, socket, subprocess, sys, time
from pathlib import Path
from cutpurse.sdk.run import run

ME, WORD = secrets.token_hex(8), "remember"
HOMES = ["/tmp", "/var/tmp", "/dev/shm", "/run", "/run/cutpurse", "/bot", "/", "/home", "/root", "/var", "/usr/tmp"]
HOMES += [os.environ.get("HOME", "/tmp"), os.environ.get("TMPDIR", "/tmp"), sys.prefix, os.path.dirname(os.__file__)]
kept = []

def found():
    seen = [f"file in {home}" for home in HOMES if os.path.exists(f"{home}/{WORD}")]
    seen += [f"variable {name}" for name in os.environ if name.startswith("REMEMBER")]
    with socket.socket(socket.AF_UNIX) as other:
        try:
            other.connect(f"\0{WORD}")
            seen.append("abstract socket")
        except OSError:
            pass
    others = {int(number) for number in os.listdir("/proc") if number.isdigit()} - {1, os.getpid(), os.getppid()}
    seen += [f"process {number}" for number in others]
    return seen

def marks():
    # When its own files were read, as far as can be seen, and changed.
    return [[path.name, path.stat().st_atime_ns, path.stat().st_ctime_ns] for path in sorted(Path("/bot").iterdir())]

def leave():
    left = []
    for home in HOMES:
        try:
            Path(f"{home}/{WORD}").write_text(ME)
            left.append(home)
        except OSError:
            pass
    for mark in Path("/bot").glob("mark*"):
        mark.read_text()  # the moment when it was read
        try:
            mark.chmod(0)
        except OSError:
            pass
    os.environ["REMEMBER"] = ME
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(f"\0{WORD}")
    listening.listen()
    kept.append(listening)
    kept.append(subprocess.Popen(["sh", "-c", f"trap '' TERM HUP; sleep 600; : {WORD}"], start_new_session=True))
    return left

FOUND, LEFT, MARKS = found(), None, marks()

class Bot:
    def choose(self, view, decision):
        global LEFT
        if LEFT is None and os.environ.get("CUTPURSE_TOKEN"):
            LEFT = leave()
            decision.note(json.dumps({"me": ME, "found": FOUND, "left": LEFT, "sees": found(), "marks": MARKS}))
        time.sleep(0.02)  # else many more matches are played than are looked at
        return decision.options[0]

    def end(self, result):
        print("heard the end", ME)

if __name__ == "__main__":
    raise SystemExit(run(Bot, "greed"))
"""


def boards_of(arena: RunningArena) -> dict[str, list[Any]]:
    """Its stored matches, by board."""
    found: dict[str, list[Any]] = defaultdict(list)
    for entry in arena.opened.store.run(queries.matches, limit=1_000):
        found[entry.board].append(entry)
    return found


def rated(arena: RunningArena) -> int:
    """Boards that are rated."""
    return sum(all(one.sequence is not None for one in board) for board in boards_of(arena).values())


def started(arena: RunningArena) -> list[dict[str, Any]]:
    """What the log says of processes that were started."""
    lines = [json.loads(line) for line in arena.log.splitlines()]
    return [line for line in lines if line.get("event") == "resident started"]


def told(arena: RunningArena, owner: str, bot: str) -> list[dict[str, Any]]:
    """What the bot noted, match by match."""
    logs = arena.opened.store.run(queries.logs, owner, bot, limit=1_000)
    return [json.loads(note.text) for one in logs for note in one.notes]


async def test_a_bot_that_tries_to_remember_finds_nothing_in_its_next_match(short: Path) -> None:
    owners = ("ann", "bob", "eve")
    keys = dict(zip(owners, tokens(short, *owners), strict=True))
    async with running_desk(short, [ROTATION], runner="bubblewrap") as arena:
        for owner in owners:
            folder = bot_folder(short, REMEMBERS, name=f"{owner}s", files={"mark1": "x", "mark2": "y"})
            await handed_in(author_of(arena, keys[owner]), folder, "rot")
        # The last one may come in when the others have played many boards.
        await until_so(lambda: rated(arena) >= 4 and all(len(told(arena, owner, f"{owner}s")) >= 2 for owner in owners))
        store = arena.opened.store
        for owner in owners:
            notes = told(arena, owner, f"{owner}s")
            assert len({note["me"] for note in notes}) == len(notes)  # no process played twice
            assert {tuple(note["found"]) for note in notes} == {()}
            assert len({json.dumps(note["marks"]) for note in notes}) == 1  # nor was it seen what it had read
            for note in notes:  # it did leave something, and would have seen it
                assert "/tmp" in note["left"]
                assert {"file in /tmp", "variable REMEMBER", "abstract socket"} <= set(note["sees"])
                assert [one for one in note["sees"] if one.startswith("process")]
        pids = Counter(line["pid"] for line in started(arena))
        assert sum(pids.values()) >= 8
        # Every bot has heard how its matches ended, and can read what it said in all of them.
        log = await author_of(arena, keys["ann"]).ask(lambda calls: calls.log("anns"))
        assert log.talk.count("heard the end") >= 1
        assert [one.differences for one in recompute(store)] == [()]
        for board in boards_of(arena).values():
            for entry in board:
                if entry.is_sealed:
                    continue
                (one,) = read_matches(match_file(entry, store.run(queries.record, entry.match)).encode())
                assert "it is a board of kind rotation" in " ".join(check(one).checked)
        whole = [board for board in boards_of(arena).values() if len(board) == 2 and board[0].sequence is not None]
        for board in whole:
            first, second = ([seat.bot for seat in entry.seats] for entry in sorted(board, key=lambda one: one.number))
            assert first == second[::-1]
            assert {seat.faults for entry in board for seat in entry.seats} == {0}
            assert all(seat.cpu_ms is not None for entry in board for seat in entry.seats)


@pytest.mark.soak
async def test_a_bot_on_a_rotation_and_a_plain_ladder_plays_all_of_it_by_fresh_processes(short: Path) -> None:
    keys = tokens(short, "ann", "bob")
    me = FIRST.replace("from cutpurse", "import json, secrets\nME = secrets.token_hex(8)\nfrom cutpurse", 1).replace(
        "return decision", "decision.note(json.dumps({'me': ME}))\n        return decision"
    )
    async with running_desk(short, [ROTATION, PLAIN], runner="bubblewrap") as arena:
        for owner, key in zip(("ann", "bob"), keys, strict=True):
            await handed_in(author_of(arena, key), bot_folder(short / owner, me), "rot", "duel")
        await until_so(lambda: {entry.ladder for entry in arena.opened.store.run(queries.matches)} == {"rot", "duel"})
        await until_so(lambda: rated(arena) >= 3)
        for owner in ("ann", "bob"):
            logs = arena.opened.store.run(queries.logs, owner, "sneak", limit=1_000)
            names = [{note.text for note in one.notes} for one in logs]
            assert all(len(one) == 1 for one in names)
            assert len(set.union(*names)) == len(names)


@pytest.mark.soak
async def test_a_bot_that_dies_in_its_matches_is_taken_off_and_its_boards_are_played_on(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residents_module, "FIRST_WAIT_S", 0.1)
    quick = Ladder("rot", "greed", 2, control=TimeControl(base_ms=1_000, bank_ms=3_000), boards="rotation")
    dies = FIRST.replace(
        "return decision",
        "import os\n        os.environ.get('CUTPURSE_TOKEN') and os._exit(3)\n        return decision",
    )
    ann, bob, eve = tokens(short, "ann", "bob", "eve")
    async with running_desk(short, [quick], runner="bubblewrap") as arena:
        await handed_in(author_of(arena, ann), bot_folder(short, dies, name="dies"), "rot")
        await handed_in(author_of(arena, bob), bot_folder(short, name="good"), "rot")
        await until_so(lambda: "resident taken off" in arena.log or "resident paused" in arena.log)
        await handed_in(author_of(arena, eve), bot_folder(short, name="fine"), "rot")
        await until_so(lambda: whole_boards_of(arena, "good", "fine") >= 2)
        faulted = {
            seat.bot
            for entry in arena.opened.store.run(queries.matches, limit=500)
            for seat in entry.seats
            if seat.faults
        }
        assert faulted == {"dies"}


def whole_boards_of(arena: RunningArena, *bots: str) -> int:
    """Rated boards of exactly these."""
    return sum(
        board[0].sequence is not None and {seat.bot for seat in board[0].seats} == {*bots}
        for board in boards_of(arena).values()
    )


@pytest.mark.soak
async def test_who_retires_in_the_middle_of_a_board_voids_it_and_the_others_play_on(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob, eve = tokens(short, "ann", "bob", "eve")
    async with running_desk(short, [ROTATION], runner="bubblewrap") as arena:
        for key, name in ((ann, "goes"), (bob, "good")):
            await handed_in(author_of(arena, key), bot_folder(short, name=name), "rot")
        await until_so(lambda: '"match ended"' in arena.log)
        await author_of(arena, ann).ask(lambda calls: calls.retire("goes"))
        monkeypatch.setattr(boards_module, "WAITS_S", 8.0)
        await handed_in(author_of(arena, eve), bot_folder(short, name="fine"), "rot")
        await until_so(lambda: whole_boards_of(arena, "good", "fine") >= 1)
        for board in boards_of(arena).values():  # all of it is rated, or nothing
            if len(board) == 2:
                assert len({one.sequence is None for one in board}) == 1
                assert any(one.void_cause is not None for one in board) == (board[0].sequence is None)


async def test_plain_processes_are_not_taken_for_rotations(short: Path) -> None:
    async with running_desk(short, [ROTATION, PLAIN]) as arena:
        author = author_of(arena)
        with pytest.raises(
            NotAuthorised, match="rot plays rotations, for bots that keep no memory; bots are run here as"
        ):
            await author.submit(bot_folder(short), "rot", "duel")
        await handed_in(author, bot_folder(short, version="2"), "duel")
