"""Bots that are handed in to a real server: from an archive to the ladder, and what is refused on the way."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import grpc
import pytest

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.tokens import new_token
from cutpurse.sdk.submission_text import submission_state
from cutpurse.server.access.owners import BAD
from cutpurse.server.hosting.arena_stages import ArenaStage
from cutpurse.server.parts.submissions import hosted_bots as residents_module
from cutpurse.server.parts.submissions import submission_desk as desk_module
from cutpurse.server.parts.submissions import submission_queries
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.submitted_files import storage_beside
from cutpurse.v1 import ladder_pb2, submission_pb2, submission_pb2_grpc
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused
from cutpurse.wire.league import league_at
from cutpurse.wire.packing import pack
from tests.looking import looks, until_so
from tests.parts.submissions.bad_archives import good
from tests.parts.submissions.desks import FIRST, Author, author_of, bot_folder, handed_in, running_desk
from tests.server.arenas import RunningArena, running_arena
from tests.server.raw_bot import Ended, RawBot
from tests.server.tokens import tokens_in

QUITS = "import sys\nprint('I do not feel like it')\nsys.exit(4)\n"
# Plays its check, and ends as soon as it is on a server with a token.
TURNS = (
    """
import os, sys
if os.environ.get("CUTPURSE_TOKEN"):
    print("now it is serious")
    sys.exit(9)
"""
    + FIRST
)


def tokens(folder: Path, *owners: str) -> list[str]:
    """Create a token for each."""
    return list(tokens_in(folder / "test.db", *owners).values())


async def lift(address: str, token: str) -> None:
    """Ask for an end of a pause, which takes the scope play."""
    request = ladder_pb2.LiftPauseRequest(bot=ladder_pb2.BotName(bot="sneak", version="1"))

    def asked() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CUTPURSE_TOKEN", token)
            with league_at(address) as league:
                league.LiftPause(request)

    await asyncio.to_thread(asked)


def matches_of(arena: RunningArena, bot: str) -> int:
    """How many stored matches it sat in."""
    return sum(seat.bot == bot for match in arena.opened.store.run(queries.matches, limit=500) for seat in match.seats)


async def test_two_authors_bots_meet_on_a_ladder_and_are_rated(short: Path) -> None:
    ann, bob = tokens(short, "ann", "bob")
    async with running_desk(short, runner="bubblewrap") as arena:
        await handed_in(author_of(arena, ann), bot_folder(short), "duel")
        shown = await handed_in(author_of(arena, bob), bot_folder(short, name="other"))
        assert (shown.owner, shown.is_active, shown.why) == ("bob", True, "")
        await until_so(
            lambda: len(arena.opened.store.run(queries.rankings, "duel")) == 2 and matches_of(arena, "sneak") >= 3
        )
        (match, *_) = arena.opened.store.run(queries.matches, limit=1)
        names = {(seat.owner, seat.bot, seat.version) for seat in match.seats}
        assert names == {("ann", "sneak", "1"), ("bob", "other", "1")}
        for seat in match.seats:  # what its process used is on its seat
            assert seat.cpu_ms is not None
            assert seat.peak_bytes is not None
            assert seat.peak_bytes > 1_000_000
        told = await author_of(arena, ann).ask(lambda calls: calls.log("sneak"))
        assert "hello from" in told.talk
        assert str(short) not in told.talk + told.check
        assert "greed, against itself: passed: 4 seats" in told.check
        with pytest.raises(NotFound, match="ann has submitted no bot other"):
            await author_of(arena, ann).ask(lambda calls: calls.log("other"))
    assert "resident stopped" in arena.log
    assert ann not in arena.log


async def test_versions_take_over_and_can_be_rolled_back(short: Path) -> None:
    async with running_desk(short) as arena:
        author = author_of(arena)
        first = bot_folder(short)
        await handed_in(author, first)
        again = await author.submit(first)  # the same bytes: the same answer
        assert (submission_state(again), again.is_active) == ("accepted", True)
        with pytest.raises(UsageError, match=r"sneak:1 was submitted for every ladder of its games, not for duel"):
            await author.submit(first, "duel")
        (first / "bot.py").write_text(FIRST + "\n# changed\n")
        with pytest.raises(UsageError, match=r"sneak:1 was submitted with other bytes .*another version"):
            await author.submit(first)
        await handed_in(author, bot_folder(short, version="2"))
        old = await author.until("sneak", "1", "accepted")
        assert not old.is_active
        await author.ask(lambda calls: calls.activate("sneak", "1"))
        await author.until("sneak", "1", "running")
        assert not (await author.ask(lambda calls: calls.one("sneak", "2"))).is_active
        retired = await author.ask(lambda calls: calls.retire("sneak"))
        assert (retired.version, retired.is_active) == ("1", False)
        with pytest.raises(NotFound, match="no such version of sneak plays"):
            await author.ask(lambda calls: calls.retire("sneak"))
        await until_so(lambda: arena.log.count("resident stopped") >= 3)
        fetched = await author.ask(lambda calls: calls.archive("sneak", "2"))
        assert fetched == pack(short / "sneak-2").content


async def test_a_build_step_makes_what_is_run(short: Path) -> None:
    build = "from pathlib import Path\nPath('bot.py').write_text(Path('source.txt').read_text())\nprint('made it')\n"
    more = 'build = ["python", "build.py"]'
    folder = bot_folder(short, "raise SystemExit(1)", more=more, files={"build.py": build, "source.txt": FIRST})
    async with running_desk(short, runner="bubblewrap") as arena:
        author = author_of(arena)
        await handed_in(author, folder)
        log = (await author.ask(lambda calls: calls.log("sneak"))).check
        assert "made it" in log
        assert "built with" in log
        talks = [path.name for path in (storage_beside(short / "test.db") / "talk").iterdir()]
        assert all(name.isdecimal() for name in talks), talks  # what build and check said is in the log, and gone


@pytest.mark.parametrize(
    ("source", "more", "files", "why"),
    [
        (QUITS, "", {}, "handshake: the program ended: it ended by itself, with exit code 4; its last words: I do not"),
        (FIRST, 'build = ["python", "b.py"]', {"b.py": "print('no')\nraise SystemExit(7)"},
         "its build failed: it ended by itself, with exit code 7; its last words: no"),
        (FIRST.replace("return decision.options[0]", "raise ValueError('oh')"), "", {},
         "its check failed at greed, a match: it gave up at decision"),
    ],
    ids=["quits", "does not build", "raises"],
)  # fmt: skip
async def test_what_fails_is_told_with_its_reason_and_may_be_mended(
    short: Path, monkeypatch: pytest.MonkeyPatch, source: str, more: str, files: dict[str, str], why: str
) -> None:
    async with running_desk(short, runner="bubblewrap") as arena:
        author = author_of(arena)
        await author.submit(bot_folder(short / "bad", source, more=more, files=files))
        shown = await author.until("sneak", "1", "refused")
        assert why in shown.why
        assert str(short) not in shown.why
        log = await author.ask(lambda calls: calls.log("sneak"))
        assert log.check.splitlines()[-1] == shown.why
        if source is QUITS:  # the same version may come again: it never played
            await handed_in(author, bot_folder(short / "mended"))


async def test_a_bot_that_keeps_ending_is_taken_off_with_the_cause(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(residents_module, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(residents_module, "LONGEST_WAIT_S", 0.05)
    async with running_desk(short, runner="bubblewrap") as arena:
        author = author_of(arena)
        await author.submit(bot_folder(short, TURNS))
        shown = await author.until("sneak", "1", "taken off")
        assert shown.why == (
            "it ended 5 times in a row, each soon after its start; the last time it ended by itself, with exit code 9; "
            "its last words: now it is serious"
        )
        assert not shown.is_active
        assert arena.log.count("resident started") == 5
        assert "now it is serious" in (await author.ask(lambda calls: calls.log("sneak"))).talk


async def test_what_was_received_is_there_after_the_server_is_started_anew(short: Path) -> None:
    folder = bot_folder(short)
    async with running_desk(short) as arena:
        received = await author_of(arena).submit(folder)
        assert submission_state(received) in ("received", "unpacked", "built")
    async with running_desk(short) as arena:  # it is taken up again
        await author_of(arena).until("sneak", "1", "running")
        storage = short / "test.db.bots"
        assert storage.stat().st_mode & 0o777 == 0o700
        half = storage / ("ab" * 32)
        half.mkdir()
        (half / "bot.zip.part").write_bytes(b"half of it")
        digest = pack(folder).digest.hex()
        assert (storage / digest / "bot.zip").read_bytes() == pack(folder).content
    async with running_desk(short) as arena:  # it plays on, and what was half received is gone
        await author_of(arena).until("sneak", "1", "running")
        assert not half.exists()
        assert len(arena.opened.store.run(submission_queries.submissions)) == 1


async def test_quotas_are_told(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk_module, "MOST_BOTS", 1)
    monkeypatch.setattr(desk_module, "MOST_KEPT", 2)
    async with running_desk(short) as arena:
        author = author_of(arena)
        for version in ("1", "2", "3"):
            await handed_in(author, bot_folder(short, version=version))
        with pytest.raises(ServerRefused, match=r"1 bot of local plays already \(sneak\), as many as may: retire one"):
            await author.submit(bot_folder(short, name="second"))
        kept = {one.version: one.is_kept for one in await author.ask(lambda calls: calls.list("sneak"))}
        assert kept == {"3": True, "2": True, "1": False}
        with pytest.raises(NotFound, match="was deleted"):
            await author.ask(lambda calls: calls.archive("sneak", "1"))
        with pytest.raises(UsageError, match="was deleted: submit it again"):
            await author.ask(lambda calls: calls.activate("sneak", "1"))
        again = await author.submit(short / "sneak-1")
        assert again.is_kept


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (lambda packed: packed | {"content": packed["content"][:-1]}, UsageError, "cut off"),
        (lambda packed: packed | {"content": b"nothing"}, UsageError, "no zip archive"),
        (lambda packed: packed | {"content": good().replace(b"bot.toml", b"bat.toml")}, UsageError, "has no bot.toml"),
        (lambda packed: packed | {"ladders": ["nowhere"]}, NotFound, "no ladder is called 'nowhere'; there are: duel"),
        (lambda packed: packed | {"ladders": ["x" * 99] * 101}, UsageError, "too many ladders"),
    ],
    ids=["cut", "nothing", "no manifest", "no ladder", "many ladders"],
)  # fmt: skip
async def test_what_is_not_taken_is_told_at_once_and_leaves_nothing(
    short: Path, change: Callable[[dict[str, object]], dict[str, object]], error: type[CutpurseError], told: str
) -> None:
    async with running_desk(short) as arena:
        packed = pack(bot_folder(short))
        sent = change({"content": packed.content, "ladders": []})
        content, ladders = sent["content"], sent["ladders"]
        assert isinstance(content, bytes)
        assert isinstance(ladders, list)
        with pytest.raises(error, match=told):
            await author_of(arena).ask(lambda calls: calls.submit(content, ladders))
        assert arena.opened.store.run(submission_queries.submissions) == []
        assert sorted(path.name for path in (short / "test.db.bots").iterdir()) == ["run", "talk"]


def lies(content: bytes, **head: object) -> list[submission_pb2.SubmitRequest]:
    told = {"sha256": sha256(content).digest(), "size": len(content), **head}
    return [
        submission_pb2.SubmitRequest(head=submission_pb2.SubmissionHead(**told)),  # type: ignore[arg-type]
        submission_pb2.SubmitRequest(piece=content),
    ]


@pytest.mark.parametrize(
    ("requests", "told"),
    [
        (lies(b"abc", size=2), "more bytes came than the 2 that were announced"),
        (lies(b"abc", size=4), "3 bytes came, not as many as were announced"),
        (lies(b"abc", size=2**40), "is not taken; the maximum is 16,777,216"),
        (lies(b"abc", size=0), "is not taken"),
        (lies(b"abc", sha256=b"short"), "no SHA-256 of 32 bytes"),
        (lies(b"abc", sha256=bytes(32)), r"does not match its SHA-256"),
        (lies(b"abc")[1:], "the head comes first"),
        (lies(b"abc") * 2, "the head comes once, and first"),
        ([], "0 bytes came"),
    ],
)
async def test_who_lies_about_what_he_sends_is_refused(
    short: Path, requests: list[submission_pb2.SubmitRequest], told: str
) -> None:
    def submit(address: str) -> None:
        with grpc.insecure_channel(address) as channel:
            submission_pb2_grpc.SubmissionServiceStub(channel).Submit(iter(requests))

    async with running_desk(short) as arena:
        # Not by grpc.aio: it reports INTERNAL when the server's refusal arrives during a write.
        with pytest.raises(grpc.RpcError, match=told) as raised:
            await asyncio.to_thread(submit, arena.address)
        assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert len(await author_of(arena).ask(lambda calls: calls.list())) == 0  # it answers on


async def test_tokens_are_asked_for_and_a_bots_own_hands_in_nothing(short: Path) -> None:
    (ann,) = tokens(short, "ann")
    async with running_desk(short, runner="bubblewrap") as arena:
        with pytest.raises(NotAuthorised):
            await Author(arena.address).ask(lambda calls: calls.list())
        author = author_of(arena, ann)
        source = FIRST.replace('"hello from", __file__', '__import__("os").environ.get("CUTPURSE_TOKEN", "")')
        await handed_in(author, bot_folder(short, source))
        async for _ in looks():
            if said := (await author.ask(lambda calls: calls.log("sneak"))).talk.split():
                break
        stolen = said[0]  # it may have said more by now
        with pytest.raises(NotAuthorised, match="this token is a bot's own"):
            await author_of(arena, stolen).submit(bot_folder(short, name="more"))
        with pytest.raises(NotAuthorised, match="this token is a bot's own"):
            await author_of(arena, stolen).ask(lambda calls: calls.archive("sneak"))
        with pytest.raises(NotAuthorised):  # nor does it answer for its owner elsewhere
            await lift(arena.address, stolen)
        await author.ask(lambda calls: calls.retire("sneak"))
        await until_so(lambda: "resident stopped" in arena.log)
        with pytest.raises(NotAuthorised):  # it was good while that process lived
            await author_of(arena, stolen).ask(lambda calls: calls.list())


async def told_to(channel: grpc.aio.Channel, token: str) -> str:
    """Ask for the list of an author; return why it was refused, if it was."""
    stub = submission_pb2_grpc.SubmissionServiceStub(channel)
    try:
        await stub.ListSubmissions(submission_pb2.ListSubmissionsRequest(), metadata=bearer(token))
    except grpc.aio.AioRpcError as problem:
        return problem.details() or ""
    return ""


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


async def test_who_guesses_tokens_keeps_no_author_from_asking(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (ann,) = tokens(short, "ann")
    monkeypatch.setattr("cutpurse.server.access.entrance.HELD_S", 3_600.0)
    monkeypatch.setattr("cutpurse.server.parts.submissions.submission_service.MOST_CALLS", 3)
    async with running_desk(short) as arena, grpc.aio.insecure_channel(arena.address) as channel:
        refused = arena.opened.arena.counts.streams_refused
        for _ in range(10):
            assert await told_to(channel, new_token().reveal()) == BAD
        held = [asyncio.create_task(told_to(channel, new_token().reveal())) for _ in range(3)]
        await until_so(lambda: refused["TOKEN_INVALID"] == 13)  # those who wait to be told, too
        assert await told_to(channel, ann) == ""
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)


async def test_an_archive_that_is_not_read_is_not_kept_in_memory_and_keeps_no_other_author_waiting(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = tokens(short, "ann", "bob")
    monkeypatch.setattr("cutpurse.server.parts.submissions.submission_service.MOST_BY_OWNER", 3)
    read, sizes = Storage.piece, list[int]()

    def counted(self: Storage, digest: bytes, at: int, size: int) -> bytes:
        sizes.append(size)
        return read(self, digest, at, size)

    monkeypatch.setattr(Storage, "piece", counted)
    async with (
        running_desk(short, runner="bubblewrap") as arena,
        grpc.aio.insecure_channel(arena.address) as channel,
        grpc.aio.insecure_channel(arena.address, options=[("grpc.use_local_subchannel_pool", 1)]) as unread,
    ):
        folder = bot_folder(short)
        (folder / "book.bin").write_bytes(random.Random(1).randbytes(12_000_000))
        await author_of(arena, ann).submit(folder)
        asked = submission_pb2.GetArchiveRequest(bot="sneak", version="1")
        stub = submission_pb2_grpc.SubmissionServiceStub(unread)
        calls = [stub.GetArchive(asked, metadata=bearer(ann)) for _ in range(3)]
        for call in calls:
            await call.read()
            await call.read()  # after the submission the first piece, and no more
        assert "3 calls of ann are being answered" in await told_to(channel, ann)
        assert await told_to(channel, bob) == ""
        assert 0 < sum(sizes) < 3 * 12_000_000
        assert max(sizes) < 65_536
        for call in calls:
            call.cancel()


async def test_nobody_runs_by_himself_what_the_server_runs_and_nobody_hands_in_what_he_runs(short: Path) -> None:
    """Each would take over from the other, and the open matches of both would be lost, with three faults in a row."""
    folder = bot_folder(short)
    async with running_desk(short) as arena:
        async with RawBot(arena.address) as mine:
            await mine.hello("sneak")
            with pytest.raises(UsageError, match=r"^.*sneak:1 plays here already, and you run it: end it with Ctrl-C"):
                await author_of(arena).submit(folder)
            assert arena.opened.store.run(submission_queries.submissions) == []
            assert [bot.identity.shown for bot in arena.opened.lobby.here()] == ["sneak:1"]
        await until_so(lambda: arena.opened.lobby.here() == [])
        shown = await handed_in(author_of(arena), folder)
        await until_so(lambda: [bot.identity.shown for bot in arena.opened.lobby.here()] == ["sneak:1"])
        async with RawBot(arena.address) as mine:
            with pytest.raises(Ended) as ended:
                await mine.hello("sneak")
            assert ended.value.reason == "HELLO"
            assert "sneak:1 was submitted, and the server runs it: give this one another version" in ended.value.text
            assert [bot.identity.shown for bot in arena.opened.lobby.here()] == ["sneak:1"]
        again = await author_of(arena).submit(folder)  # the same bytes again are not what somebody else runs
        assert (again.sha256, again.is_running) == (shown.sha256, True)
        async with RawBot(arena.address) as mine:
            assert (await mine.hello("sneak", version="2")).version == "2"


async def test_while_the_server_stops_nothing_is_taken(short: Path) -> None:
    async with running_desk(short) as arena:
        author = author_of(arena)
        arena.opened.arena.stage = ArenaStage.DRAINING
        with pytest.raises(CutpurseError, match="stopping and accepts nothing"):
            await author.submit(bot_folder(short))
        arena.opened.arena.stage = ArenaStage.OPEN
        assert submission_state(await author.submit(bot_folder(short, version="2"))) == "received"


async def test_a_server_without_it_says_so(short: Path) -> None:
    async with running_arena(short, address=f"unix:{short}/s") as arena:
        with pytest.raises(ServerRefused, match="runs no submitted bots"):
            await author_of(arena).submit(bot_folder(short))


async def test_plain_processes_are_for_one_owner_on_his_own_machine(short: Path) -> None:
    tokens(short, "ann", "bob")
    with pytest.raises(UsageError, match=r"2 owners have tokens, .* use --submissions bubblewrap"):
        async with running_desk(short):
            pass


def test_what_is_logged_is_one_line_of_json_each(short: Path) -> None:
    """Names of strangers are in it."""

    async def handed() -> str:
        async with running_desk(short) as arena:
            content = good(a__py=b"x").replace(b"a.py", b"a\n.p")
            with pytest.raises(UsageError, match="the name"):
                await author_of(arena).ask(lambda calls: calls.submit(content))
            return arena.log

    for line in asyncio.run(handed()).splitlines():
        assert json.loads(line)["event"]
