"""A provider of OpenID Connect: where people sign in there, and who signed in, as its verified ID token says.

    provider = OpenIdProvider(settings, utc)
    provider.address(state, nonce, challenge)  # a browser opens it, and comes back with a code
    provider.identify(code, verifier, nonce)  # the claims of the ID token

The flow is that of the authorization code with PKCE. The provider's own word is taken only as it is signed: signature,
issuer, audience, times and nonce are checked here. Each refusal is one line that a person can act on, and quotes
nothing of what the provider sent, except the names of claims. Calls block for some seconds at most. This module knows
no owner and no token of this server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote, urlsplit

import httpx
from authlib.common.urls import add_params_to_uri
from authlib.oidc.core.claims import CodeIDToken
from joserfc import jwt
from joserfc.errors import ClaimError, ExpiredTokenError, JoseError, MissingClaimError
from joserfc.jwk import KeySet

from cutpurse.engine.documents import parse_json
from cutpurse.server.parts.sign_in.sign_in_rules import ProviderAway, SignInRefused
from cutpurse.server.parts.sign_in.sign_in_settings import SignInSettings, is_safe_address

__all__ = ["ALGORITHMS", "OpenIdProvider"]

# Only what is signed with the provider's own key: with HS256 the client's secret, or a public key, would be one.
ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "Ed25519",
    "EdDSA",
)
PATIENCE_S: Final = 5.0  # for each answer of the provider
MAX_BYTES: Final = 1_048_576  # of an answer
SKEW_S: Final = 60  # by which the clocks of provider and server may differ
DESCRIPTION_S: Final = 3_600.0  # until the provider's description and keys are read again
AGAIN_S: Final = 30.0  # at least, between two reads of keys for an unknown one
AWAY_S: Final = 3.0  # after a failure, until the provider is asked again
MAX_NONCES: Final = 10_000  # remembered, so that an ID token counts once
_ENDPOINTS: Final = ("authorization_endpoint", "token_endpoint", "jwks_uri")


@dataclass(frozen=True, slots=True)
class _Description:
    """What the provider says of itself, and its keys."""

    facts: Mapping[str, Any]
    keys: KeySet
    read_at: float


class OpenIdProvider:
    """The provider of one server. All methods are thread-safe."""

    def __init__(
        self,
        settings: SignInSettings,
        utc: Callable[[], datetime],
        *,
        clock: Callable[[], float] = time.monotonic,
        client: httpx.Client | None = None,
    ) -> None:
        """Describe the provider; it is asked as the first person comes.

        Args:
            settings: Its settings.
            utc: Returns the present time, for the times in ID tokens.
            clock: Returns seconds of a monotonic clock.
            client: Sends requests; by default with the system's certificates and proxies.
        """
        self._settings = settings
        self._utc = utc
        self._clock = clock
        self._client = client or httpx.Client()
        self._lock = threading.Lock()
        self._description: _Description | None = None
        self._away_until = 0.0
        self._nonces: dict[str, None] = {}  # of ID tokens that counted, the oldest first

    def close(self) -> None:
        """Close connections to the provider."""
        self._client.close()

    def address(self, state: str, nonce: str, challenge: str) -> str:
        """Return the address at the provider that a browser opens to sign in.

        Raises:
            ProviderAway: If the provider cannot be asked.
        """
        settings = self._settings
        asked = {
            "response_type": "code",
            "client_id": settings.client_id,
            "redirect_uri": settings.callback,
            "scope": " ".join(dict.fromkeys(("openid", *settings.scopes))),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        address = self._described().facts["authorization_endpoint"]
        return str(add_params_to_uri(address, [*asked.items()]))

    def identify(self, code: str, verifier: str, nonce: str) -> Mapping[str, Any]:
        """Exchange a code for an ID token, and return its claims, once.

        Args:
            code: The code that the provider gave the browser.
            verifier: The secret that the browser's challenge was made of.
            nonce: The nonce that the browser began with.

        Raises:
            ProviderAway: If the provider cannot be asked.
            SignInRefused: If it refuses the code, or its ID token is not valid.
        """
        token = self._exchange(code, verifier)
        claims = self._claims(token)
        self._check_claims(claims, nonce)
        with self._lock:
            if nonce in self._nonces:
                raise SignInRefused("this sign-in was used before; sign in again")
            self._nonces[nonce] = None
            if len(self._nonces) > MAX_NONCES:
                del self._nonces[next(iter(self._nonces))]
        return claims

    # -- what the provider signed
    def _exchange(self, code: str, verifier: str) -> str:
        """Return the ID token for a code."""
        settings, facts = self._settings, self._described().facts
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": settings.callback,
            "code_verifier": verifier,
        }
        auth = None
        methods = facts.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        if settings.client_secret and "client_secret_basic" in methods:
            auth = (quote(settings.client_id, safe=""), quote(settings.client_secret, safe=""))  # RFC 6749, 2.3.1
        else:
            form["client_id"] = settings.client_id
            if settings.client_secret:
                form["client_secret"] = settings.client_secret
        status, answer = self._ask("POST", facts["token_endpoint"], data=form, auth=auth)
        if status in (400, 401, 403):
            if answer.get("error") in ("invalid_client", "unauthorized_client"):
                raise SignInRefused(f"{settings.name} refused this league itself: its host must correct the client")
            raise SignInRefused(f"{settings.name} did not accept the code: it was used, or is too old; sign in again")
        token = answer.get("id_token")
        if status != 200 or not isinstance(token, str):
            raise ProviderAway(f"{settings.name} answered without an ID token; try again later, or ask the host")
        return token

    def _claims(self, token: str) -> dict[str, Any]:
        """Return the claims of an ID token whose signature is the provider's."""
        for is_last in (False, True):
            try:
                return dict(jwt.decode(token, self._described(has_new_key=is_last).keys, [*ALGORITHMS]).claims)
            except (JoseError, ValueError, TypeError, KeyError):
                # not again for a bad signature by a known key, but the errors do not tell, and keys are read rarely
                if is_last:
                    break
        raise SignInRefused(f"the signature of the ID token is not one of {self._settings.name}; ask the host")

    def _check_claims(self, claims: Mapping[str, Any], nonce: str) -> None:
        """Check issuer, audience, times and nonce of an ID token.  Raises SignInRefused."""
        settings = self._settings
        known: Any = CodeIDToken(  # Any: authlib has no types
            claims,
            {},
            {
                "iss": {"essential": True, "value": settings.issuer},
                "aud": {"essential": True, "value": settings.client_id},
                "sub": {"essential": True},
            },
            {"nonce": nonce, "client_id": settings.client_id},
        )
        now = int(self._utc().timestamp())
        try:
            known.validate(now=now, leeway=SKEW_S)
        except ExpiredTokenError:
            raise SignInRefused(f"the ID token has expired; {_CLOCKS}") from None
        except MissingClaimError as problem:
            raise SignInRefused(f"the ID token lacks the claim {problem.claim}; ask the host") from None
        except ClaimError as problem:
            raise SignInRefused(
                _WRONG.get(problem.claim, f"the claim {problem.claim} is wrong; ask the host")
            ) from None
        except (JoseError, ValueError, TypeError):
            raise SignInRefused("the ID token cannot be understood; ask the host") from None
        if not isinstance(claims["sub"], str):
            raise SignInRefused("the claim sub is no text; ask the host")

    # -- what the provider says of itself
    def _described(self, has_new_key: bool = False) -> _Description:
        """Return the provider's description, read anew when it is old, or for a new key.  Raises ProviderAway."""
        with self._lock:
            found, now = self._description, self._clock()
            age_s = float("inf") if found is None else now - found.read_at
            if found is not None and age_s < (AGAIN_S if has_new_key else DESCRIPTION_S):
                return found
            if now < self._away_until:
                raise self._away()
            try:
                self._description = self._read_description(now)
            except ProviderAway:
                self._away_until = self._clock() + AWAY_S
                raise
            return self._description

    def _read_description(self, now: float) -> _Description:
        settings = self._settings
        status, facts = self._ask("GET", f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration")
        if status != 200:
            raise self._away()
        if facts.get("issuer") != settings.issuer:
            raise ProviderAway(f"the address of {settings.name} names another issuer; its host must correct it")
        is_local = urlsplit(settings.issuer).scheme == "http"
        for name in _ENDPOINTS:
            address = facts.get(name)
            if not isinstance(address, str) or not _is_endpoint(address, is_local):
                raise ProviderAway(f"{settings.name} names no safe {name}; ask the host")
        status, keys = self._ask("GET", facts["jwks_uri"])
        try:
            if status != 200:
                raise ValueError
            return _Description(facts, KeySet.import_key_set(_public(keys)), now)
        except (JoseError, ValueError, TypeError, KeyError):
            raise ProviderAway(f"the keys of {settings.name} cannot be read; try again later") from None

    def _ask(self, method: str, address: str, **more: Any) -> tuple[int, dict[str, Any]]:
        """Return status and content of an answer, which is one object of JSON; {} for anything else."""
        ends_at = self._clock() + PATIENCE_S
        try:
            with self._client.stream(method, address, timeout=PATIENCE_S, follow_redirects=False, **more) as answer:
                body = bytearray()
                for piece in answer.iter_bytes():
                    body += piece
                    if len(body) > MAX_BYTES or self._clock() > ends_at:
                        raise self._away()
            content = parse_json(body)
        except (httpx.HTTPError, httpx.InvalidURL):
            raise self._away() from None
        except ValueError:
            content = {}
        return answer.status_code, content if isinstance(content, dict) else {}

    def _away(self) -> ProviderAway:
        return ProviderAway(f"{self._settings.name} cannot be reached now; try again later, or sign in with a token")


_CLOCKS: Final = "sign in again; if that does not help, the clock of the server or of the provider is wrong"
_WRONG: Final = {
    "iss": "the ID token is of another issuer; ask the host",
    "aud": "the ID token is for another client; ask the host",
    "azp": "the ID token is for another client; ask the host",
    "nonce": "the ID token answers another sign-in (its nonce differs); sign in again",
    "iat": f"the ID token is of the future; {_CLOCKS}",
    "nbf": f"the ID token is of the future; {_CLOCKS}",
}


def _is_endpoint(address: str, is_local: bool) -> bool:
    """Return whether an endpoint may be asked: over TLS, or on this machine if the issuer is."""
    return is_safe_address(address.partition("?")[0]) and (is_local or address.startswith("https://"))


def _public(keys: Mapping[str, Any]) -> Any:
    """Return a key set without keys that sign nothing for others: secrets, keys to encrypt, and unknown kinds."""
    chosen = [
        key
        for key in keys["keys"]
        if isinstance(key, dict) and key.get("kty") in ("RSA", "EC") and key.get("use", "sig") == "sig"
    ]
    return {"keys": chosen}
