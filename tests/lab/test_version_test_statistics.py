"""How often a version test on a server is wrong: its whole loop with simulated boards, 1,000 runs of each kind."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

import pytest

from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.statistics.sprt import Design, State, Verdict
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.matchmaking import Pairing
from cutpurse.server.matches.roster import PairableBot
from cutpurse.server.matches.version_tests import DrawnBoard, VersionTest, VersionTests
from tests.server.test_pairing import Somebody

NEW, OLD = Identity("ann", "sneak", "2"), Identity("ann", "sneak", "1")
SEATS = 4


def places_of(strengths: list[float], random: Random) -> list[int]:
    """The places of a simulated match."""
    scores = [random.gauss(strength, 1.0) for strength in strengths]
    return [1 + sum(other > score for other in scores) for score in scores]


def verdict_of(number: int, edge: float, design: Design) -> Verdict:
    """Run a test to its end; the new version is stronger by `edge`. One board in ten is void."""
    random = Random(number)
    new, old = (Somebody("sneak", 4, owner="ann", version=version) for version in "21")
    others = [Somebody("brute", 4, owner=f"bob{at}") for at in range(6)]
    pairing = Pairing([Ladder("it", "greed", SEATS)], Chance(bytes(KEY_BYTES)))
    here: Mapping[Identity, PairableBot] = {player.identity: player for player in (new, old, *others)}
    for player in here.values():
        pairing.enter(player)
    strengths = {player.identity: random.gauss(0.0, 0.5) for player in others} | {OLD: 0.0, NEW: edge}
    chance = Chance(random.randbytes(KEY_BYTES))
    tests, verdicts, now = VersionTests(), list[Verdict](), 0.0
    tests.on_verdict = lambda test, verdict: verdicts.append(verdict)
    tests.add(VersionTest("t1", "it", NEW, OLD, State(design)))
    while not verdicts:
        now += 1_000.0
        board = tests.draw(now, 0, pairing, here, lambda identity: False, (), lambda: chance)
        assert board is not None
        _play(tests, board, strengths, now, random)
    return verdicts[0]


def _play(
    tests: VersionTests, board: DrawnBoard, strengths: Mapping[Identity, float], now: float, random: Random
) -> None:
    is_void = random.random() < 0.1
    for at, table in enumerate(board.seating.tables):
        places = places_of([strengths[player.identity] for player in table], random)
        tests.match_began()
        tests.match_ended(board, at, () if is_void else places)
    tests.board_ended(board, now, is_void)


@pytest.mark.full
@pytest.mark.parametrize(("edge", "wrong"), [(0.0, Verdict.BETTER), (0.6, Verdict.NOT_BETTER)])
def test_at_most_five_in_a_hundred_verdicts_are_wrong(edge: float, wrong: Verdict, soak: bool) -> None:
    """A wrong verdict is a false alarm for equal versions, and a miss for one that is better by what is looked for.

    An edge of 0.6 is a gain of 0.3 spreads of a board's difference. Of 1,000 each: 22 false alarms and 1 miss.
    """
    design = Design(effect=0.3, max_boards=2_000)
    tests = 1_000 if soak else 300
    verdicts = [verdict_of(number, edge, design) for number in range(tests)]
    assert verdicts.count(wrong) <= tests * 0.05
    assert verdicts.count(Verdict.UNDECIDED) <= tests * 0.02


def test_a_much_better_version_is_soon_found() -> None:
    assert verdict_of(1, 2.0, Design()) is Verdict.BETTER
    assert verdict_of(1, -2.0, Design()) is Verdict.NOT_BETTER
