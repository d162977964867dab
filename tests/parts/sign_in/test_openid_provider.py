"""Who signed in at a provider is believed only as far as the ID token proves it; each refusal is one line."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from time import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from joserfc.jwk import ECKey, OctKey

from cutpurse.server.parts.sign_in import openid_provider
from cutpurse.server.parts.sign_in.openid_provider import ALGORITHMS, OpenIdProvider
from cutpurse.server.parts.sign_in.sign_in_rules import ProviderAway, SignInRefused
from tests.parts.sign_in.openid_provider_run import (
    OTHER_KEY,
    SECRET,
    RunningProvider,
    quick_client,
    running_provider,
    settings_of,
)

STATE = "s" * 32
DAY_S = 86_400  # these times are set when the tests are collected, long before they run


class Clock:
    """Seconds that a test lets pass."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def running() -> Iterator[RunningProvider]:
    with running_provider() as provider:
        yield provider


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def provider(running: RunningProvider, clock: Clock) -> Iterator[OpenIdProvider]:
    opened = OpenIdProvider(settings_of(running), lambda: datetime.now(UTC), clock=clock, client=quick_client())
    yield opened
    opened.close()


def begin(provider: OpenIdProvider, nonce: str) -> tuple[str, str]:
    """Let a browser sign in there; return the code that it comes back with, and its verifier."""
    verifier = secrets.token_urlsafe(48)
    with quick_client() as browser:
        answer = browser.get(provider.address(STATE, nonce, create_s256_code_challenge(verifier)))
    back = answer.headers["location"]
    assert back.startswith("https://page.test/sign-in/callback?")
    given = parse_qs(urlsplit(back).query)
    assert given["state"] == [STATE]
    return given["code"][0], verifier


def sign_in(provider: OpenIdProvider) -> Any:
    nonce = secrets.token_urlsafe(24)
    code, verifier = begin(provider, nonce)
    return provider.identify(code, verifier, nonce)


def refusal(provider: OpenIdProvider) -> str:
    with pytest.raises(SignInRefused) as refused:
        sign_in(provider)
    text = str(refused.value)
    assert "\n" not in text
    assert SECRET not in text
    return text


def test_the_claims_are_those_that_the_provider_signed(running: RunningProvider, provider: OpenIdProvider) -> None:
    claims = sign_in(provider)
    assert (claims["sub"], claims["email"]) == ("person-1", "ann@school.example")
    assert [path for path, _ in running.asked] == ["/.well-known/openid-configuration", "/keys", "/authorize", "/token"]
    assert dict(running.asked[2][1]).keys() == {
        *("tenant", "response_type", "client_id", "redirect_uri", "scope", "state", "nonce"),
        *("code_challenge", "code_challenge_method"),
    }
    sign_in(provider)
    assert [path for path, _ in running.asked[4:]] == ["/authorize", "/token"]  # what it says of itself is remembered


def test_a_secret_in_the_form_where_the_provider_wants_it_there(
    running: RunningProvider, provider: OpenIdProvider
) -> None:
    running.description = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    refusal(provider)  # this provider takes it in the header only
    assert (running.asked[-1][1]["client_secret"], running.asked[-1][1]["client_id"]) == (SECRET, "league")


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"iss": "https://evil.test"}, "the ID token is of another issuer; ask the host"),
        ({"aud": "another-client"}, "the ID token is for another client; ask the host"),
        ({"aud": ["league", "other"]}, "the ID token lacks the claim azp; ask the host"),
        ({"aud": ["league", "other"], "azp": "other"}, "the ID token is for another client; ask the host"),
        ({"nonce": "of another sign-in"}, "answers another sign-in (its nonce differs); sign in again"),
        ({"nonce": None}, "the ID token lacks the claim nonce; ask the host"),
        ({"sub": None}, "the ID token lacks the claim sub; ask the host"),
        ({"exp": None}, "the ID token lacks the claim exp; ask the host"),
        ({"exp": "soon"}, "the claim exp is wrong; ask the host"),
        ({"sub": 7}, "the claim sub is"),
        ({"exp": int(time()) - 120}, "the ID token has expired; sign in again; if that does not help, the clock of"),
        (
            {"iat": int(time()) + DAY_S},
            "the ID token is of the future; sign in again; if that does not help, the clock",
        ),
        (
            {"nbf": int(time()) + DAY_S},
            "the ID token is of the future; sign in again; if that does not help, the clock",
        ),
    ],
)
def test_a_wrong_id_token_is_refused(
    running: RunningProvider, provider: OpenIdProvider, claims: dict[str, Any], said: str
) -> None:
    running.claims = claims
    assert said in refusal(provider)


@pytest.mark.parametrize("skew_s", [-30, 30])
def test_clocks_may_differ_by_half_a_minute(running: RunningProvider, provider: OpenIdProvider, skew_s: int) -> None:
    running.claims = {"iat": int(time()) + skew_s, "exp": int(time()) + skew_s + 10}
    assert sign_in(provider)["sub"] == "person-1"


def test_a_signature_by_another_key_is_refused(running: RunningProvider, provider: OpenIdProvider) -> None:
    running.key = OTHER_KEY
    assert refusal(provider) == "the signature of the ID token is not one of Test School; ask the host"


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_token_that_anybody_could_have_signed_is_refused(
    running: RunningProvider, provider: OpenIdProvider, algorithm: str
) -> None:
    running.algorithm, running.key = algorithm, OctKey.import_key(b"secret" * 6)
    assert "the signature of the ID token is not one of Test School" in refusal(provider)
    assert "HS256" not in ALGORITHMS


@pytest.mark.parametrize("kind", ["ES256", "PS256"])
def test_other_kinds_of_keys_count_too(running: RunningProvider, provider: OpenIdProvider, kind: str) -> None:
    if kind == "ES256":
        running.key = ECKey.generate_key("P-256", {"kid": "curve"})
    running.algorithm, running.published = kind, [running.key]
    assert sign_in(provider)["sub"] == "person-1"


def test_a_new_key_is_read_but_not_at_every_bad_token(
    running: RunningProvider, provider: OpenIdProvider, clock: Clock
) -> None:
    sign_in(provider)
    running.key, running.published = OTHER_KEY, [OTHER_KEY]
    refusal(provider)
    clock.now += openid_provider.AGAIN_S
    assert sign_in(provider)["sub"] == "person-1"
    running.asked.clear()
    running.published = []
    sign_in(provider)  # the old keys are remembered for an hour
    assert [path for path, _ in running.asked] == ["/authorize", "/token"]


def test_a_code_and_a_nonce_count_once(running: RunningProvider, provider: OpenIdProvider) -> None:
    code, verifier = begin(provider, "n" * 32)
    provider.identify(code, verifier, "n" * 32)
    used = "Test School did not accept the code: it was used, or is too old; sign in again"
    with pytest.raises(SignInRefused, match=used):
        provider.identify(code, verifier, "n" * 32)
    running.has_single_codes = False  # and a provider that forgets to look
    code, verifier = begin(provider, "m" * 32)
    provider.identify(code, verifier, "m" * 32)
    with pytest.raises(SignInRefused, match="this sign-in was used before; sign in again"):
        provider.identify(code, verifier, "m" * 32)


def test_a_stolen_code_is_worth_nothing_without_its_verifier(provider: OpenIdProvider) -> None:
    code, _ = begin(provider, "n" * 32)
    with pytest.raises(SignInRefused, match="did not accept the code"):
        provider.identify(code, secrets.token_urlsafe(48), "n" * 32)


def test_a_code_of_another_browser_has_another_nonce(provider: OpenIdProvider) -> None:
    code, verifier = begin(provider, "n" * 32)
    with pytest.raises(SignInRefused, match="its nonce differs"):
        provider.identify(code, verifier, "o" * 32)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((500, b"oops"), "Test School answered without an ID token; try again later"),
        ((200, b"[]"), "Test School answered without an ID token; try again later"),
        ((200, b'{"id_token": 7}'), "Test School answered without an ID token; try again later"),
        ((200, b'{"id_token": "a.b.c"}'), "the signature of the ID token is not one of Test School"),
        ((302, b""), "Test School answered without an ID token; try again later"),
        ((401, b'{"error": "invalid_client"}'), "Test School refused this league itself: its host must correct the"),
        ((200, b" " * 2_000_000), "Test School cannot be reached now; try again later, or sign in with a token"),
    ],
)
def test_nonsense_of_the_token_endpoint_is_one_line(
    running: RunningProvider, provider: OpenIdProvider, answer: tuple[int, bytes], said: str
) -> None:
    running.answer = answer
    assert said in refusal(provider)


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ({"issuer": "https://evil.test"}, "names another issuer; its host must correct it"),
        ({"token_endpoint": "http://evil.test/token"}, "Test School names no safe token_endpoint; ask the host"),
        ({"token_endpoint": "file:///etc/passwd"}, "Test School names no safe token_endpoint; ask the host"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "names no safe authorization_endpoint; ask the host"),
        ({"jwks_uri": None}, "Test School names no safe jwks_uri; ask the host"),
        ({"jwks_uri": "http://127.0.0.1:1/keys"}, "Test School cannot be reached now"),
    ],
)
def test_a_provider_that_describes_itself_wrongly_is_not_asked(
    running: RunningProvider, provider: OpenIdProvider, description: dict[str, Any], said: str
) -> None:
    running.description = description
    with pytest.raises(ProviderAway) as away:
        provider.address(STATE, "n" * 32, "c" * 43)
    assert said in str(away.value)


def test_a_provider_that_is_away_is_asked_again_a_little_later(clock: Clock) -> None:
    with running_provider() as running:
        settings = settings_of(running)
    provider = OpenIdProvider(settings, lambda: datetime.now(UTC), clock=clock, client=quick_client())
    said = "Test School cannot be reached now; try again later, or sign in with a token"
    for _ in range(2):
        with pytest.raises(ProviderAway, match=said):
            provider.address(STATE, "n" * 32, "c" * 43)
    assert provider._away_until == openid_provider.AWAY_S
    provider.close()
