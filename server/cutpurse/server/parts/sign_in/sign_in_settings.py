"""The settings of signing in with OpenID Connect, from a TOML file.

    name = "Example School"
    issuer = "https://login.school.example"
    client_id = "cutpurse"
    client_secret_file = "openid.secret"
    page = "https://league.school.example"
    email_domains = ["school.example"]
    host_groups = ["league-hosts"]

The client's secret is in a file of its own, or in the environment. This module asks no provider.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from cutpurse.engine.errors import UsageError
from cutpurse.wire.toml_file import FileKey, TomlTable, read_toml

__all__ = ["KEYS", "SECRET_VARIABLE", "SignInSettings", "is_safe_address", "read_sign_in"]

SECRET_VARIABLE: Final = "CUTPURSE_SIGN_IN_SECRET"
MAX_SECRET: Final = 1_000  # characters
MAX_NAME: Final = 60
MAX_TEXT: Final = 500
KEYS: Final = (
    FileKey("name", "name of the provider, for people: Sign in with NAME"),
    FileKey("issuer", "address of the provider, as in its ID tokens: `https://...`"),
    FileKey("client_id", "ID of this league at the provider"),
    FileKey(
        "client_secret_file",
        f"file with the client's secret, mode 600; `{SECRET_VARIABLE}` goes first",
        "a public client, without a secret",
    ),
    FileKey("page", "address of the page: `https://league.example`; the provider sends browsers back there"),
    FileKey("scopes", "list of scopes to ask for, beside `openid`", '`["profile", "email"]`'),
    FileKey(
        "owner_claim", "claim that names a new owner; of an e-mail address, what is before `@`", "`preferred_username`"
    ),
    FileKey("email_domains", "list of domains; the address must be verified by the provider", "every account"),
    FileKey("groups_claim", "claim with the groups of a person", "`groups`"),
    FileKey("groups", "list of groups; a person must be in one of them", "every account"),
    FileKey("host_groups", "list of groups whose members get the scope `admin`", "none"),
    FileKey("new_owners", "true: a first sign-in creates an owner", "true"),
    FileKey("session_hours", "hours until a session ends, 1 to 720", "12"),
    FileKey("token_days", "days that tokens made in a session may last, up to 3650; 0: no longer than it", "90"),
)
_LISTS: Final = ("scopes", "email_domains", "groups", "host_groups")
_TEXTS: Final = ("name", "issuer", "client_id", "client_secret_file", "page", "owner_claim", "groups_claim")
_REQUIRED: Final = tuple(key.name for key in KEYS if not key.default)
_NUMBERS: Final = {"session_hours": (1, 720), "token_days": (0, 3_650)}
_SCOPE: Final = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,100}", re.ASCII)  # RFC 6749, 3.3


@dataclass(frozen=True, slots=True)
class SignInSettings:
    """The settings of one provider; the keys of the file, without the path of the secret.

    Attributes:
        client_secret: The client's secret; empty for a public client.
    """

    name: str
    issuer: str
    client_id: str
    page: str
    client_secret: str = field(default="", repr=False)
    scopes: tuple[str, ...] = ("profile", "email")
    owner_claim: str = "preferred_username"
    email_domains: tuple[str, ...] = ()
    groups_claim: str = "groups"
    groups: tuple[str, ...] = ()
    host_groups: tuple[str, ...] = ()
    new_owners: bool = True
    session_hours: int = 12
    token_days: int = 90

    @property
    def callback(self) -> str:
        """Address to which the provider sends browsers back, as it must be registered there."""
        return f"{self.page}/sign-in/callback"


def read_sign_in(file: Path, environment: Mapping[str, str]) -> SignInSettings:
    """Read the settings of a file, and the secret.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it, or the secret, is invalid.
    """
    table = TomlTable(read_toml(file, f"no file {file} to sign in by"), str(file))
    table.check_keys([key.name for key in KEYS])
    lists = {name: table.texts(name) for name in _LISTS if name in table}
    numbers = {name: table.number(name, 0, *_NUMBERS[name]) for name in _NUMBERS if name in table}
    texts = {name: _line(table, name) for name in _TEXTS if name in table or name in _REQUIRED}
    if not all(_SCOPE.fullmatch(scope) for scope in lists.get("scopes", ())):
        raise UsageError(f"{file}: scopes has a scope that is none; one has no space and no quote")
    if "email_domains" in lists:
        lists["email_domains"] = tuple(domain.lower().lstrip("@") for domain in lists["email_domains"])
    texts["page"] = texts["page"].rstrip("/").lower()
    for name in ("issuer", "page"):
        if not is_safe_address(texts[name]):
            raise UsageError(
                f"{file}: {name} is {texts[name]!r:.100}; it is an address https://..., or http:// on this machine"
            )
    if urlsplit(texts["page"]).path:
        raise UsageError(f"{file}: page is {texts['page']!r:.100}; it is the root of a host, without a path")
    secret = _secret(file, texts.pop("client_secret_file", ""), environment)
    new_owners = table.switch("new_owners", True)
    return SignInSettings(**texts, **lists, **numbers, client_secret=secret, new_owners=new_owners)  # type: ignore[arg-type]


def is_safe_address(address: str) -> bool:
    """Return whether an address is of TLS, or of this machine, and has no part that only a browser would see."""
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    is_local = host in ("localhost", "127.0.0.1", "::1")
    is_plain = not (parts.fragment or parts.query or parts.username or parts.password)
    return bool(host) and is_plain and (parts.scheme == "https" or (parts.scheme == "http" and is_local))


def _line(table: TomlTable, name: str) -> str:
    text = table.text(name, None if name in _REQUIRED else "")
    if not text.isprintable() or len(text) > (MAX_NAME if name == "name" else MAX_TEXT):
        raise table.wrong(name, "a text of one line, and not longer than a few words")
    return text


def _secret(file: Path, named: str, environment: Mapping[str, str]) -> str:
    """Return the client's secret; empty if there is none."""
    if given := environment.get(SECRET_VARIABLE, "").strip():
        return _readable(given, SECRET_VARIABLE)
    if not named:
        return ""
    path = file.parent / named
    try:
        with path.open(encoding="utf-8") as opened:
            if os.name == "posix" and (mode := stat.S_IMODE(os.fstat(opened.fileno()).st_mode)) & 0o077:
                raise UsageError(f"others can read the secret in {path} (mode {mode:o}): chmod 600 {path}")
            return _readable(opened.read(MAX_SECRET + 100).strip(), str(path))
    except OSError as problem:
        raise UsageError(f"the secret in {path} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"the secret in {path} is no text") from None


def _readable(secret: str, where: str) -> str:
    if not secret or len(secret) > MAX_SECRET or not secret.isprintable():
        raise UsageError(f"the secret in {where} is empty, too long, or of several lines")
    return secret
