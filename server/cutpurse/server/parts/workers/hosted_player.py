"""The bots of hosted ladders, as the pairing sees them. None of them is online: workers start them for each match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.leaderboard.results import Identity
from cutpurse.server.parts.submissions.submission_queries import SubmissionEntry
from cutpurse.wire.manifest import Manifest

__all__ = ["HostedPlayer", "hosted_player"]

ANY_NUMBER: Final = 1_000_000  # each match has processes of its own


@dataclass(frozen=True, slots=True, eq=False)
class HostedPlayer:
    """A submitted bot or a house bot.

    Attributes:
        identity: The bot.
        games: Games that it plays; empty means every game.
        ladders: Ladders that it plays on; empty means every ladder of its games.
        digest: SHA-256 of its archive; empty for a house bot.
        submission: ID of its submission; 0 for a house bot.
    """

    identity: Identity
    games: Sequence[str] = ()
    ladders: Sequence[str] = ()
    digest: bytes = b""
    submission: int = 0

    @property
    def free_tables(self) -> int:
        """Number of further matches that it would play now."""
        return ANY_NUMBER

    @property
    def max_tables(self) -> int:
        """Maximum number of simultaneous matches."""
        return ANY_NUMBER

    @property
    def declines_requests(self) -> bool:
        """Whether only its own owner may request matches with it."""
        return True

    @property
    def forgets(self) -> bool:
        """Whether it keeps no memory between matches."""
        return True

    def plays(self, game: str, ladder: str) -> bool:
        """Return whether it plays on this ladder of this game."""
        return ladder in self.ladders if self.ladders else not self.games or game in self.games


def hosted_player(entry: SubmissionEntry, manifest: Manifest) -> HostedPlayer:
    """Return an active submission as the pairing sees it."""
    identity = Identity(entry.owner, entry.bot, entry.version)
    return HostedPlayer(identity, manifest.games, entry.ladders, entry.digest, entry.id)
