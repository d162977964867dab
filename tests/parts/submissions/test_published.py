"""Published versions: who may fetch them and when, and how they play at home by their names."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard import events
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.relations import EVENTS
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.bot import load_bot
from cutpurse.server.parts.submissions import submission_desk, submissions
from cutpurse.wire.errors import BotNotLoaded, NotAuthorised, NotFound, ServerRefused
from cutpurse.wire.packing import pack
from cutpurse.wire.published_bots import is_published, load_published, store_published
from cutpurse.wire.server_address import PUBLISHED_VARIABLE
from cutpurse.wire.submission_client import Submissions
from tests.looking import looks
from tests.parts.submissions.bad_archives import BAD
from tests.parts.submissions.desks import Author, author_of, bot_folder, handed_in, running_desk
from tests.server.arenas import RunningArena


def new_token_of(store: Store, owner: str) -> str:
    ((token, _),) = store.write(create_tokens, [NewToken(owner)], datetime.now(UTC))
    return token.reveal()


@asynccontextmanager
async def league_of_two(folder: Path) -> AsyncIterator[tuple[RunningArena, Author, Author, str]]:
    """Run a server on which ann has submitted sneak:1, then bob gets a token; yield it, their calls and that token."""
    with Store(folder / "test.db") as store:
        ann = new_token_of(store, "ann")
    async with running_desk(folder) as arena:
        author = author_of(arena, ann)
        await handed_in(author, bot_folder(folder))
        bob = new_token_of(arena.opened.store, "bob")
        other = author_of(arena, bob)
        async for _ in looks():  # until the server has read the tokens anew
            with suppress(NotAuthorised):
                await other.ask(lambda calls: calls.list())
                break
        yield arena, author, other, bob


async def cutpurse(folder: Path, arena: RunningArena, token: str, words: str) -> tuple[int, str, str]:
    """Run a command at home, in a folder, and return its exit code, stdout and stderr."""
    home = {"CUTPURSE_SERVER": arena.address, "CUTPURSE_TOKEN": token, PUBLISHED_VARIABLE: str(folder / "published")}
    pipe = asyncio.subprocess.PIPE
    command = [sys.executable, "-m", "cutpurse.cli", *words.split()]
    child = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **home}, cwd=folder, stdout=pipe, stderr=pipe
    )
    out, err = await child.communicate()
    return child.returncode or 0, out.decode(), err.decode()


async def test_a_published_bot_is_fetched_by_another_owner_and_played_at_home(short: Path) -> None:
    async with league_of_two(short) as (arena, author, _, bob):

        async def home(words: str) -> tuple[int, str, str]:
            return await cutpurse(short, arena, bob, words)

        code, _, said = await home("play greed ann/sneak:1 random random --matches 2")
        assert (code, "no published version is called ann/sneak:1" in said) == (4, True), said
        for words, line in (
            ("bot change sneak:1 --publish MIT", "ann/sneak:1 is published, under MIT"),
            ("bot change sneak:1 --publish MIT --play", "--play, --retire, --publish, --withdraw"),
            ("bot change sneak:1 --from 2027-01-31", "--from is for --publish"),
            ("bot change sneak:1 --publish no/licence", "name one of SPDX"),
        ):
            code, _, said = await cutpurse(short, arena, author.to.token, words)
            assert line in said, words
            assert (code == 0) == ("is published" in line), words
        code, listed, _ = await home("bot submitted ann/sneak")
        assert (code, "published, MIT" in listed) == (0, True)
        code, played, said = await home("play greed ann/sneak:1 random random --matches 2 --json")
        assert (code, json.loads(played)["matches"]) == (0, 2), said
        digest = pack(short / "sneak-1").digest.hex()
        assert f"ann/sneak:1: fetched from {arena.address}, licence MIT, SHA-256 {digest[:16]}..." in said
        assert "it runs as a program of yours, without a sandbox" in said
        code, compared, said = await home("compare greed ann/sneak:1 random --max-boards 5 --jobs 2 --json")
        assert (code, json.loads(compared)["new"], "ann/sneak:1: stored here" in said) == (0, "ann/sneak:1", True), said
        (short / "mine.py").write_text(TUNED)
        code, _, said = await home(
            "tune greed mine.py --param last=0..1 --against ann/sneak:1 --seats 2 --budget 200 --json"
        )
        assert (code, "ann/sneak:1: stored here" in said) == (0, True), said
        code, folder, _ = await home("bot submitted ann/sneak:1 --fetch")
        assert (code, (Path(folder.strip()) / "bot.py").is_file()) == (0, True)
        (short / "published" / "ann" / "sneak" / "1" / "files" / "bot.py").write_text("class Bot: pass")
        code, _, said = await home("play greed ann/sneak:1 random random")
        assert (code, "is not what the server sent any more" in said) == (3, True), said
        assert (await home("bot submitted ann/sneak:1 --fetch"))[0] == 0
        assert (await home("play greed ann/sneak:1 random random"))[0] == 0
        await author.ask(lambda calls: calls.publish("sneak", "1", ""))
        code, _, said = await home("bot submitted ann/sneak:1 --fetch")
        assert (code, "no published version is called ann/sneak:1" in said) == (4, True), said


TUNED = """
class Bot:
    def __init__(self, last=0):
        self.last = last

    def choose(self, view, decision):
        return decision.options[-1 if self.last else 0]
"""


def published_as(words: Sequence[Any], calls: Submissions) -> object:
    return calls.publish(*words)


async def test_others_see_only_what_is_published_by_now(short: Path) -> None:
    async with league_of_two(short) as (arena, ann, bob, token):

        async def brought() -> bytes:
            return await bob.ask(lambda calls: calls.archive("sneak", "1", "ann"))

        store, now = arena.opened.store, datetime.now(UTC)
        with pytest.raises(NotFound, match="no published version is called ann/sneak:1, or not yet"):
            await brought()
        later = int((now + timedelta(days=1)).timestamp() * 1_000)
        await ann.ask(lambda calls: calls.publish("sneak", "1", "MIT", later))
        with pytest.raises(NotFound, match="or not yet"):
            await brought()
        texts = {"id": "0123456789ab", "format": "tournament", "name": "", "started_by": "ann", "plan": "{}"}
        new = insert(EVENTS).values(**texts, phase="", created=now, outcome="", number=0)
        store.write_uncached(lambda connection: connection.execute(new).close())
        await ann.ask(lambda calls: calls.publish("sneak", "1", "MIT", 0, "0123456789ab"))
        assert await bob.ask(lambda calls: calls.list("sneak", "", "ann")) == []
        with pytest.raises(NotFound, match="or not yet"):
            await brought()
        store.write(events.end, "0123456789ab", "stopped", now)
        assert await brought() == pack(short / "sneak-1").content
        (entry,) = await bob.ask(lambda calls: calls.list("sneak", "", "ann"))
        assert (entry.licence, entry.state, entry.why, entry.received_ms) == ("MIT", 0, "", 0)
        (own,) = await ann.ask(lambda calls: calls.list("sneak"))
        assert (own.licence, own.public_after, own.public_from_ms) == ("MIT", "0123456789ab", 0)
        for words, kind, line in (
            (("sneak", "1", "MIT", 0, "ffffffffffff"), UsageError, "there is no event"),
            (("sneak", "1", "MIT", 2**60), UsageError, "it is before 2100"),
            (("sneak", "9", "MIT"), NotFound, "submitted no bot sneak:9"),
        ):
            with pytest.raises(kind, match=line):
                await ann.ask(partial(published_as, words))
        with pytest.raises(NotFound, match="bob has submitted no bot sneak"):
            await bob.ask(lambda calls: calls.publish("sneak", "1", "MIT"))
        await ann.ask(lambda calls: calls.publish("sneak", "1", "CC-BY-ND-4.0"))
        code, _, said = await cutpurse(short, arena, token, "play greed ann/sneak:1 random")
        assert (code, "ann/sneak:1 has the licence CC-BY-ND-4.0" in said) == (2, True), said
        fetch = "bot submitted ann/sneak:1 --fetch --accept-licence"
        assert (await cutpurse(short, arena, token, f"{fetch} MIT"))[0] == 2
        assert (await cutpurse(short, arena, token, f"{fetch} CC-BY-ND-4.0"))[0] == 0
        assert (await cutpurse(short, arena, token, "play greed ann/sneak:1 random"))[0] == 0


async def test_a_published_archive_stays_stored_and_only_some_are_published(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission_desk, "MOST_KEPT", 1)
    monkeypatch.setattr(submissions, "MOST_PUBLISHED", 1)
    async with running_desk(short) as arena:
        author = author_of(arena)
        await handed_in(author, bot_folder(short))
        with pytest.raises(UsageError, match="other bytes"):
            await author.submit(bot_folder(short / "other", "class Bot: ...", version="1"))
        await author.ask(lambda calls: calls.publish("sneak", "1", "MIT"))
        for version in "23":
            await handed_in(author, bot_folder(short, version=version))
        await author.submit(short / "sneak-3")  # each upload removes what nobody needs
        with pytest.raises(UsageError, match="1 versions of local are published, as many as may"):
            await author.ask(lambda calls: calls.publish("sneak", "3", "MIT"))
        stored = {entry.version: entry.is_kept for entry in await author.ask(lambda calls: calls.list())}
        assert stored == {"3": True, "2": False, "1": True}
        with pytest.raises(UsageError, match="its archive was deleted"):
            await author.ask(lambda calls: calls.publish("sneak", "2", "MIT"))


@pytest.mark.parametrize(("name", "make"), [pytest.param(*bad[:2], id=bad[0]) for bad in BAD])
def test_a_broken_archive_is_refused_and_nothing_is_stored(
    name: str, make: Callable[[], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PUBLISHED_VARIABLE, str(tmp_path))
    with pytest.raises(ServerRefused, match="is no bot that can be unpacked"):
        store_published("ann/sneak:1", make(), "MIT", "here")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    with pytest.raises(NotFound, match="cutpurse bot submitted ann/sneak:1 --fetch"):
        load_bot("ann/sneak:1")


def test_what_is_no_name_of_a_published_version() -> None:
    for name in ("sneak:1", "ann/sneak", "../sneak:1", "ann/../x:1", "ann/sneak:..", "ann/bot.py:bot", "a/b/c:1"):
        assert not is_published(name), name
    assert is_published("ann/sneak:1.0")


def test_a_program_is_played_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PUBLISHED_VARIABLE, str(tmp_path / "published"))
    source = "class Other: ...\n"
    archive = pack(bot_folder(tmp_path, source)).content
    stored = store_published("ann/sneak:1", archive, "MIT", "here")
    maker = load_bot("ann/sneak:1")
    assert (maker.name, maker.spec) == ("ann/sneak:1", stored.spec)
    assert maker.spec == f"exec:env -C {stored.folder} {sys.executable} bot.py"
    (tmp_path / "published" / "ann" / "sneak" / "1" / "published.json").write_text("{}")
    with pytest.raises(BotNotLoaded, match="cannot be read"):
        load_published("ann/sneak:1")


async def test_a_host_keeps_a_published_version_as_a_rung(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It plays on as a bot of an owner of the host, though its author retires it and publishes it no more."""
    monkeypatch.setenv(PUBLISHED_VARIABLE, str(short / "published"))
    with Store(short / "test.db") as store:
        tokens = {owner: new_token_of(store, owner) for owner in ("ann", "rungs")}
    async with running_desk(short, runner="bubblewrap") as arena:
        ann, rungs = (author_of(arena, tokens[owner]) for owner in ("ann", "rungs"))
        await handed_in(ann, bot_folder(short))
        await ann.ask(lambda calls: calls.publish("sneak", "1", "MIT"))
        content = await rungs.ask(lambda calls: calls.archive("sneak", "1", "ann"))
        stored = store_published("ann/sneak:1", content, "MIT", arena.address)
        assert pack(stored.folder).content == content, "the folder is what ann submitted"
        rung = await handed_in(rungs, stored.folder, "duel")
        assert (rung.owner, rung.bot, rung.version, rung.is_running) == ("rungs", "sneak", "1", True)
        await ann.ask(lambda calls: calls.publish("sneak", "1", ""))
        await ann.ask(lambda calls: calls.retire("sneak"))
        assert (await rungs.until("sneak", "1", "running")).sha256 == bytes.fromhex(stored.digest)
