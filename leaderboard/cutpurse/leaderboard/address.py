"""The addresses of databases, as text. This module opens nothing and imports no driver.

PostgreSQL's own programs take two forms: `postgresql://league@db.example/league` and `host=db.example dbname=league`.
"""

from __future__ import annotations

import os
import re
from typing import Final
from urllib.parse import unquote

__all__ = ["is_postgresql", "libpq_address", "without_password"]

_SCHEME: Final = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
# The parameters that name a server, a database or a user. An address of parameters begins with one of them.
_PARAMETERS: Final = re.compile(r"\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=")
_SECRETS: Final = ("password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret")
_SECRET_PARAMETER: Final = re.compile(
    rf"(?:^|\s+)(?:{'|'.join(_SECRETS)})\s*=\s*(?:'(?:[^'\\]|\\.)*')?.*?(?=\s+\w+\s*=|$)"
)


def is_postgresql(address: str | os.PathLike[str]) -> bool:
    """Return whether an address is one of a PostgreSQL server; it is not checked further."""
    text = os.fspath(address)
    return _SCHEME.match(text) is not None or _PARAMETERS.match(text) is not None


def libpq_address(address: str) -> str:
    """Return a PostgreSQL address as the driver reads it: with its scheme in small letters."""
    return _SCHEME.sub(lambda scheme: scheme[0].lower(), address, count=1) if _SCHEME.match(address) else address


def without_password(address: str) -> str:
    """Return an address without passwords and keys, in the form that the driver reads.

    A mistyped address that is no address of PostgreSQL loses them too.
    """
    if "://" not in address or _PARAMETERS.match(address):
        return _SECRET_PARAMETER.sub("", address).strip()
    address, _, query = libpq_address(address).partition("?")
    address = re.sub(r"^(\w+://[^:@/]*):[^/]*@", r"\1@", address)
    parts = [part for part in query.split("&") if unquote(part.partition("=")[0]).lower() not in _SECRETS]
    return "?".join(filter(None, (address, "&".join(parts))))
