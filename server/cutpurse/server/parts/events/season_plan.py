"""The plan of a series of seasons: all that is fixed before its first match.

A season has divisions, each with a ladder of its own. Its plan has the rules of these ladders, the sizes of the
divisions, when a season ends, and who plays where in the first one. This module knows no database and no clock.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard.ladders import NewLadder
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.seasons import NewSeason, SeasonBot
from cutpurse.server.ladder_config import Ladder, ladder_with_defaults

__all__ = ["DivisionPlan", "FinalPlan", "SeasonPlan"]

_TERMS: Final = (
    "owners",
    "is_private",
    "house",
    "most_per_owner",
    "pause_failed",
    "pause_window",
    "voids_outages",
)
_TIMES: Final = ("names_hidden_until", "replays_hidden_until")


@dataclass(frozen=True, slots=True)
class DivisionPlan:
    """A division.

    Attributes:
        size: Maximum number of bots; 0 in the last division, which has no limit.
        down: Number of bots that go down after a season, and of those that come up from the next division; 0 in the
            last division.
        bots: Its bots in the first season, as owner and name, by seed.
    """

    size: int
    down: int
    bots: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FinalPlan:
    """The knock-out final of the best `top` bots of the first division, with duels of at most `best_of` boards."""

    top: int
    best_of: int


@dataclass(frozen=True, slots=True)
class SeasonPlan:
    """The plan of a series.

    Attributes:
        ladder: Rules and terms of each division; its name is that of the series.
        divisions: The divisions, the first one first.
        matches: A season ends when each bot has played this many rated matches; 0 if their number does not matter.
        lasts_s: A season ends after this time, in seconds; 0 if time does not matter.
        ends: Time at which the only season ends; None if there is none.
        pause_s: Seconds between the end of a season and the next one.
        seasons: Number of seasons; 0 means until a host stops them.
        away_s: A bot that has been away for this time, in seconds, has left.
        final: The final; None if there is none.
    """

    ladder: Ladder
    divisions: tuple[DivisionPlan, ...]
    matches: int
    lasts_s: int
    ends: datetime | None
    pause_s: int
    seasons: int
    away_s: int
    final: FinalPlan | None

    @property
    def name(self) -> str:
        """Name of the series."""
        return self.ladder.name

    @property
    def text(self) -> str:
        """The plan as JSON; the same plan has the same text."""
        terms = self.ladder.terms
        facts = {
            "name": self.name,
            "game": self.ladder.game,
            "seats": self.ladder.seats,
            "settings": dict(self.ladder.settings),
            "clock": asdict(self.ladder.control),
            "boards": self.ladder.boards,
            "terms": {
                **{name: getattr(terms, name) for name in _TERMS},
                "results_hidden_until": _iso(terms.results_hidden_until),
                # plans without them keep their text, and so their digest
                **{name: _iso(time) for name in _TIMES if (time := getattr(terms, name)) is not None},
            },
            "divisions": [asdict(division) for division in self.divisions],
            "matches": self.matches,
            "lasts_s": self.lasts_s,
            "ends": _iso(self.ends),
            "pause_s": self.pause_s,
            "seasons": self.seasons,
            "away_s": self.away_s,
            "final": None if self.final is None else asdict(self.final),
        }
        return json.dumps(facts, separators=(",", ":"), sort_keys=True)

    @property
    def digest(self) -> str:
        """The SHA-256 of the text, in hexadecimal."""
        return sha256(self.text.encode()).hexdigest()

    @classmethod
    def from_text(cls, text: str) -> SeasonPlan:
        """Read a plan that `text` returned.

        Raises:
            UnknownGame: If this version does not have its game.
            SettingsError: If this version does not have its settings.
        """
        facts = json.loads(text)
        given = facts["terms"]
        terms: dict[str, Any] = {
            **{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()},
            "results_hidden_until": _moment(given["results_hidden_until"]),
            **{name: _moment(given.get(name)) for name in _TIMES},
        }
        ladder = ladder_with_defaults(
            facts["name"], facts["game"], facts["seats"], facts["settings"], TimeControl(**facts["clock"])
        )
        return cls(
            replace(ladder, terms=LadderTerms(**terms), boards=facts["boards"]),
            tuple(_division(division) for division in facts["divisions"]),
            facts["matches"],
            facts["lasts_s"],
            _moment(facts["ends"]),
            facts["pause_s"],
            facts["seasons"],
            facts["away_s"],
            None if facts["final"] is None else FinalPlan(**facts["final"]),
        )

    def is_last(self, number: int) -> bool:
        """Return whether no season comes after season `number`."""
        return bool(self.seasons) and number >= self.seasons

    def ends_at(self, began: datetime) -> datetime | None:
        """Return when a season ends at the latest; None if only its matches end it."""
        moments = [began + timedelta(seconds=self.lasts_s)] if self.lasts_s else []
        if self.ends is not None:
            moments.append(self.ends)
        return min(moments, default=None)

    def next_at(self, number: int, over: datetime) -> datetime | None:
        """Return when the season after season `number` begins, if that was over at a time; None if there is none."""
        return None if self.is_last(number) else over + timedelta(seconds=self.pause_s)

    def ladder_name(self, number: int, division: int) -> str:
        """Return the name of the ladder of a division, counted from 1, in season `number`."""
        return f"{self.name}-{division}-s{number}"

    def first_season(self, began: datetime) -> NewSeason:
        """Return the first season."""
        return self.season(1, began, [division.bots for division in self.divisions])

    def season(self, number: int, began: datetime, divisions: Sequence[Sequence[tuple[str, str]]]) -> NewSeason:
        """Return a season, with its bots by division and seed, each as owner and name."""
        bots = [
            SeasonBot(owner, bot, division, seed)
            for division, members in enumerate(divisions, 1)
            for seed, (owner, bot) in enumerate(members, 1)
        ]
        ladders = [self._new_ladder(number, division, began) for division in range(1, len(self.divisions) + 1)]
        return NewSeason(ladders, bots, began)

    def _new_ladder(self, number: int, division: int, began: datetime) -> NewLadder:
        """Return the ladder of a division; it freezes by itself when the season ends at the latest."""
        terms = replace(self.ladder.terms, frozen=self.ends_at(began))
        return replace(self.ladder, name=self.ladder_name(number, division), terms=terms).kept


def _division(facts: Mapping[str, Any]) -> DivisionPlan:
    return DivisionPlan(facts["size"], facts["down"], tuple((owner, bot) for owner, bot in facts["bots"]))


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
