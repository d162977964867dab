"""Ladders: each is a game with a number of seats, settings and clocks, and has its own ranking.

A ladder never changes, except for its terms: who plays on it, how many, and until when. Ladders come from the
leaderboard (`ladder_of`), from a message (`ladder_defined`), or are the defaults of a new server. This module knows no
database, and of bots only the names of house bots.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.errors import SettingsError, UnknownGame
from cutpurse.engine.game import Game
from cutpurse.games import GAMES, game_named
from cutpurse.leaderboard.comparisons import BOARDS, PLAIN
from cutpurse.leaderboard.ladders import NewLadder
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import (
    PAUSE_FAILED,
    PAUSE_WINDOW,
    LadderTerms,
    memory_problem,
    pause_problem,
    title_problem,
)
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.house_bots import HOUSE_BOTS
from cutpurse.server.inner_ladders import is_inner
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.ladder_clock import control_of

__all__ = [
    "MIN_BASE_MS",
    "NUMBERS",
    "DivisionMembers",
    "Ladder",
    "check_memory",
    "check_people",
    "check_times",
    "default_ladders",
    "ladder_defined",
    "ladder_of",
    "ladder_with_defaults",
    "terms_defined",
]

MIN_BASE_MS: Final = 20_000  # per decision on a rated ladder with people: to read the table and choose
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}")
_SIGNS: Final = "it can be 1 to 32 of a-z, 0-9, '_', '-' and '.', the first a letter or digit"
_MOST_NAMES: Final = 1_000  # in one list of a message
_MOST_BOTS: Final = 1_000_000
_LATEST_MS: Final = 4_102_444_800_000  # the year 2100
_USUAL_TIES: Final = 0.02


# above the fitted value, so that the skill of a bot that learns while playing still moves:
# see docs/explanation/boards.md
_TAU: Final = 0.025
# Initial parameters of new ladders. Beta and ties are those of 2,000 matches (Bag-O-Loot: 1,000) of four bots from
# random to greedy, by the default rules. `python -m benchmarks.initial_parameters` computes them again.
NUMBERS: Final[Mapping[str, TrueSkill]] = MappingProxyType(
    {
        "steal_and_plunder": TrueSkill(draw_probability=0.01, beta=14.0, tau=_TAU),
        "stolen_treasure": TrueSkill(draw_probability=0.02, beta=8.3, tau=_TAU),
        "szmal": TrueSkill(draw_probability=0.044, beta=8.8, tau=_TAU),
        "greed": TrueSkill(draw_probability=0.0066, beta=11.2, tau=_TAU),
        "bag_o_loot": TrueSkill(draw_probability=0.0093, beta=9.8, tau=_TAU),
    }
)


@dataclass(frozen=True, slots=True)
class DivisionMembers:
    """The bots that a ladder admits because it is a division of a season, each as owner and name.

    Attributes:
        bots: The bots of the division.
        others: Bots of the other divisions; None if newcomers are not admitted, else all but these are.
        is_waiting: Whether bots may wait here while the ladder is frozen, since a final or another season follows.
    """

    bots: frozenset[tuple[str, str]]
    others: frozenset[tuple[str, str]] | None
    is_waiting: bool

    def admits(self, owner: str, bot: str) -> bool:
        """Return whether a bot plays here."""
        return (owner, bot) in self.bots or (self.others is not None and (owner, bot) not in self.others)


@dataclass(frozen=True, slots=True)
class Ladder:
    """A ladder with its current terms.

    Args:
        name: Its name.
        game: Name of its game.
        seats: Number of players.
        settings: Settings of the game; only those that differ from its defaults are stored, as text.
        control: Clocks.
        rating: Parameters of the rating.
        matches_wanted: Start no more matches after this many that are not void; None for no limit.
        terms: Who may play, and until when.
        boards: Kind of its boards, see `cutpurse.leaderboard.comparisons`.
        is_hosted: Only submitted and house bots play, and workers play the matches.
        members: The bots that it admits as a division of a season, not stored with it; None if it is none.

    Raises:
        UnknownGame: If there is no such game.
        SettingsError: If the seats or settings are invalid.
    """

    name: str
    game: str
    seats: int
    settings: Mapping[str, str] = field(default_factory=dict)
    control: TimeControl = field(default_factory=TimeControl)
    rating: TrueSkill = field(default_factory=lambda: TrueSkill(draw_probability=_USUAL_TIES))
    matches_wanted: int | None = None
    terms: LadderTerms = field(default_factory=LadderTerms)
    boards: str = PLAIN  # or "rotation", or "duplicate"
    is_hosted: bool = False
    members: DivisionMembers | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        changed = game_named(self.game).check(self.seats, self.settings).changed()
        object.__setattr__(self, "settings", MappingProxyType(changed))

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def kept(self) -> NewLadder:
        """The form that the leaderboard stores."""
        return NewLadder(
            self.name,
            self.game,
            self.seats,
            self.rating,
            self.settings,
            asdict(self.control),
            self.terms,
            self.boards,
            self.is_hosted,
        )

    @property
    def rules(self) -> type[Game]:
        """The game's class."""
        return GAMES[self.game]

    @property
    def is_for_people(self) -> bool:
        """Whether only people play here: every match is requested, and none is paired."""
        return is_inner(self.terms)

    def is_same(self, other: Ladder) -> bool:
        """Return whether nothing but the terms and `matches_wanted` differs."""
        return replace(self, terms=other.terms, matches_wanted=other.matches_wanted) == other

    def is_frozen(self, at: datetime) -> bool:
        """Return whether no match may begin any more at this time of day."""
        frozen = self.terms.frozen
        return frozen is not None and at >= frozen


def ladder_of(entry: LadderEntry) -> Ladder:
    """Return a stored ladder.

    Raises:
        UnknownGame: If this version does not have its game.
        SettingsError: If this version does not have its settings.
    """
    return Ladder(
        entry.name,
        entry.game,
        entry.seats,
        entry.settings,
        TimeControl(**entry.clock),
        entry.rating,
        terms=entry.terms,
        boards=entry.boards,
        is_hosted=entry.is_hosted,
    )


def ladder_defined(defined: ladder_pb2.LadderDefined, kept: Ladder | None = None) -> Ladder:
    """Return the ladder that a request defines; missing fields get the game's defaults.

    `kept` is the stored ladder of this name, if any; its settings keep their meaning.

    Raises:
        CallRefused: NOT_FOUND for an unknown game, SETTINGS for invalid fields.
    """
    if not _NAME.fullmatch(defined.name):
        raise CallRefused("SETTINGS", f"a ladder cannot be called '{legible(defined.name, 40)}'; {_SIGNS}")
    names = [setting.name for setting in defined.settings]
    if len(names) > 100 or len(set(names)) < len(names):
        raise CallRefused("SETTINGS", f"ladder {defined.name} has {len(names)} settings; each can be given once")
    try:
        game = game_named(defined.game)
    except UnknownGame as problem:
        raise CallRefused("NOT_FOUND", legible(str(problem), 2_000)) from None
    seats = defined.seats or game.usual_seats
    try:
        ladder = ladder_with_defaults(
            defined.name,
            defined.game,
            seats,
            _settings_defined(game, seats, {setting.name: setting.value for setting in defined.settings}, kept),
            control_of(defined),
        )
        ladder = replace(
            ladder, terms=terms_defined(defined.terms), boards=_boards_defined(defined), is_hosted=defined.hosted
        )
    except SettingsError as problem:
        raise CallRefused("SETTINGS", legible(str(problem), 2_000)) from None
    check_people(ladder.terms, ladder.control, ladder.boards, is_hosted=ladder.is_hosted)
    check_memory(ladder.terms, ladder.boards, is_hosted=ladder.is_hosted)
    return ladder


def check_memory(terms: LadderTerms, boards: str, *, is_hosted: bool) -> None:
    """Check that bots can have a memory on a ladder if its terms give them one.

    Raises:
        CallRefused: SETTINGS.
    """
    why = ""
    if boards == "rotation":  # the same cards come again
        why = "its boards are rotations, for bots that keep no memory"
    elif is_hosted:
        why = "its matches are played by workers, which have no memory of bots"
    if terms.memory_kib and why:
        raise CallRefused("SETTINGS", f"bots cannot have a memory of {terms.memory_kib:,} KiB: {why}")


def check_people(terms: LadderTerms, clock: TimeControl, boards: str, *, is_hosted: bool) -> None:
    """Check that people can play on a ladder if its terms admit them.

    Raises:
        CallRefused: SETTINGS.
    """
    if not terms.admits_people:
        return
    why = ""
    if is_hosted:
        why = "its matches are played by workers, and people play on the page"
    elif boards != PLAIN:  # a person remembers cards and talks to friends
        why = f"its boards are of kind {boards}, and people play plain ones, where no deal is seen twice"
    elif clock.base_ms < MIN_BASE_MS:
        why = f"base_ms is {clock.base_ms:,}, and people need at least {MIN_BASE_MS:,} for each decision"
    if why:
        raise CallRefused("SETTINGS", f"people cannot be admitted: {why}")


def ladder_with_defaults(name: str, game: str, seats: int, settings: Mapping[str, str], control: TimeControl) -> Ladder:
    """Return a ladder without limits, with the rating parameters of new ladders of its game.

    Raises:
        UnknownGame: If there is no such game.
        SettingsError: If the seats or settings are invalid.
    """
    return Ladder(name, game, seats, settings, control, NUMBERS.get(game) or TrueSkill(draw_probability=_USUAL_TIES))


def _settings_defined(
    game: type[Game], seats: int, given: Mapping[str, object], kept: Ladder | None
) -> Mapping[str, str]:
    """Return the settings of a new ladder, or those of `kept` if the given ones are equal to them.

    Raises:
        SettingsError: If they are invalid.
    """
    if kept is not None and game.check(seats, given).changed() == kept.settings:
        return kept.settings
    return game.set_up(seats, given).changed()


def _boards_defined(defined: ladder_pb2.LadderDefined) -> str:
    """Return the kind of a ladder's boards; plain by default.

    Raises:
        CallRefused: SETTINGS.
    """
    if defined.boards not in ladder_pb2.BoardKind.values() or defined.boards == ladder_pb2.BOARD_KIND_TEST:
        there = ", ".join(BOARDS)
        raise CallRefused("SETTINGS", f"ladder {defined.name} has boards of kind {defined.boards}; there are: {there}")
    name = ladder_pb2.BoardKind.Name(defined.boards).removeprefix("BOARD_KIND_").lower()
    kind = name if name in BOARDS else PLAIN
    if defined.hosted and kind != PLAIN:
        raise CallRefused("SETTINGS", f"ladder {defined.name} is hosted, so its boards are plain, not of kind {kind}")
    return kind


def terms_defined(terms: ladder_pb2.LadderTerms, kept: Collection[str] = ()) -> LadderTerms:
    """Return the terms that a request defines.

    `kept` are house bots that may stay although they are unknown, since older versions accepted any name.

    Raises:
        CallRefused: SETTINGS.
    """
    for what, names in (("an owner", terms.owners), ("a house bot", terms.house)):
        if len(names) > _MOST_NAMES:
            raise CallRefused("SETTINGS", f"{len(names)} names of {what}: a ladder has {_MOST_NAMES} at most")
        for name in names:
            if not _NAME.fullmatch(name):
                raise CallRefused("SETTINGS", f"{what} cannot be called '{legible(name, 40)}'; {_SIGNS}")
    for name in terms.house:
        if name not in HOUSE_BOTS and name not in kept:
            raise CallRefused("SETTINGS", f"there is no house bot '{name}'; there are: {', '.join(HOUSE_BOTS)}")
    for most, whose in ((terms.most_bots, ""), (terms.most_per_owner, " of an owner")):
        if most > _MOST_BOTS:
            raise CallRefused("SETTINGS", f"at most {most} bots{whose}: it can be 0 (any number) to {_MOST_BOTS:,}")
    failed = terms.pause_failed if terms.HasField("pause_failed") else PAUSE_FAILED
    window = terms.pause_window if terms.HasField("pause_window") else PAUSE_WINDOW
    if problem := pause_problem(failed, window):
        raise CallRefused("SETTINGS", problem)
    for what in ("frozen_ms", "results_hidden_until_ms", "names_hidden_until_ms", "replays_hidden_until_ms"):
        if (ms := getattr(terms, what)) > _LATEST_MS:
            raise CallRefused("SETTINGS", f"{what} is {ms}; it is in ms since 1970, and before 2100")
    if problem := title_problem(terms.title) or memory_problem(terms.memory_kib):
        raise CallRefused("SETTINGS", problem)
    return LadderTerms(
        owners=tuple(dict.fromkeys(terms.owners)),
        most_bots=terms.most_bots,
        is_private=terms.private,
        frozen=_moment(terms.frozen_ms),
        house=tuple(dict.fromkeys(terms.house)),
        most_per_owner=terms.most_per_owner,
        pause_failed=failed,
        pause_window=window,
        voids_outages=terms.voids_outages,
        results_hidden_until=_moment(terms.results_hidden_until_ms),
        title=terms.title,
        admits_people=terms.people,
        names_hidden_until=_moment(terms.names_hidden_until_ms),
        memory_kib=terms.memory_kib,
        replays_hidden_until=_moment(terms.replays_hidden_until_ms),
    )


def check_times(terms: LadderTerms, now: datetime) -> None:
    """Check that the times in the terms of a new ladder are not over: they would do nothing, or let nobody play.

    Raises:
        CallRefused: SETTINGS if one is.
    """
    for what in ("results_hidden_until", "names_hidden_until", "replays_hidden_until", "frozen"):
        time = getattr(terms, what)
        if time is not None and time <= now:
            text = f"{what.replace('_', ' ')} {time:%Y-%m-%d %H:%M} UTC: that is in the past; name a later time"
            raise CallRefused("SETTINGS", text)


def _moment(ms: int) -> datetime | None:
    return datetime.fromtimestamp(ms / 1_000, UTC) if ms else None


def default_ladders(control: TimeControl | None = None, matches_wanted: int | None = None) -> tuple[Ladder, ...]:
    """Return a ladder for each game under the game's name, with default seats and rules."""
    return tuple(
        Ladder(
            name,
            name,
            rules.usual_seats,
            rules.set_up(rules.usual_seats, {}).changed(),
            control or TimeControl(),
            NUMBERS.get(name) or TrueSkill(draw_probability=_USUAL_TIES),
            matches_wanted,
        )
        for name, rules in GAMES.items()
    )
