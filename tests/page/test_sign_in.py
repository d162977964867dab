"""Signing in with a token or a link, the session in the cookie, and how it ends; and what strangers cannot do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.owner_registry import revoke_token
from cutpurse.leaderboard.tokens import new_token
from tests.page.accounts import OWN, Person, text_of, token_made
from tests.page.serving import page_of
from tests.server.arenas import running_arena
from tests.server.league_world import LeagueWorld

COOKIE = "__Host-cutpurse"


@pytest.fixture
async def person(world: LeagueWorld) -> AsyncIterator[Person]:
    person = Person(world.arena.address)
    yield person
    person.close()


async def test_a_token_signs_its_owner_in(world: LeagueWorld, person: Person) -> None:
    assert (await person.get("/me")).url.path == "/sign-in"
    answer = await person.sign_in(f" {world.tokens['ann']}\n")
    assert (answer.status_code, answer.url.path) == (200, "/me")
    assert "Signed in as ann , good for play, read." in text_of(answer.text)
    assert world.tokens["ann"] not in answer.text
    cookie = answer.history[0].headers["set-cookie"]
    token = world.tokens["ann"]
    assert cookie == f"{COOKIE}={token}; HttpOnly; Max-Age=2592000; Path=/; SameSite=strict; Secure"


async def test_the_cookie_lasts_no_longer_than_the_token(world: LeagueWorld, person: Person) -> None:
    expires = datetime.now(UTC) + timedelta(hours=1)
    token = await asyncio.to_thread(token_made, world, "read", expires=expires)
    answer = await person.sign_in(token)
    found = re.search(r"Max-Age=(\d+)", answer.history[0].headers["set-cookie"])
    assert found
    assert 3_500 < int(found[1]) <= 3_600
    assert "good for read until" in text_of(answer.text)


async def test_a_link_signs_in_once(world: LeagueWorld, person: Person) -> None:
    code = await asyncio.to_thread(token_made, world, "link", "play", "read")
    link = f"https://page.test/sign-in#{code}"
    assert (await person.get(link)).status_code == 200  # a mail program that looks at the address uses nothing up
    answer = await person.sign_in(link)
    assert "Signed in as ann" in text_of(answer.text)
    assert person.http.cookies[COOKIE] != code
    other = Person(world.arena.address)
    try:
        again = await other.sign_in(f"#{code}")
        assert (again.status_code, "This link was used before" in again.text) == (403, True)
        refused = await other.sign_in(code)  # a code is no token
        assert (refused.status_code, "This token is not valid here" in refused.text) == (403, True)
        assert COOKIE not in other.http.cookies
    finally:
        other.close()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("revoked", "This token is not valid here"),
        ("unknown", "This token is not valid here"),
        ("no token", "That is no token"),
    ],
)
async def test_a_bad_token_signs_nobody_in(world: LeagueWorld, person: Person, name: str, said: str) -> None:
    answer = await person.sign_in(world.tokens[name])
    assert (answer.status_code, said in answer.text) == (403, True)
    assert "set-cookie" not in answer.headers
    assert world.tokens[name] not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.test"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.test"},
        {"Origin": "null"},
        {},
    ],
)
async def test_another_site_signs_nobody_in_or_out(world: LeagueWorld, person: Person, headers: dict[str, str]) -> None:
    """Otherwise it could have a visitor act in another's name."""
    refused = await person.sign_in(world.tokens["cid"], headers)
    assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)
    await person.sign_in(world.tokens["ann"])
    for path in ("/sign-out", "/me/tokens", "/me/tokens/revoke", "/me/match", "/me/submit", "/me/bots/sneak/lift"):
        refused = await person.post(path, {"everywhere": "1"}, headers=headers)
        assert (refused.status_code, "was not sent by a page of this site" in refused.text) == (403, True), path
    assert "Signed in as ann" in text_of((await person.get("/me")).text)


async def test_a_form_without_the_key_of_the_session_does_nothing(world: LeagueWorld, person: Person) -> None:
    await person.sign_in(world.tokens["cid"])
    foreign = re.findall(r'name="key" value="(\w+)"', (await person.get("/me")).text)[0]
    await person.sign_in(world.tokens["ann"])
    before = world.store.run(queries.tokens)
    for key in ("", "0" * 64, foreign, "\N{SNOWMAN}"):
        for path in ("/sign-out", "/me/tokens"):
            refused = await person.post(path, {"key": key, "scopes": "read", "everywhere": "1"})
            assert (refused.status_code, "This form is not of this session" in refused.text) == (403, True)
    assert [(one.id, one.revoked) for one in world.store.run(queries.tokens)] == [
        (one.id, one.revoked) for one in before
    ]


async def test_a_cookie_that_was_planted_is_replaced(world: LeagueWorld, person: Person) -> None:
    """Fixation: the session is not what the browser came with, but the token with which the person signs in."""
    planted = new_token().reveal()
    person.http.cookies.set(COOKIE, planted, domain="page.test", path="/")
    person.http.cookies.set("cutpurse_local", world.tokens["cid"], domain="page.test", path="/")
    refused = await person.get("/me")
    assert (refused.status_code, "Your token is not valid any more" in refused.text) == (403, True)
    assert COOKIE not in person.http.cookies
    await person.sign_in(world.tokens["ann"])
    assert person.http.cookies[COOKIE] == world.tokens["ann"]
    assert "Signed in as ann" in text_of((await person.get("/me")).text)


@pytest.mark.parametrize("cookie", ["", "guessed", "cutp_" + "0" * 38, "a b", "\x7f", "link"])
async def test_a_foreign_cookie_opens_nothing(world: LeagueWorld, person: Person, cookie: str) -> None:
    value = await asyncio.to_thread(token_made, world, "link", "read") if cookie == "link" else cookie
    answer = await person.get("/me", headers={"Cookie": f"{COOKIE}={value}"})
    assert "Signed in" not in text_of(answer.text)
    refused = await asyncio.to_thread(
        person.http.post, "/me/tokens", data={"scopes": "read"}, headers={**OWN, "Cookie": f"{COOKIE}={value}"}
    )
    assert refused.status_code == 403


async def test_a_session_ends_with_its_token(world: LeagueWorld, person: Person) -> None:
    await person.sign_in(world.tokens["ann"])
    world.store.write(revoke_token, world.tokens["ann"][5:13], datetime.now(UTC))
    while COOKIE in person.http.cookies:  # the guard reads the tokens again in moments
        assert (await person.get("/me")).url.path == "/me"
    assert (await person.get("/me")).url.path == "/sign-in"
    refused = await person.post("/me/tokens", {"scopes": "read"})
    assert refused.status_code == 403


async def test_signing_out_forgets_and_signing_out_everywhere_revokes(world: LeagueWorld, person: Person) -> None:
    token = await asyncio.to_thread(token_made, world, "play", "read")
    await person.sign_in(token)
    out = await person.post("/sign-out")
    assert (out.url.path, COOKIE in person.http.cookies) == ("/sign-in", False)
    assert (await person.get("/me")).url.path == "/sign-in"
    thief = Person(world.arena.address)
    try:
        await thief.sign_in(token)
        await person.sign_in(token)
        await person.post("/sign-out", {"everywhere": "1"})
        stolen = await thief.get("/me")
        assert (stolen.status_code, "Your token is not valid any more" in stolen.text) == (403, True)
    finally:
        thief.close()


@pytest.mark.parametrize(
    ("address", "client", "is_open"),
    [
        ("http://127.0.0.1:7780", "127.0.0.1", True),
        ("http://localhost:7780", "::1", True),
        ("http://127.0.0.1:7780", "192.0.2.1", False),
        ("http://league.example", "127.0.0.1", False),  # a proxy that does not say that it speaks TLS
        ("http://league.example", "192.0.2.1", False),
    ],
)
async def test_over_plain_http_one_signs_in_on_the_same_machine_only(
    world: LeagueWorld, address: str, client: str, is_open: bool
) -> None:
    person = Person(world.arena.address, address, client)
    try:
        form = (await person.get("/sign-in")).text
        assert ("<form" in form, "anybody on the way could read your token" in form) == (is_open, not is_open)
        answer = await person.sign_in(world.tokens["ann"])
        assert ("Signed in as ann" in text_of(answer.text)) is is_open
        if is_open:
            cookie = answer.history[0].headers["set-cookie"]
            assert cookie.startswith("cutpurse_local=")
            assert "Secure" not in cookie
        else:
            assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
            stolen = await person.get("/me", headers={"Cookie": f"cutpurse_local={world.tokens['ann']}"})
            assert stolen.url.path == "/sign-in"
    finally:
        person.close()


async def test_no_answer_to_a_person_is_kept(world: LeagueWorld, person: Person) -> None:
    await person.sign_in(world.tokens["ann"])
    for path in ("/sign-in", "/me", "/me/tokens", "/me/bots/sneak", "/me/ladders/hidden"):
        answer = await person.get(path)
        assert answer.headers["cache-control"] == "no-store", path
        assert answer.headers["content-security-policy"].startswith("default-src 'self'; script-src 'self';")
        assert "<script>" not in answer.text
        assert "style=" not in answer.text


async def test_the_public_pages_show_nothing_of_who_is_signed_in(world: LeagueWorld, person: Person) -> None:
    before = {path: (await person.get(path)).text for path in ("/", "/bots", "/matches")}
    await person.sign_in(world.tokens["ann"])
    for path, text in before.items():
        assert (await person.get(path)).text == text
        assert "hush" not in text


async def test_a_server_without_owners_says_so(tmp_path: Path) -> None:
    async with running_arena(tmp_path) as arena:
        person = Person(arena.address)
        try:
            answer = await person.sign_in(new_token().reveal())
            assert (answer.status_code, "has no owners" in answer.text) == (503, True)
        finally:
            person.close()


def test_a_page_without_a_server_signs_nobody_in() -> None:
    page = page_of({})
    for path in ("/sign-in", "/me", "/me/tokens"):
        assert page.get(path).status_code == 404
    assert page.post("/sign-in", data={"token": new_token().reveal()}, headers=OWN).status_code == 404
