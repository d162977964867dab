"""A season: bots are paired, play and are rated, and the accuracy of the order is measured now and then.

A board is one deal. `plain` has one match. `rotation` has one match per seat with the same bots, each in every seat
once, and is rated once by the sum of place points. `duplicate` has as many matches as seats, with different bots, and
rates the bots of the same seat against each other by their place points. Before that its bots are exchanged between the
matches, seat by seat. Otherwise each match would have bots of similar strength, and place points would say little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.ladder.accuracy import WIDE, covered, kendall, shown_order, top_found
from benchmarks.ladder.schemes import Scheme, scheme_named
from benchmarks.ladder.synthetic_bots import Nature, World, places_of
from cutpurse.leaderboard.estimates.skill_fit import estimate
from cutpurse.leaderboard.parameter_fit import RankedMatch
from cutpurse.leaderboard.ratings import Skill, TrueSkill, rate_fast

__all__ = ["BOARDS", "TOP", "Look", "Plan", "Season", "board_results", "mixed", "points_of", "season"]

BOARDS = ("plain", "rotation", "duplicate")
TOP = 8  # bots at the top of the ranking, whose order matters most


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a season: `games` per bot on average, a look after every `every` games, `at_once` open matches.

    If `is_estimated`, a look uses the estimates from all results so far with placed bots first, as the server shows
    them. Else it uses the pairing skill, sorted by mu - 3 sigma. Pairing always uses the pairing skill.
    """

    nature: Nature
    scheme: str
    settings: TrueSkill
    seed: str
    games: int
    every: int = 20
    boards: str = "plain"
    at_once: int = 1
    is_estimated: bool = False

    def __post_init__(self) -> None:
        """Check the plan.  Raises ValueError for an unknown kind of boards, or too few bots."""
        if self.boards not in BOARDS:
            raise ValueError(f"no boards {self.boards}; there are {', '.join(BOARDS)}")
        if self.nature.bots < self.most_open * self.nature.seats:
            raise ValueError(
                f"{self.nature.bots} bots cannot sit at {self.most_open} tables of {self.nature.seats} at once"
            )

    @property
    def tables_of_a_board(self) -> int:
        """Number of matches of a board that different bots play."""
        return self.nature.seats if self.boards == "duplicate" else 1

    @property
    def most_open(self) -> int:
        """Maximum number of open matches."""
        return max(self.at_once, self.tables_of_a_board)

    @property
    def seats_of_a_board(self) -> int:
        """Number of seats in all matches of a board."""
        return self.nature.seats ** (1 if self.boards == "plain" else 2)


@dataclass(frozen=True, slots=True)
class Look:
    """The accuracy after `games` per bot: Kendall's tau, the share of intervals that hold, and the best bots found."""

    games: float
    tau: float
    covered: float
    top: float


@dataclass(frozen=True, slots=True)
class Season:
    """The result of a season.

    Attributes:
        looks: Accuracy over time.
        waits: Number of matches of others that began between two matches of a bot.
        turns: How often each bot had each seat.
        outcomes: All comparisons in the order of rating.
    """

    looks: Sequence[Look]
    waits: Sequence[int]
    turns: Sequence[Sequence[int]]
    outcomes: Sequence[RankedMatch]


class _Tables:
    """The open matches, and the figures of fairness."""

    def __init__(self, scheme: Scheme, nature: Nature, every_seat: bool) -> None:
        self.scheme = scheme
        self.every_seat = every_seat  # each bot plays every seat of its board
        self.open: list[tuple[int, ...]] = []
        self.waits: list[int] = []
        self.turns = [[0] * nature.seats for _ in range(nature.bots)]
        self._last: dict[int, int] = {}
        self._begun = 0

    def begin(self, most: int) -> None:
        """Begin matches until `most` are open or no more can be paired."""
        while len(self.open) < most and (bots := self.scheme.next()) is not None:
            for seat, bot in enumerate(bots):
                if bot in self._last:
                    self.waits.append(self._begun - self._last[bot] - 1)
                self._last[bot] = self._begun
                for had in range(len(bots)) if self.every_seat else (seat,):
                    self.turns[bot][had] += 1
            self._begun += 1
            self.open.append(bots)


def season(plan: Plan) -> Season:
    """Play a season; deterministic for the plan.  Raises ValueError if the scheme does not support the plan."""
    nature, settings = plan.nature, plan.settings
    world = World(nature, plan.seed)
    scheme = scheme_named(plan.scheme, nature.bots, nature.seats, settings, plan.seed, plan.most_open)
    tables = _Tables(scheme, nature, every_seat=plan.boards == "rotation")
    which = Random(f"{plan.seed}/which ends")
    skills = [settings.newcomer] * nature.bots
    looks: list[Look] = []
    outcomes: list[RankedMatch] = []
    played = 0
    while played < plan.games * nature.bots:
        tables.begin(plan.most_open)
        board = [tables.open.pop(which.randrange(len(tables.open))) for _ in range(plan.tables_of_a_board)]
        seated = mixed(board, which) if plan.boards == "duplicate" else board
        for bots, places in board_results(world, plan.boards, seated):
            for bot, skill in zip(bots, rate_fast(places, [skills[bot] for bot in bots], settings), strict=True):
                skills[bot] = skill
            outcomes.append(RankedMatch(bots, tuple(places)))
        for bots in board:
            scheme.ended(bots)
            scheme.rated({bot: skills[bot] for bot in bots})
        played += plan.seats_of_a_board
        if played >= (len(looks) + 1) * plan.every * nature.bots:
            believed, shown = _estimated(outcomes, skills, settings) if plan.is_estimated else _running(skills)
            looks.append(_look(played / nature.bots, world.skills, believed, shown))
    return Season(looks, tables.waits, tables.turns, outcomes)


def mixed(tables: Sequence[tuple[int, ...]], chance: Random) -> list[tuple[int, ...]]:
    """Exchange bots between matches at random; each stays in its seat."""
    by_seat = [chance.sample(bots, len(bots)) for bots in zip(*tables, strict=True)]
    return list(zip(*by_seat, strict=True))


def board_results(
    world: World, kind: str, tables: Sequence[tuple[int, ...]]
) -> list[tuple[tuple[int, ...], list[int]]]:
    """Play a board of a kind of `BOARDS`; return each group of bots rated together, and their places."""
    deal = world.deal()
    seats = len(deal)
    if kind == "plain":
        return [(bots, world.play(bots, deal)) for bots in tables]
    if kind == "rotation":
        (bots,) = tables
        points = dict.fromkeys(bots, 0.0)
        for turn in range(seats):
            seated = (*bots[turn:], *bots[:turn])
            for bot, point in zip(seated, points_of(world.play(seated, deal)), strict=True):
                points[bot] += point
        return [(bots, places_of(list(points.values()), 0.0))]
    points_at = [points_of(world.play(bots, deal)) for bots in tables]
    return [
        (tuple(bots[seat] for bots in tables), places_of([points[seat] for points in points_at], 0.0))
        for seat in range(seats)
    ]


def points_of(places: Sequence[int]) -> list[float]:
    """Compute place points: 1 for each opponent behind, a half for each with the same place."""
    return [sum(other > place for other in places) + (places.count(place) - 1) / 2 for place in places]


def _running(skills: Sequence[Skill]) -> tuple[Sequence[Skill], Sequence[float]]:
    """Return the pairing skills, and the values by which they are sorted."""
    return skills, [skill.exposed for skill in skills]


def _estimated(
    outcomes: Sequence[RankedMatch], running: Sequence[Skill], settings: TrueSkill
) -> tuple[Sequence[Skill], Sequence[float]]:
    """Return the estimated ratings, and the values by which rankings sort them; bots without results are newcomers."""
    found = estimate(outcomes, settings)  # type: ignore[arg-type]  # players are numbers here
    skills = list(running)
    for bot, one in found.items():
        skills[bot] = Skill(one.mu, (one.high - one.low) / (2 * WIDE))
    players = (bot for outcome in outcomes for bot in outcome.players)
    boards: Counter[int] = Counter(players)  # type: ignore[arg-type]  # players are numbers here
    return skills, shown_order(range(len(skills)), found, boards, settings.beta)


def _look(games: float, true: Sequence[float], skills: Sequence[Skill], shown: Sequence[float]) -> Look:
    return Look(games, kendall(true, shown), covered(true, skills), top_found(true, shown, min(TOP, len(true) // 2)))
