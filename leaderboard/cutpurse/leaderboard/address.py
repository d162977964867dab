"""The addresses of databases, as text. This module opens nothing and imports no driver."""

from __future__ import annotations

import os
import re

__all__ = ["is_postgresql", "without_password"]


def is_postgresql(address: str | os.PathLike[str]) -> bool:
    """Return whether an address is one of a PostgreSQL server; it is not checked further."""
    return os.fspath(address).startswith(("postgresql://", "postgres://"))


def without_password(address: str) -> str:
    """Return a PostgreSQL address without the password in its user part or its parameters."""
    address = re.sub(r"^(\w+://[^:@/?]*):[^@/?]*@", r"\1@", address)
    return re.sub(r"([?&])password=[^&]*(&|$)", lambda found: found[1] if found[2] else "", address)
