"""The part `sign_in` of a server: people with an account at its provider get sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from cutpurse.leaderboard.store import Store
from cutpurse.server.hosting.part import Core, Part, Service
from cutpurse.server.parts.sign_in import openid_provider
from cutpurse.server.parts.sign_in.accounts import ProviderAccount, link_account
from cutpurse.server.parts.sign_in.sign_in_service import SIGN_IN, SignIn, SignInService
from cutpurse.server.parts.sign_in.sign_in_settings import SignInSettings
from cutpurse.v1 import sign_in_pb2

__all__ = ["SignInPart", "link_in_database"]


class SignInPart(Part):
    """Lets people sign in; what they make in a session lasts as long as the settings say."""

    def __init__(self, settings: SignInSettings, core: Core) -> None:
        """Set up, without asking the provider."""
        self._settings = settings
        core.session_token_days = settings.token_days
        provider = openid_provider.OpenIdProvider(settings, core.utc)
        self._service = SignInService(
            SignIn(settings, provider, core.store),
            core.entrance,
            core.log,
            is_good=core.entrance.is_good,
            incident_number=core.incident_number,
            acts=core.acts,
        )

    def services(self) -> Sequence[Service]:
        """Return the service of signing in."""
        return [Service(SIGN_IN, self._service.handler())]

    def close(self) -> None:
        """Let nobody else sign in."""
        self._service.close()

    def greeting(self) -> Sequence[str]:
        """Return where people sign in."""
        return [f"people sign in with {self._settings.name}, which sends them back to {self._settings.callback}"]


def link_in_database(store: Store, asked: sign_in_pb2.LinkAccountRequest) -> sign_in_pb2.LinkAccountResponse:
    """Answer LinkAccount without a server; a database knows no provider, so the issuer must be named."""
    account = ProviderAccount(asked.issuer, asked.subject)
    before = store.write(link_account, account, asked.owner, datetime.now(UTC))
    return sign_in_pb2.LinkAccountResponse(previous_owner=before)
