"""Version tests: is one version of a bot better than another one of its owner, against the bots of a ladder?

For each board, opponents are drawn from the bots of the ladder. The board has two matches with the same deal, the same
seats and the same opponents: one with the new version, the other with the old one. Chance decides which of them begins,
so an opponent that remembers the first match helps neither version. The difference of their place points goes into the
test that `cutpurse compare` uses, which decides when to stop. A board with a void match does not count, and another one
is dealt.

Matches of tests are not rated. They have at most a share of the tables that are in use, and at least one, so that tests
go on where little is played. An opponent plays for one test at a time, and only if it has other tables for its ladders.

This module knows no stream, no store and no clock: times (in seconds) and chance are passed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final

from cutpurse.engine.chance import Chance
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.statistics.place_points import board_difference, place_points
from cutpurse.leaderboard.statistics.sprt import Sprt, State, Verdict
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.matchmaking import Pairing, Seating
from cutpurse.server.matches.readiness import why_not_ready
from cutpurse.server.matches.roster import PairableBot, side_of

__all__ = ["SHARE", "DrawnBoard", "VersionTest", "VersionTests", "state_after"]

SHARE: Final = 0.1  # default share of the tables in use
FIRST_WAIT_S: Final = 5.0  # after a void board; doubled each time
LONGEST_WAIT_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class VersionTest:
    """A test that runs.

    Attributes:
        id: Its ID.
        ladder: Name of the ladder.
        new: The version that may be better.
        old: The version of the same owner that it is compared with.
        state: Sums over the boards that were played before.
    """

    id: str
    ladder: str
    new: Identity
    old: Identity
    state: State

    @property
    def owner(self) -> str:
        """The owner of both versions."""
        return self.new.owner

    @property
    def reason(self) -> str:
        """The reason of its matches as people read it: which versions are compared."""
        return f"test {self.id}: {self.new.shown} against {self.old.shown}"


@dataclass(frozen=True, slots=True)
class DrawnBoard:
    """A board to deal for a test.

    Attributes:
        test: The test.
        seating: The ladder, and the bots of both matches by seat.
        seat: The seat in which the matches differ.
        new_at: Index of the match with the new version.
        number: Number of boards of the test that count so far.
    """

    test: VersionTest
    seating: Seating
    seat: int
    new_at: int
    number: int


@dataclass(slots=True, eq=False)
class _RunningTest:
    """A test, and the board that is played for it."""

    test: VersionTest
    sprt: Sprt
    board: DrawnBoard | None = None
    points: dict[int, float] = field(default_factory=dict)  # of the compared seat, by index of the match
    not_before: float = 0.0
    retry_at: float = inf  # when the wait after a void board ends, while nothing has tried since
    wait_s: float = FIRST_WAIT_S
    waits_for: str = ""  # why no board is dealt, for its owner


def state_after(state: State, differences: Iterable[float]) -> State:
    """Return the state of a test after more boards; those after its verdict do not count."""
    for difference in differences:
        if state.verdict is not None:
            break
        state = state.after(difference)
    return state


class VersionTests:
    """The tests that run on a server, in the order of their turns."""

    def __init__(self, share: float = SHARE) -> None:
        """Start without tests.

        Args:
            share: Share of the tables in use that tests may have; 0 means that no test is played.
        """
        self.share = share
        self.tables = 0  # matches of tests that are played
        # Called with the ID of a test and its verdict when it has one. It must not raise.
        self.on_verdict: Callable[[str, Verdict], None] = lambda test, verdict: None
        self.needed: frozenset[Identity] = frozenset()  # versions in tests that run; replaced, never changed
        self._running: dict[str, _RunningTest] = {}
        self._lent: set[Identity] = set()  # opponents in boards that are played
        self._played_on: Counter[str] = Counter()  # boards that are played, by ladder

    # -- which tests run
    def add(self, test: VersionTest) -> None:
        """Add a test; one that has a verdict already ends at once, and one that runs stays as it is."""
        if test.id in self._running:
            return
        if (verdict := test.state.verdict) is not None:
            self.on_verdict(test.id, verdict)
            return
        self._running[test.id] = _RunningTest(test, Sprt(test.state))
        self._look_who_is_needed()

    def remove(self, test: str) -> None:
        """Deal no more boards for a test; an open board is played to its end."""
        if self._running.pop(test, None) is not None:
            self._look_who_is_needed()

    def forget_ladder(self, ladder: str) -> None:
        """Deal no more boards for the tests of a ladder, which go on at the arena that takes it."""
        for running in list(self._running.values()):
            if running.test.ladder == ladder:
                self.remove(running.test.id)

    @property
    def running(self) -> Sequence[str]:
        """IDs of the tests for which boards are dealt."""
        return list(self._running)

    def is_running(self, test: str) -> bool:
        """Return whether boards are dealt for a test; thread-safe."""
        return test in self._running

    @property
    def is_waiting(self) -> bool:
        """Whether a test has no open board, so that any change of a bot may let one be dealt."""
        return any(running.board is None for running in self._running.values())

    def waits_for(self, test: str) -> str:
        """Return why no board is dealt for a test that runs, for its owner; empty if one is played; thread-safe."""
        running = self._running.get(test)
        return "" if running is None or running.board is not None else running.waits_for

    def _look_who_is_needed(self) -> None:
        tests = [running.test for running in self._running.values()]
        self.needed = frozenset(identity for test in tests for identity in (test.new, test.old))

    def is_open_on(self, ladder: str) -> bool:
        """Return whether a board of a test is played on a ladder, even if the test is forgotten."""
        return self._played_on[ladder] > 0

    # -- tables
    def has_room(self, tables: int) -> bool:
        """Return whether one more match of a test may begin while `tables` matches are played, those included."""
        return self.share > 0 and self.tables < max(1, int(self.share * (tables + 1)))

    def next_event_at(self) -> float | None:
        """Return when `draw` may find a board if nothing else happens."""
        at = min((running.retry_at for running in self._running.values()), default=inf)
        return at if at < inf else None

    # -- the next board
    def draw(
        self,
        now: float,
        tables: int,
        pairing: Pairing,
        here: Mapping[Identity, PairableBot],
        is_paused: Callable[[Identity], bool],
        shut: Container[str],
        chance: Callable[[], Chance],
    ) -> DrawnBoard | None:
        """Return the board to deal next, and count it as played; None if there is none.

        Args:
            now: Seconds on the lobby's clock.
            tables: Number of matches that are played.
            pairing: Knows the ladders and their bots.
            here: Online bots.
            is_paused: Returns whether a version is paused.
            shut: Ladders on which no match may begin.
            chance: Returns the source of chance for drawing opponents and seats.
        """
        for running in self._running.values():
            if now >= running.retry_at:
                running.retry_at = inf
        boards = sum(running.board is not None for running in self._running.values())
        if self.share <= 0 or boards >= max(1, int(self.share * (tables + 1))):
            return None
        for running in list(self._running.values()):
            if running.board is not None or now < running.not_before:
                continue
            test = running.test
            ladder = pairing.ladder_named(test.ladder)
            running.waits_for = _why_not(test, ladder, here, is_paused, shut)
            if running.waits_for or ladder is None:
                continue
            opponents = self._opponents(test, ladder, pairing.bots_on(ladder.name), chance())
            if len(opponents) < ladder.seats - 1:
                needs = f"{ladder.seats - 1} opponents at once, and {len(opponents)} can play now"
                running.waits_for = f"ladder {ladder.name}: it needs {needs}"
                continue
            running.board = _arranged(test, ladder, here, opponents, chance(), running.sprt.state.boards)
            running.points = {}
            self._lent |= {player.identity for player in opponents}
            self._played_on[ladder.name] += 1
            self._running[test.id] = self._running.pop(test.id)  # the others come first now
            return running.board
        return None

    def _opponents(
        self, test: VersionTest, ladder: Ladder, bots: Sequence[PairableBot], chance: Chance
    ) -> list[PairableBot]:
        """Draw the opponents of a board, all that can play being equally likely, and one for each owner."""
        drawn: dict[tuple[str, ...], PairableBot] = {}
        for player in _shuffled([player for player in bots if self._may_meet(test, player)], chance):
            drawn.setdefault(side_of(player.identity), player)
        return list(drawn.values())[: ladder.seats - 1]

    def _may_meet(self, test: VersionTest, player: PairableBot) -> bool:
        """Return whether a bot may be an opponent in a test."""
        identity = player.identity
        if side_of(identity) in (side_of(test.new), side_of(test.old)) or identity in self._lent:
            return False
        return identity.owner == HOUSE or (player.max_tables > 1 and not player.declines_requests)

    # -- what became of it
    def match_began(self) -> None:
        """Count a match of a test that begins."""
        self.tables += 1

    def match_ended(self, board: DrawnBoard, at: int, places: Sequence[int]) -> None:
        """Note the end of a match that began.

        Args:
            board: Its board.
            at: Its index there.
            places: Places by seat; empty if it is void.
        """
        self.tables -= 1
        running = self._running.get(board.test.id)
        if running is not None and running.board is board and places:
            running.points[at] = place_points(places)[board.seat]

    def board_ended(self, board: DrawnBoard, now: float, is_void: bool) -> None:
        """Note that both matches of a board are over; a board with a void match does not count."""
        self._lent -= {player.identity for player in board.seating.players}
        self._played_on[board.test.ladder] -= 1
        running = self._running.get(board.test.id)
        if running is None or running.board is not board:
            return
        running.board = None
        if is_void or len(running.points) < len(board.seating.tables):
            running.waits_for = "the last board was void; another one is dealt soon"
            running.not_before = running.retry_at = now + running.wait_s
            running.wait_s = min(2 * running.wait_s, LONGEST_WAIT_S)
            return
        running.wait_s = FIRST_WAIT_S
        new, old = running.points[board.new_at], running.points[1 - board.new_at]
        verdict = running.sprt.update(board_difference([new], [old]))
        if verdict is not None:
            self.remove(board.test.id)
            self.on_verdict(board.test.id, verdict)


def _why_not(
    test: VersionTest,
    ladder: Ladder | None,
    here: Mapping[Identity, PairableBot],
    is_paused: Callable[[Identity], bool],
    shut: Container[str],
) -> str:
    """Return why no board can be dealt for a test, for its owner; empty if only opponents may be missing."""
    if ladder is None or ladder.name in shut:
        return f"ladder {test.ladder} plays no matches now"
    for identity in (test.new, test.old):
        if why := why_not_ready(identity, ladder, here, is_paused):
            return f"{identity.shown} {why}"
    return ""


def _arranged(
    test: VersionTest,
    ladder: Ladder,
    here: Mapping[Identity, PairableBot],
    opponents: Sequence[PairableBot],
    chance: Chance,
    number: int,
) -> DrawnBoard:
    """Choose the seats of a board, and which version plays first."""
    seat, new_at = chance.below(ladder.seats), chance.below(2)
    others = _shuffled(opponents, chance)
    versions = (test.new, test.old) if new_at == 0 else (test.old, test.new)
    tables = tuple((*others[:seat], here[identity], *others[seat:]) for identity in versions)
    return DrawnBoard(test, Seating(ladder, tables, test.reason), seat, new_at, number)


def _shuffled(bots: Sequence[PairableBot], chance: Chance) -> list[PairableBot]:
    order = list(range(len(bots)))
    chance.shuffle(order)
    return [bots[at] for at in order]
