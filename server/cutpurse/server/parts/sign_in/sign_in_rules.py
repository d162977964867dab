"""Who comes in with the claims of an ID token, as which new owner, and with which scopes.

The claims were verified. This module knows no provider and no database.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from cutpurse.server.parts.sign_in.sign_in_settings import SignInSettings

__all__ = ["AdmittedPerson", "ProviderAway", "SignInRefused", "admit"]

MAX_OWNER: Final = 32  # characters, as the registry of owners has it
_OTHERS: Final = re.compile(r"[^a-z0-9_.-]+")


class SignInRefused(Exception):
    """A person who does not come in; the text says why, in one line."""


class ProviderAway(SignInRefused):
    """A provider that cannot be asked now, or answers nonsense."""


class AdmittedPerson(NamedTuple):
    """A person who may come in.

    Args:
        subject: Name of their account at the provider.
        owner: Name of the owner that a first sign-in creates; empty if their claims name none.
        scopes: Scopes of their session.
    """

    subject: str
    owner: str
    scopes: tuple[str, ...]


def admit(claims: Mapping[str, Any], settings: SignInSettings) -> AdmittedPerson:
    """Return the person with these claims.

    Raises:
        SignInRefused: If the settings do not let them in.
    """
    if settings.email_domains:
        _check_email(claims, settings)
    groups = _groups(claims.get(settings.groups_claim))
    if settings.groups and not groups & {*settings.groups}:
        raise SignInRefused("your account is in no group that may sign in here; ask the host")
    is_host = bool(groups & {*settings.host_groups})
    scopes = ("admin", "play", "read") if is_host else ("play", "read")
    return AdmittedPerson(claims["sub"], _owner(claims, settings), scopes)


def _check_email(claims: Mapping[str, Any], settings: SignInSettings) -> None:
    """Check that the e-mail address is verified and of an allowed domain.  Raises SignInRefused."""
    email = claims.get("email")
    if not isinstance(email, str) or "@" not in email:
        raise SignInRefused(f"{settings.name} did not say your e-mail address, which this server needs; ask the host")
    if claims.get("email_verified") is not True:
        raise SignInRefused(f"{settings.name} has not verified your e-mail address; verify it there, and sign in again")
    if email.rpartition("@")[2].lower() not in settings.email_domains:
        raise SignInRefused("e-mail addresses of your domain may not sign in here; ask the host")


def _groups(claim: object) -> set[str]:
    """Return the groups of a claim: a list of texts, or one text."""
    listed = claim if isinstance(claim, list) else [claim]
    return {group for group in listed if isinstance(group, str)}


def _owner(claims: Mapping[str, Any], settings: SignInSettings) -> str:
    """Return the name of a new owner: the claim in small letters, without what a name cannot have."""
    claim = claims.get(settings.owner_claim)
    named = claim.partition("@")[0].lower() if isinstance(claim, str) else ""
    return _OTHERS.sub("-", named).strip("-._")[:MAX_OWNER]
