"""What an author sees and does on the page, by the rights that the author's token has on the command line."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from html import unescape

import pytest
from starlette.requests import Request
from starlette.types import Message

from cutpurse.leaderboard import queries
from cutpurse.page.forms import FormRefused, read_upload
from cutpurse.v1 import arena_pb2
from tests.leaderboard.sample_results import add_version, result
from tests.page.accounts import OWN, Person, text_of
from tests.server.league_world import LeagueWorld
from tests.server.raw_bot import RawBot

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
async def ann(world: LeagueWorld) -> AsyncIterator[Person]:
    person = Person(world.arena.address)
    await person.sign_in(world.tokens["ann"])
    yield person
    person.close()


def line_of(html: str) -> str:
    """Return the text of a page that says why nothing was done."""
    found = re.search(r"<h1>Not done</h1>\s*<p>(.*?)</p>", html, re.DOTALL)
    assert found, html
    return unescape(found[1])


async def test_an_author_sees_own_bots_and_private_ladders(world: LeagueWorld, ann: Person) -> None:
    home = (await ann.get("/me")).text
    assert 'href="/me/bots/sneak"' in home
    assert 'href="/me/bots/hush"' in home
    assert 'href="/me/ladders/hidden"' in home
    assert "thug" not in home
    assert "hush_too" not in home
    ladder = text_of((await ann.get("/me/ladders/hidden")).text)
    assert "Private: only owners who may play there and hosts see it." in ladder
    assert "cid/hush_too" in ladder
    bob = Person(world.arena.address)
    try:
        await bob.sign_in(world.tokens["bob"])
        assert "ladders/hidden" not in (await bob.get("/me")).text
        assert (await bob.get("/me/ladders/hidden")).status_code == 404
        assert (await bob.get("/me/bots/hush")).status_code == 404
    finally:
        bob.close()


async def test_an_author_sees_faults_notes_and_pauses_of_own_bots(world: LeagueWorld, ann: Person) -> None:
    page = (await ann.get("/me/bots/hush")).text
    text = text_of(page)
    assert "Decision 2: its own code failed: quietly" in text
    assert "Decision 1 whispered" in text
    assert 'href="/matches/feed' not in page  # a private match has no public page
    public = (await ann.get("/me/bots/sneak")).text
    assert 'href="/matches/match0001/replay?at=1&amp;seat=0"' in public
    assert (await ann.get("/me/bots/thug")).status_code == 404
    assert "End the pause" in public
    lifted = await ann.post("/me/bots/sneak/lift", {"version": "1.0"})
    assert lifted.url.path == "/me/bots/sneak"
    assert "End the pause" not in lifted.text
    again = await ann.post("/me/bots/sneak/lift", {"version": "1.0"})
    assert (again.status_code, "is not paused" in line_of(again.text)) == (404, True)


async def test_a_token_that_may_not_read_shows_no_logs(world: LeagueWorld) -> None:
    add_version(world.store, "player", "mute", "1")
    person = Person(world.arena.address)
    try:
        await person.sign_in(world.tokens["player"])
        assert "good for play" in text_of((await person.get("/me")).text)
        bot = text_of((await person.get("/me/bots/mute")).text)
        assert "this token is good for play, not for read or admin" in bot
    finally:
        person.close()


async def test_an_author_makes_and_revokes_own_tokens(world: LeagueWorld, ann: Person) -> None:
    made = await ann.post("/me/tokens", {"label": SCRIPT, "scopes": ["play", "read"], "days": "30"})
    token = re.findall(r"<code>(cutp_\w{38})</code>", made.text)[0]
    assert SCRIPT not in made.text
    assert "&lt;script&gt;alert(1)" in made.text
    async with RawBot(world.arena.address, token) as bot:
        assert (await bot.hello("sneak")).owner == "ann"
    listed = (await ann.get("/me/tokens")).text
    assert token not in listed
    assert token[5:13] in listed
    assert world.tokens["bob"][5:13] not in listed
    gone = await ann.post("/me/tokens/revoke", {"token": token[5:13]})
    assert gone.url.path == "/me/tokens"
    assert [one.revoked is not None for one in world.store.run(queries.tokens, "ann") if one.id == token[5:13]] == [
        True
    ]


@pytest.mark.parametrize(
    ("path", "form", "status", "line"),
    [
        ("/me/tokens", {"scopes": ["admin"]}, 403, "this token permits less: it lacks admin; ask an admin."),
        ("/me/tokens", {"scopes": ["play"], "days": "soon"}, 400, "'soon' is no number of days; it can be 1 to 3,650"),
        ("/me/tokens", {"scopes": ["play"], "days": "9999"}, 400, "'9999' is no number of days; it can be 1 to 3,650"),
        ("/me/tokens/revoke", {"token": "{bob}"}, 404, "ann has no such token"),
        ("/me/match", {"ladder": "duel", "bots": "no/bo/t"}, 400, "'no/bo/t' names no bot"),
        ("/me/match", {"ladder": "nowhere", "bots": "sneak"}, 404, "no ladder is called 'nowhere'"),
        ("/me/bots/thug/lift", {}, 404, "there is no bot"),
        ("/me/bots/sneak/retire", {}, 503, "runs no submitted bots"),
    ],
)
async def test_what_the_server_refuses_is_told_in_its_words(
    world: LeagueWorld, ann: Person, path: str, form: dict[str, object], status: int, line: str
) -> None:
    before = [(one.id, one.revoked) for one in world.store.run(queries.tokens)]
    bob = world.tokens["bob"][5:13]
    fields = {name: value.format(bob=bob) if isinstance(value, str) else value for name, value in form.items()}
    refused = await ann.post(path, fields)
    assert (refused.status_code, line in line_of(refused.text)) == (status, True), line_of(refused.text)
    assert world.arena.address not in refused.text
    assert [(one.id, one.revoked) for one in world.store.run(queries.tokens)] == before


async def test_an_author_asks_for_a_match(world: LeagueWorld, ann: Person) -> None:
    games = [arena_pb2.GameWanted(game="greed", ladders=["duel"])]
    address, token = world.arena.address, world.tokens["ann"]
    async with RawBot(address, token) as old, RawBot(address, token) as new:
        await old.hello("sneak", version="8", games=games)
        await new.hello("sneak", version="9", games=games)
        answer = await ann.post("/me/match", {"ladder": "duel", "bots": "sneak:8, sneak:9"})
        assert (answer.status_code, answer.url.path.startswith("/me/matches/")) == (200, True), answer.text
        assert "It is being played" in answer.text or "It waits until each" in answer.text
        refused = await ann.post("/me/match", {"ladder": "duel", "bots": "sneak:9, sneak:9"})
        assert (refused.status_code, "sits at a table once" in line_of(refused.text)) == (400, True)


async def test_hostile_names_and_notes_are_text(world: LeagueWorld, ann: Person) -> None:
    hostile = add_version(world.store, "ann", '"><img src=x onerror=alert(1)>', "v'1")
    other = add_version(world.store, "bob", "thug", "2")
    world.store.submit(result("hostile00", [hostile, other], ladder="duel")).result()
    home = (await ann.get("/me")).text
    assert "<img src=x" not in home
    address = re.findall(r'href="(/me/bots/%22[^"]*)"', home)[0]
    page = await ann.get(address)
    assert page.status_code == 200
    assert "<img src=x" not in page.text
    assert "&lt;img src=x onerror=alert(1)&gt;" in page.text


async def test_a_server_that_runs_no_submitted_bots_says_so(ann: Person) -> None:
    assert "runs no submitted bots" in (await ann.get("/me")).text
    key = re.findall(r'name="key" value="(\w+)"', (await ann.get("/me")).text)[0]
    refused = await asyncio.to_thread(
        ann.http.post, "/me/submit", data={"key": key}, files={"archive": ("a.zip", b"PK")}, headers=OWN
    )
    assert (refused.status_code, "runs no submitted bots" in line_of(refused.text)) == (503, True)
    empty = await asyncio.to_thread(
        ann.http.post, "/me/submit", data={"key": key}, files={"archive": ("", b"")}, headers=OWN
    )
    assert (empty.status_code, "choose an archive" in line_of(empty.text)) == (400, True)
    keyless = await asyncio.to_thread(ann.http.post, "/me/submit", files={"archive": ("a.zip", b"PK")}, headers=OWN)
    assert (keyless.status_code, "not of this session" in line_of(keyless.text)) == (403, True)


async def upload(body: bytes, kind: str, most: int = 1_000) -> tuple[dict[str, str], bytes]:
    """Read a form with a file that comes in pieces."""
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)] or [b""]

    async def receive() -> Message:
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    headers = [(b"content-type", kind.encode()), (b"sec-fetch-site", b"same-origin")]
    scope = {"type": "http", "method": "POST", "path": "/me/submit", "headers": headers, "query_string": b""}
    return await read_upload(Request(scope, receive), most)


def form_of(content: bytes) -> bytes:
    return (
        b'--edge\r\nContent-Disposition: form-data; name="key"\r\n\r\nab\r\n'
        b'--edge\r\nContent-Disposition: form-data; name="archive"; filename="a.zip"\r\n'
        b"Content-Type: application/zip\r\n\r\n" + content + b"\r\n--edge--\r\n"
    )


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04", b"\r\n\r\n\r\n--edg", b"edge in a line\r\n-- edge", bytes(range(256))]
)
async def test_a_file_comes_as_it_was_sent(content: bytes) -> None:
    for kind in ("multipart/form-data; boundary=edge", 'multipart/form-data; boundary="edge"'):
        assert await upload(form_of(content), kind) == ({"key": "ab"}, content)


async def test_a_form_with_a_file_that_is_none_or_too_long() -> None:
    for kind in ("", "text/plain", "multipart/form-data", "multipart/form-data; boundary=" + "x" * 71):
        with pytest.raises(FormRefused, match="carries no file"):
            await upload(form_of(b"PK"), kind)
    kind = "multipart/form-data; boundary=edge"
    with pytest.raises(FormRefused, match="longer than any of ours"):
        await upload(form_of(b"x" * 4_000), kind)
    assert await upload(b"--edge--", kind) == await upload(b"", kind) == await upload(b"\r\n\r\n", kind) == ({}, b"")
