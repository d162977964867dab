"""A board of a yardstick: one deal, played once by the agent against the opponents of its group.

Board `i` belongs to group `i % len(groups)`, so that any number of first boards is spread over all groups. In each
group the deals and seats are those of `cutpurse play` with the same seed: everybody has each seat equally often.

There is no clock, so the answers of a deterministic agent are the same on every machine. This module knows no score and
no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from cutpurse.engine.chance import match_key
from cutpurse.engine.documents import parse_json
from cutpurse.engine.match import Match
from cutpurse.engine.record import write_record
from cutpurse.engine.seating import arrangement
from cutpurse.games import game_named
from cutpurse.lab.luck import luck_events, total_luck
from cutpurse.lab.position_values import expected_points
from cutpurse.leaderboard.statistics.place_points import place_points
from cutpurse.process.pool import number_tasks
from cutpurse.sdk.bot import BotMaker, bot_makers
from cutpurse.sdk.local import Failure
from cutpurse.sdk.playing.digest import result_digest
from cutpurse.sdk.playing.seating import play_match

__all__ = ["AGENT", "BoardGroup", "YardstickBoard", "YardstickTable"]

AGENT: Final = "agent"  # its name in every match: a bot may read the names, and a record has them
DECIMALS: Final = 6  # of points, so that builds and machines agree on them


@dataclass(frozen=True)
class BoardGroup:
    """Boards of one game, number of seats and settings, against the same opponents.

    Attributes:
        rules: Version of the rules.
        field: Opponents, by name.
        luck: How much of the luck of the cards is subtracted, from 0 to 1: 0 where the value function is too crude.
    """

    game: str
    seats: int
    rules: str
    field: tuple[str, ...]
    settings: tuple[tuple[str, object], ...] = ()
    luck: float = 1.0

    @property
    def name(self) -> str:
        """The name, such as "greed/4", with the settings that differ from the default."""
        return "/".join((self.game, str(self.seats), *(name for name, _ in self.settings)))

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> BoardGroup:
        """Read a group of a set."""
        settings = tuple(sorted(value["settings"].items()))
        field = tuple(value["field"])
        return cls(value["game"], len(field) + 1, value["rules"], field, settings, float(value["luck"]))


@dataclass(frozen=True)
class YardstickBoard:
    """What an agent did on a board.

    Attributes:
        points: Its place points without the luck of the cards: about 1 for the best, 0 for the last.
        answers: Digest of all answers of the match, in words, and its result.
        faults: Number of decisions that it lost.
        is_taken_over: Whether it failed so often that its seat was played on by safe options.
        failure: Its first failure in one line; empty if there was none.
    """

    points: float
    answers: str
    faults: int = 0
    is_taken_over: bool = False
    failure: str = ""

    @classmethod
    def from_json(cls, line: Mapping[str, Any]) -> Self:
        """Read a board of a result.  Raises TypeError if a value is missing, or of another type."""
        board = cls(**line)
        usual = cls(0.0, "")
        for name in cls.__dataclass_fields__:
            if type(value := getattr(board, name)) is not type(getattr(usual, name)):
                raise TypeError(f"{name} is {value!r:.40}")
        return board

    def is_same_play(self, other: YardstickBoard) -> bool:
        """Return whether all seats answered alike on both, with the same points."""
        return (self.answers, self.points, self.faults) == (other.answers, other.points, other.faults)


@dataclass(frozen=True)
class YardstickTable:
    """What is common to all boards of a run; can be sent to another process."""

    seed: str  # the name of the set
    groups: tuple[BoardGroup, ...]
    agent: BotMaker
    numbers: tuple[int, ...]  # of the boards to play, in order

    def batch(self, places: range) -> list[YardstickBoard]:
        """Play several of the boards."""
        return [self.board(self.numbers[place]) for place in places]

    def describe(self, places: range) -> str:
        """Name some boards in an error."""
        numbers = self.numbers[places.start : places.stop]
        return f"{self.seed}, {number_tasks('boards', range(numbers[0], numbers[-1] + 1))} ({self.agent.name})"

    def board(self, number: int, watch: Callable[[Match], None] | None = None) -> YardstickBoard:
        """Play one board; `watch` is called after every answer."""
        index, group_number = divmod(number, len(self.groups))
        group = self.groups[group_number]
        seed = f"{self.seed}/{group.name}"
        players = arrangement(group.seats, seed, index)
        seat = players.index(0)
        others = bot_makers(group.field)
        makers = [self.agent if player == 0 else others[player - 1] for player in players]
        names = [AGENT if player == 0 else others[player - 1].name for player in players]
        match = Match(game_named(group.game), names, match_key(seed, index), dict(group.settings), log=True)
        result, failed, _ = play_match(match, makers, watch)
        failures = [Failure(0, self.agent.name, self.agent.file, number, *parts) for at, parts in failed if at == seat]
        record = parse_json(write_record(match))
        luck = total_luck(luck_events(match, expected_points), group.seats)[seat] if group.luck else 0.0
        points = place_points(result.places)[seat]
        return YardstickBoard(
            round(round(points, DECIMALS) - group.luck * round(luck, DECIMALS), DECIMALS),
            result_digest([record["choices"], record["result"]]).hex()[:16],
            len(failures),
            result.end_causes[seat].is_taken_over,
            failures[0].text() if failures else "",
        )
