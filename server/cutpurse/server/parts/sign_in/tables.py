"""The table of signing in: whose account at a provider is which owner's."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Field

from cutpurse.leaderboard.models import Base, UtcDateTime

__all__ = ["ACCOUNTS", "AccountRow"]


class AccountRow(Base, table=True):
    """A person's account at a sign-in provider (OpenID Connect), and the owner it is linked with."""

    __tablename__ = "accounts"
    issuer: str = Field(primary_key=True)  # address that names the provider
    subject: str = Field(primary_key=True)  # name of the account there, which never changes hands
    owner_id: int = Field(foreign_key="owners.id")
    linked: datetime = Field(sa_type=UtcDateTime)


ACCOUNTS = Base.metadata.tables["accounts"]
