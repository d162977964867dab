"""What a worker needs to play a match, but the seed of its deal, as JSON.

The server writes it when it announces the match, and a worker reads it. This module knows no queue and no database.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard.results import VOID_SERVER, Deal, FinishedMatch, FinishedSeat, Identity, LadderTerms
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.ladder_config import Ladder

__all__ = ["MatchTask", "TaskSeat"]


@dataclass(frozen=True, slots=True)
class TaskSeat:
    """A bot in a seat of a match.

    Attributes:
        player: The bot.
        files: SHA-256 of its packed files, as hex; empty for a house bot.
    """

    player: Identity
    files: str = ""


@dataclass(frozen=True, slots=True)
class MatchTask:
    """A match to play.

    Attributes:
        match: ID of the match.
        ladder: Name of its ladder.
        game: Name of its game.
        rules: Version of the game's rules.
        settings: Settings of the game.
        clock: Time controls of the ladder.
        board: ID of the board in the store.
        commitment: Commitment to the deal.
        params: Parameters of the deal.
        started: When the match was announced.
        reason: Why these bots meet.
        seats: The bots, by seat.
        hides_names: Whether its bots do not learn whom they play against.
    """

    match: str
    ladder: str
    game: str
    rules: str
    settings: Mapping[str, str]
    clock: Mapping[str, int]
    board: str
    commitment: bytes
    params: bytes
    started: datetime
    reason: str
    seats: tuple[TaskSeat, ...]
    hides_names: bool = False

    @property
    def players(self) -> tuple[Identity, ...]:
        """The bots, by seat."""
        return tuple(seat.player for seat in self.seats)

    def deal(self, seed: bytes) -> Deal:
        """Return the deal with this seed."""
        return Deal(self.board, self.commitment, seed, self.params)

    def as_ladder(self) -> Ladder:
        """Return a ladder with the rules and clocks of this match, which pairs nobody."""
        house = tuple(seat.player.bot for seat in self.seats if seat.player.owner == HOUSE)
        return Ladder(
            self.ladder,
            self.game,
            len(self.seats),
            self.settings,
            TimeControl(**self.clock),
            matches_wanted=0,
            terms=LadderTerms(house=house),
        )

    def void(self, seed: bytes, finished: datetime) -> FinishedMatch:
        """Return the match as void by the server's fault."""
        return FinishedMatch(
            match=self.match,
            ladder=self.ladder,
            rules=self.rules,
            deal=self.deal(seed),
            started=self.started,
            finished=finished,
            decisions=0,
            seats=tuple(FinishedSeat(player, None, None, VOID_SERVER) for player in self.players),
            void_cause=VOID_SERVER,
            reason=self.reason,
        )

    def to_json(self) -> str:
        """Write the task."""
        written = {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "settings": dict(self.settings),
            "clock": dict(self.clock),
            "commitment": self.commitment.hex(),
            "params": self.params.decode(),
            "started": self.started.isoformat(),
            "seats": [[*seat.player, seat.files] for seat in self.seats],
        }
        return json.dumps(written, separators=(",", ":"), sort_keys=True)

    @staticmethod
    def files_in(text: str) -> set[bytes]:
        """Return the SHA-256 of all files that a task needs, also of a task that another version wrote."""
        return {bytes.fromhex(files) for *_, files in json.loads(text)["seats"] if files}

    @classmethod
    def from_json(cls, text: str) -> MatchTask:
        """Read a task that `to_json` wrote."""
        written: dict[str, Any] = json.loads(text)
        return cls(
            **{
                **written,
                "commitment": bytes.fromhex(written["commitment"]),
                "params": written["params"].encode(),
                "started": datetime.fromisoformat(written["started"]),
                "seats": tuple(TaskSeat(Identity(*seat[:3]), seat[3]) for seat in written["seats"]),
            }
        )
