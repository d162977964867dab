"""People sign in on the page at a provider that really runs: whom it makes them, how it ends, what others cannot do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.store import Store
from cutpurse.server.act_log import act_log_beside, acts_in
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.parts.sign_in import openid_provider
from cutpurse.server.parts.sign_in.accounts import ProviderAccount, link_account
from cutpurse.server.parts.sign_in.kind import SIGN_IN
from tests.page.accounts import Person, text_of
from tests.parts.sign_in.openid_provider_run import SECRET, RunningProvider, quick_client, running_provider, settings_of
from tests.server.arenas import RunningArena, running_arena
from tests.server.tokens import tokens_in

COOKIE = "__Host-cutpurse"
ATTEMPT = "__Host-cutpurse-sign-in"
CALLBACK = "https://page.test/sign-in/callback"


@dataclass
class SignInWorld:
    """A server whose people sign in at a provider."""

    arena: RunningArena
    provider: RunningProvider
    root: str  # token of its host

    @property
    def store(self) -> Store:
        """The server's store."""
        return self.arena.opened.store

    def acts(self) -> list[tuple[str, str]]:
        """Return who did what, the newest first."""
        return [(act.by, act.what) for act in acts_in(act_log_beside(self.store.database.beside), 10)]


@asynccontextmanager
async def sign_in_world(folder: Path, provider: RunningProvider, **settings: Any) -> AsyncIterator[SignInWorld]:
    """Run a server; at the end, check that no secret is in its log."""
    root = tokens_in(folder / "test.db", root=("admin",))["root"]
    async with running_arena(folder, parts=[PartWithSettings(SIGN_IN, settings_of(provider, **settings))]) as arena:
        yield SignInWorld(arena, provider, root)
    assert SECRET not in arena.log
    assert root[13:] not in arena.log
    assert '"level": "error"' not in arena.log


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers ask the provider without the system's certificates."""
    quick = partial(openid_provider.OpenIdProvider, client=quick_client())
    monkeypatch.setattr(openid_provider, "OpenIdProvider", quick)


@pytest.fixture
def provider() -> Iterator[RunningProvider]:
    with running_provider() as running:
        yield running


@pytest.fixture
async def world(tmp_path: Path, provider: RunningProvider) -> AsyncIterator[SignInWorld]:
    async with sign_in_world(tmp_path, provider) as world:
        yield world


@pytest.fixture
async def person(world: SignInWorld) -> AsyncIterator[Person]:
    person = Person(world.arena.address)
    yield person
    person.close()


async def begun(person: Person) -> str:
    """Begin to sign in; return the provider's address that the browser is led to."""
    answer = await person.get("/sign-in/provider", follow_redirects=False)
    assert answer.status_code == 303, text_of(answer.text)
    return answer.headers["location"]


async def answered(address: str) -> str:
    """Open the provider's address in a browser; return where it leads back to."""

    def opened() -> httpx.Response:
        with quick_client() as browser:
            return browser.get(address)

    back: str = (await asyncio.to_thread(opened)).headers["location"]
    assert back.startswith(f"{CALLBACK}?")
    return back


async def sign_in(person: Person) -> httpx.Response:
    """Sign in at the provider, and come back."""
    return await person.get(await answered(await begun(person)))


async def test_a_person_signs_in_and_is_a_new_owner(world: SignInWorld, person: Person) -> None:
    assert "Sign in with Test School" in (await person.get("/sign-in")).text
    answer = await sign_in(person)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert 'http-equiv="refresh" content="0; url=/me"' in answer.text
    cookies = answer.headers.get_list("set-cookie")
    assert re.fullmatch(
        rf"{COOKIE}=cutp_\w{{38}}; HttpOnly; Max-Age=43\d\d\d; Path=/; SameSite=strict; Secure", cookies[0]
    )
    assert cookies[1].startswith(f'{ATTEMPT}=""')
    home = text_of((await person.get("/me")).text)
    assert "Signed in as ann.miller , good for play, read until" in home
    tokens = text_of((await person.get("/me/tokens")).text)
    assert "play, read, session signed in with Test School" in tokens
    assert "this browser" in tokens
    assert world.acts()[0] == ("ann.miller", "signed in")
    assert '"event": "signed in"' in world.arena.log


async def test_the_attempt_is_in_a_cookie_of_this_browser_for_ten_minutes(person: Person) -> None:
    answer = await person.get("/sign-in/provider", follow_redirects=False)
    (cookie,) = answer.headers.get_list("set-cookie")
    assert re.fullmatch(
        rf"{ATTEMPT}=[\w-]{{43}}\.[\w-]{{43}}\.[\w-]{{43}}; HttpOnly; Max-Age=600; Path=/; SameSite=lax; Secure", cookie
    )
    asked = dict(parse_qsl(urlsplit(answer.headers["location"]).query))
    state, nonce, verifier = cookie.partition("=")[2].partition(";")[0].split(".")
    assert (asked["state"], asked["nonce"], asked["redirect_uri"]) == (state, nonce, CALLBACK)
    assert verifier not in answer.headers["location"]
    again = await person.get("/sign-in/provider", follow_redirects=False)
    assert state not in again.headers["location"]


async def test_the_same_account_is_the_same_owner_whatever_it_is_called(world: SignInWorld, person: Person) -> None:
    await sign_in(person)
    world.provider.person |= {"preferred_username": "root", "email": "root@school.example"}
    await sign_in(person)
    assert "Signed in as ann.miller" in text_of((await person.get("/me")).text)


async def test_an_equal_name_takes_over_no_owner_and_the_host_can_link_it(world: SignInWorld, person: Person) -> None:
    world.provider.person |= {"preferred_username": "root", "sub": "person 2"}
    answer = await sign_in(person)
    assert answer.status_code == 403
    said = text_of(answer.text)
    assert "There is an owner root already; if that is you, the host can link you with:" in said
    assert "cutpurse token link root 'person 2'" in said
    assert COOKIE not in person.http.cookies
    world.store.write(link_account, ProviderAccount(world.provider.issuer, "person 2"), "root", datetime.now(UTC))
    world.provider.person["preferred_username"] = "House"  # what it is called counts no more
    await sign_in(person)
    # the owner is the host, the session is not
    assert "Signed in as root , good for play, read until" in text_of((await person.get("/me")).text)
    assert (await person.get("/host")).status_code == 403


async def test_a_callback_of_another_browser_signs_nobody_in(world: SignInWorld, person: Person) -> None:
    """Login CSRF: an attacker's answer of the provider would make the visitor act in the attacker's name."""
    other = Person(world.arena.address, client="192.0.2.2")
    try:
        back = await answered(await begun(other))
        for is_begun in (False, True):  # the victim may have begun to sign in, too
            if is_begun:
                await begun(person)
            refused = await person.get(back)
            assert (refused.status_code, "began in another browser. Begin again." in refused.text) == (403, True)
            assert COOKIE not in person.http.cookies
        assert world.provider.asked[-1][0] == "/authorize"  # the code was shown to nobody
    finally:
        other.close()


async def test_an_answer_counts_once(world: SignInWorld, person: Person) -> None:
    back = await answered(await begun(person))
    attempt = person.http.cookies[ATTEMPT]
    looked = await asyncio.to_thread(lambda: person.http.head(back))
    assert (looked.status_code, "set-cookie" in looked.headers) == (403, False)  # which uses nothing up
    assert (await person.get(back)).status_code == 200
    again = await person.get(back)
    assert (again.status_code, "This sign-in was finished" in again.text) == (403, True)
    world.provider.has_single_codes = False
    person.http.cookies.set(ATTEMPT, attempt, domain="page.test", path="/")  # as who copied the cookie could
    replayed = await person.get(back)
    assert (replayed.status_code, "set-cookie" in replayed.headers) == (403, True)
    assert [one.partition("=")[0] for one in replayed.headers.get_list("set-cookie")] == [ATTEMPT]
    assert "did not accept the code" in replayed.text


@pytest.mark.parametrize(
    "change", [{"state": ""}, {"state": "x"}, {"state": "\N{SNOWMAN}"}, {"code": ""}, {"code": "x"}]
)
async def test_a_changed_answer_signs_nobody_in(person: Person, change: dict[str, str]) -> None:
    back = await answered(await begun(person))
    query = dict(parse_qsl(urlsplit(back).query)) | change
    refused = await person.get(f"{CALLBACK}?{urlencode(query)}")
    assert (refused.status_code, COOKIE in person.http.cookies) == (403, False)


@pytest.mark.parametrize("cookie", ["", "a.b.c", "x" * 131, "a" * 43 + "." + "b" * 43])
async def test_a_planted_attempt_is_none(person: Person, cookie: str) -> None:
    await begun(person)
    refused = await person.get(f"{CALLBACK}?state=&code=x", headers={"Cookie": f"{ATTEMPT}={cookie}"})
    assert (refused.status_code, "Begin again" in refused.text) == (403, True)


REFUSALS: list[tuple[dict[str, Any], str]] = [
    ({"iss": "https://evil.test"}, "The ID token is of another issuer; ask the host."),
    ({"aud": "another"}, "The ID token is for another client; ask the host."),
    ({"exp": 1_000_000_000}, "The ID token has expired; sign in again; if that does not help, the clock of the"),
    ({"iat": 4_000_000_000}, "The ID token is of the future; sign in again; if that does not help, the clock of"),
    ({"nonce": "x"}, "The ID token answers another sign-in (its nonce differs); sign in again."),
    ({"email_verified": False}, "Test School has not verified your e-mail address; verify it there, and sign in"),
    ({"email_verified": "true"}, "Test School has not verified your e-mail address"),
    ({"email": None}, "Test School did not say your e-mail address, which this server needs; ask the host."),
    ({"email": "ann@evil.example"}, "E-mail addresses of your domain may not sign in here; ask the host."),
    ({"email": "ann@evil.school.example"}, "E-mail addresses of your domain may not sign in here"),
    ({"email": "x@evil.example@school.example.evil"}, "E-mail addresses of your domain may not sign in here"),
    ({"groups": ["guests"]}, "Your account is in no group that may sign in here; ask the host."),
    ({"groups": {"players": 1}}, "Your account is in no group that may sign in here; ask the host."),
    ({"preferred_username": "\N{SNOWMAN}"}, "Your account has no preferred_username that can name an owner; the host"),
    ({"preferred_username": "House"}, "Your account has no preferred_username that can name an owner; the host"),
]


async def test_who_may_not_come_in_reads_why_in_one_line(tmp_path: Path, provider: RunningProvider) -> None:
    rules = {"email_domains": ("school.example",), "groups": ("players",)}
    async with sign_in_world(tmp_path, provider, **rules) as world:
        person = Person(world.arena.address)
        try:
            for claims, said in REFUSALS:
                provider.claims = claims
                refused = await sign_in(person)
                assert (refused.status_code, said in text_of(refused.text)) == (403, True), text_of(refused.text)
                assert COOKIE not in person.http.cookies
            assert {entry.owner for entry in world.store.run(queries.tokens)} == {"root"}
            assert world.acts() == []
            assert '"event": "sign-in refused"' in world.arena.log
        finally:
            person.close()


async def test_a_provider_that_is_away_is_said_in_one_line(world: SignInWorld, person: Person) -> None:
    world.provider.description = {"jwks_uri": "http://127.0.0.1:1/keys"}
    answer = await person.get("/sign-in/provider")
    assert answer.status_code == 503
    assert "Test School cannot be reached now; try again later, or sign in with a token." in answer.text
    assert (await person.sign_in(world.root)).status_code == 200  # as before


async def test_a_person_who_does_not_agree_is_not_signed_in(world: SignInWorld, person: Person) -> None:
    world.provider.error = "access_denied"
    refused = await sign_in(person)
    assert (refused.status_code, "The provider did not sign you in (access_denied)." in refused.text) == (403, True)
    world.provider.error = "<b>evil"
    refused = await sign_in(person)
    assert "The provider did not sign you in." in refused.text
    assert "evil" not in refused.text


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
async def test_another_site_begins_no_attempt(person: Person, site: str) -> None:
    refused = await person.get("/sign-in/provider", headers={"Sec-Fetch-Site": site}, follow_redirects=False)
    assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)


async def test_nobody_signs_in_where_the_way_can_be_overheard_or_leads_elsewhere(world: SignInWorld) -> None:
    for base_url, status, said in (
        ("http://page.test", 403, "anybody on the way could read your token"),
        ("https://other.test", 400, "Sign in with Test School at https://page.test/sign-in"),
    ):
        person = Person(world.arena.address, base_url)
        try:
            refused = await person.get("/sign-in/provider", follow_redirects=False)
            assert (refused.status_code, said in refused.text) == (status, True)
            assert "set-cookie" not in refused.headers
            back = await person.get("/sign-in/callback?state=x&code=y")
            assert back.status_code == 403
        finally:
            person.close()


async def test_signing_out_ends_the_session_and_everywhere_all_of_them(world: SignInWorld, person: Person) -> None:
    other = Person(world.arena.address, client="192.0.2.2")
    try:
        for browser in (person, other):
            await sign_in(browser)
        made = await person.post("/me/tokens", {"scopes": "read", "days": "30"}, page="/me/tokens")
        bot = re.findall(r"cutp_\w{38}", made.text)[0]
        cookie = person.http.cookies[COOKIE]
        await person.post("/sign-out")
        assert (await person.get("/me", headers={"Cookie": f"{COOKIE}={cookie}"})).status_code == 403
        assert "Signed in as ann.miller" in text_of((await other.get("/me")).text)
        await sign_in(person)
        page = text_of((await person.get("/me/tokens")).text)
        assert "This ends all your sessions, in every browser." in page
        await person.post("/sign-out", {"everywhere": "1"})
        assert (await other.get("/me")).status_code == 403
        await person.sign_in(bot)  # what the session made stays
        assert "Signed in as ann.miller , good for read until" in text_of((await person.get("/me")).text)
    finally:
        other.close()


async def test_a_session_makes_tokens_that_last_longer_but_no_other_session(world: SignInWorld, person: Person) -> None:
    await sign_in(person)
    made = await person.post("/me/tokens", {"scopes": "play"}, page="/me/tokens")
    assert made.status_code == 200
    (entry,) = [entry for entry in world.store.run(queries.tokens, "ann.miller") if "session" not in entry.scopes]
    assert entry.expires is not None
    assert 89 <= (entry.expires - datetime.now(UTC)).days <= 90
    refused = await person.post("/me/tokens", {"scopes": "session"}, page="/me/tokens")
    assert (refused.status_code, "scope" in refused.text) == (400, True)
    refused = await person.post("/me/tokens", {"scopes": "admin"}, page="/me/tokens")
    assert refused.status_code == 403
    await person.sign_in(re.findall(r"cutp_\w{38}", made.text)[0])
    longer = await person.post("/me/tokens", {"scopes": "play", "days": "365"}, page="/me/tokens")
    (other,) = [
        one
        for one in world.store.run(queries.tokens, "ann.miller")
        if "session" not in one.scopes and one.id != entry.id
    ]
    assert (longer.status_code, other.expires) == (200, entry.expires)


async def test_only_a_listed_group_makes_hosts(tmp_path: Path, provider: RunningProvider) -> None:
    async with sign_in_world(tmp_path, provider, host_groups=("league-hosts",)) as world:
        person = Person(world.arena.address)
        try:
            await sign_in(person)
            assert (await person.get("/host")).status_code == 403
            provider.person["groups"] = ["players", "league-hosts"]
            await sign_in(person)
            assert "good for admin, play, read until" in text_of((await person.get("/host")).text)
        finally:
            person.close()


async def test_without_new_owners_only_who_is_linked_comes_in(tmp_path: Path, provider: RunningProvider) -> None:
    async with sign_in_world(tmp_path, provider, new_owners=False) as world:
        person = Person(world.arena.address)
        try:
            refused = text_of((await sign_in(person)).text)
            assert "Your account is not linked with an owner; the host can link you with:" in refused
            assert "cutpurse token link OWNER person-1" in refused
            world.store.write(link_account, ProviderAccount(provider.issuer, "person-1"), "ann", datetime.now(UTC))
            await sign_in(person)
            assert "Signed in as ann ," in text_of((await person.get("/me")).text)
        finally:
            person.close()


async def test_a_server_without_a_provider_shows_the_form_alone(tmp_path: Path) -> None:
    with Store(tmp_path / "test.db") as store:
        store.write(create_tokens, [NewToken("root", scopes=("admin",))], datetime.now(UTC))
    async with running_arena(tmp_path) as arena:
        person = Person(arena.address)
        try:
            assert "Sign in with" not in (await person.get("/sign-in")).text
            assert (await person.get("/sign-in/provider")).status_code == 404
            assert (await person.get("/sign-in/callback?state=x&code=y")).status_code == 403
        finally:
            person.close()
