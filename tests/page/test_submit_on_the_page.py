"""An author submits bots on the page, sees them built and checked, and retires and activates versions."""

from __future__ import annotations

import asyncio
import re
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import httpx

from cutpurse.wire.packing import pack
from tests.looking import looks
from tests.page.accounts import OWN, Person, text_of
from tests.parts.submissions.desks import bot_folder, running_desk
from tests.server.tokens import tokens_in


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
    token = tokens_in(short / "test.db", "ann")["ann"]
    async with running_desk(short) as arena:
        person = Person(arena.address)
        try:
            await person.sign_in(token)
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
            packed = BytesIO()
            with ZipFile(packed, "w") as archive:
                archive.writestr("bot.toml", "a = " + "[" * 20_000)
            deep = await submit(person, packed.getvalue())
            assert (deep.status_code, "bot.toml: nested too deeply" in deep.text) == (400, True)
        finally:
            person.close()
