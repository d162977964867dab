"""An author submits bots on the page, sees them built and checked, and retires and activates versions."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.store import Store
from cutpurse.wire.packing import pack
from tests.looking import looks
from tests.submissions.desks import bot_folder, running_desk
from tests.web.accounts import OWN, Person, text_of

pytestmark = pytest.mark.timeout(400)  # programs are started, on a machine that may be busy


@pytest.fixture
def short() -> Iterator[Path]:
    """Create a folder with a short path, because paths of sockets are limited."""
    folder = Path(tempfile.mkdtemp(prefix="cut-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)  # a process of a killed server may still write there for a moment


async def submit(person: Person, content: bytes, ladders: str = "") -> httpx.Response:
    """Send the form with an archive."""
    key = re.findall(r'name="key" value="(\w+)"', (await person.get("/me")).text)[0]
    form, files = {"key": key, "ladders": ladders}, {"archive": ("bot.zip", content)}
    answer: httpx.Response = await asyncio.to_thread(
        lambda: person.http.post("/me/submit", data=form, files=files, headers=OWN)
    )
    return answer


async def until_said(person: Person, path: str, *said: str) -> str:
    """Load a page again until it says one of these texts; return its text."""
    async for _ in looks():
        page = (await person.get(path)).text
        if any(text in text_of(page) for text in said):
            break
    return page


async def test_an_author_submits_retires_and_rolls_back(short: Path) -> None:
    with Store(short / "test.db") as store:
        ((token, _),) = store.create_tokens([NewToken("ann")], datetime.now(UTC))
    async with running_desk(short) as arena:
        person = Person(arena.address)
        try:
            await person.sign_in(token.reveal())
            first = await submit(person, pack(bot_folder(short)).content, "duel")
            assert first.url.path == "/me/submissions/sneak/1"
            assert "data-pending" in first.text
            page = await until_said(person, "/me/submissions/sneak/1", "Sign out plays")
            assert "data-pending" not in page
            assert "Build and check" in page
            second = await submit(person, pack(bot_folder(short, version="2")).content)
            assert second.url.path == "/me/submissions/sneak/2"
            await until_said(person, "/me/submissions/sneak/2", "Sign out plays")
            back = await person.post("/me/bots/sneak/activate", {"version": "1"})
            assert back.url.path == "/me/submissions/sneak/1"
            await until_said(person, "/me/submissions/sneak/1", "Sign out plays")
            retired = await person.post("/me/bots/sneak/retire", {"version": "1"})
            assert retired.url.path == "/me/bots/sneak"
            assert "Let it play" in retired.text
            broken = await submit(person, pack(bot_folder(short, "raise SystemExit('<b>no</b>')", "bad")).content)
            page = await until_said(person, broken.url.path, "refused")
            assert "&lt;b&gt;no&lt;/b&gt;" in page
            assert "<b>no</b>" not in page
            nonsense = await submit(person, b"no archive")
            assert (nonsense.status_code, "no zip archive" in nonsense.text) == (400, True)
        finally:
            person.close()
