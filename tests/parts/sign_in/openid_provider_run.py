"""A small provider of OpenID Connect that really runs, over HTTP on this machine: description, keys, authorize, token.

It keeps to the protocol: a code counts once, for its client, address and verifier. Tests change what it does by its
attributes.
"""

from __future__ import annotations

import base64
import json
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from cutpurse.server.parts.sign_in.sign_in_settings import SignInSettings

__all__ = ["CLIENT", "SECRET", "RunningProvider", "quick_client", "running_provider", "settings_of"]

CLIENT: Final = "league"
SECRET: Final = "the secret of: league/é"  # has what must be quoted in a header
_KEY: Final = RSAKey.generate_key(2048, {"kid": "first", "use": "sig"})  # once, since it takes a while
OTHER_KEY: Final = RSAKey.generate_key(2048, {"kid": "second", "use": "sig"})


@dataclass
class RunningProvider:
    """A provider, and the person who is signed in there.

    Attributes:
        issuer: Its address.
        person: Claims of the person whose browser comes.
        claims: Claims that replace those of the ID token; None removes one.
        key: The key of its signatures.
        published: Its public keys.
        algorithm: Of its signatures.
        answer: Replaces the answer of the token endpoint: status and body.
        description: Replaces parts of its description.
        has_single_codes: Whether a code counts once, as it must.
        error: Sends the browser back with this error.
        asked: Paths that were asked for, and the forms that came.
    """

    issuer: str
    person: dict[str, Any]
    claims: dict[str, Any] = field(default_factory=dict)
    key: Any = field(default_factory=lambda: _KEY)
    published: list[Any] = field(default_factory=lambda: [_KEY])
    algorithm: str = "RS256"
    answer: tuple[int, bytes] | None = None
    description: dict[str, Any] = field(default_factory=dict)
    has_single_codes: bool = True
    error: str = ""
    asked: list[tuple[str, Mapping[str, str]]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """Return the provider's description."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize?tenant=school",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            **self.description,
        }

    def keys(self) -> dict[str, Any]:
        """Return the public keys, beside one that is a secret."""
        other = {"kty": "oct", "kid": "secret", "k": "c2VjcmV0"}
        return {"keys": [*(key.as_dict(private=False) for key in self.published), other]}

    def authorize(self, asked: dict[str, str]) -> str:
        """Sign the person in, and return the address that their browser is sent back to."""
        assert asked["response_type"] == "code"
        assert (asked["client_id"], asked["code_challenge_method"]) == (CLIENT, "S256")
        assert "openid" in asked["scope"].split()
        if self.error:
            return f"{asked['redirect_uri']}?{urlencode({'error': self.error, 'state': asked['state']})}"
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, form: Mapping[str, str], authorization: str) -> tuple[int, bytes]:
        """Return status and body of the token endpoint."""
        if self.answer is not None:
            return self.answer
        name, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        if (unquote(name), unquote(secret)) != (CLIENT, SECRET):
            return 401, b'{"error": "invalid_client"}'
        code = form.get("code", "")
        begun = self.codes.pop(code, None) if self.has_single_codes else self.codes.get(code)
        challenge = base64.urlsafe_b64encode(sha256(form.get("code_verifier", "").encode()).digest()).decode()
        if (
            begun is None
            or begun["redirect_uri"] != form.get("redirect_uri")
            or begun["code_challenge"] != challenge.rstrip("=")
        ):
            return 400, b'{"error": "invalid_grant"}'
        now = int(time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": begun["nonce"]}
        claims = {name: value for name, value in {**claims, **self.person, **self.claims}.items() if value is not None}
        return 200, json.dumps({"access_token": "x", "token_type": "Bearer", "id_token": self.sign(claims)}).encode()

    def sign(self, claims: dict[str, Any]) -> str:
        """Return an ID token."""
        if self.algorithm == "none":
            parts = [json.dumps(part).encode() for part in ({"alg": "none", "typ": "JWT"}, claims)]
            return ".".join([*(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts), ""])
        header = {"alg": self.algorithm, "kid": "secret" if isinstance(self.key, OctKey) else self.key.kid}
        return jwt.encode(header, claims, self.key, [self.algorithm])


def settings_of(provider: RunningProvider, page: str = "https://page.test", **more: Any) -> SignInSettings:
    """Return settings of a league whose people sign in at this provider."""
    return SignInSettings("Test School", provider.issuer, CLIENT, page, SECRET, **more)


def quick_client() -> httpx.Client:
    """Return a client for plain HTTP, without the system's certificates, whose loading takes a while."""
    return httpx.Client(verify=False, trust_env=False)


@contextmanager
def running_provider() -> Iterator[RunningProvider]:
    """Run a provider at which Ann is signed in."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Log nothing."""

        def do_GET(self) -> None:
            """Answer a browser, or the server that reads the description and the keys."""
            parts = urlsplit(self.path)
            asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
            provider.asked.append((parts.path, asked))
            match parts.path:
                case "/.well-known/openid-configuration":
                    self._send(200, json.dumps(provider.describe()).encode())
                case "/keys":
                    self._send(200, json.dumps(provider.keys()).encode())
                case "/authorize":
                    self._send(303, b"", provider.authorize(asked))
                case _:
                    self._send(404, b"")

        def do_POST(self) -> None:
            """Answer the token endpoint."""
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            provider.asked.append((self.path, form))
            self._send(*provider.token(form, self.headers.get("Authorization", "")))

        def _send(self, status: int, body: bytes, location: str = "") -> None:
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    person = {
        "sub": "person-1",
        "preferred_username": "Ann.Miller@school.example",
        "email": "ann@school.example",
        "email_verified": True,
        "groups": ["players"],
    }
    provider = RunningProvider(f"http://127.0.0.1:{server.server_port}", person)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
