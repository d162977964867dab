"""What the length of a window tells about hands: nothing that time alone could show.

Some `Window`s are timed by the players who opened them, on a real server over real sockets. Others are simulated, of
all games that have windows, with exact times.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cutpurse.engine.agenda import Question
from cutpurse.games import GAMES
from tests.timing import simulated as sim
from tests.timing.windows import WINDOWS, Distinguished, Pace, distinguish, played_windows

MOST_AUC = 0.55
LEAST_WINDOWS = 2_000
ERRORS = 4  # standard errors that chance explains in the short run: more come once in 15,000 runs
SHORT = 0.25  # of the thinking times of the long run

LONGER = 0.6  # of these times where a difference is to be found: on a busy machine all turns come some 10 ms late

# Matches of the simulation, which have some 600 windows with a choice.
SIMULATED = {"steal_and_plunder": 180, "stolen_treasure": 40}
BEGINS = {"fresh process": sim.fresh, "known times": sim.known, "one process": sim.stays()}
# Every pair of two of the three values occurs, with one of the third.
DRAWN = [
    (list(SIMULATED)[(first + second) % 2], kind, begins)
    for first, kind in enumerate(sim.KINDS)
    for second, begins in enumerate(BEGINS)
]
SCHEMES: dict[str, sim.MakeTimes] = {"at once": sim.at_once, "the old scheme": sim.old_scheme}


def test_the_simulation_and_the_protocol_have_all_games_with_windows() -> None:
    steps = {game: [step for step in GAMES[game].steps().values() if issubclass(step, Question)] for game in GAMES}
    windows = {game: [step.name for step in steps[game] if step.window] for game in GAMES}
    assert {game: sorted(names) for game, names in windows.items() if names} == {
        game: sorted(names) for game, names in WINDOWS.items()
    }
    page = Path("docs/reference/protocol.md").read_text("utf-8")
    assert all(f"`{name}`" in page for names in WINDOWS.values() for name in names)


@pytest.mark.parametrize(("game", "kind", "begins"), DRAWN)
def test_bots_with_two_kinds_of_time_do_not_tell_who_had_a_choice(game: str, kind: str, begins: str) -> None:
    for questions in sim.simulated(game, SIMULATED[game], kind, BEGINS[begins]):
        for told in distinguish(questions):
            assert told.error < 0.02
            assert told.auc < MOST_AUC


@pytest.mark.parametrize(("game", "scheme"), list(zip(SIMULATED, SCHEMES, strict=True)))
def test_the_simulation_finds_the_planted_fault(game: str, scheme: str) -> None:
    runs = [sim.simulated(game, SIMULATED[game], kind, SCHEMES[scheme]) for kind in sim.KINDS]
    assert max(told.auc for windows, _ in runs for told in distinguish(windows)) > 0.8


async def _told_by_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, pace: Pace, matches: int, trios: int
) -> list[Distinguished]:
    return distinguish(await played_windows(folder, monkeypatch, pace, matches, trios))


async def test_time_does_not_tell_who_had_a_choice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for told in await _told_by_time(tmp_path, monkeypatch, Pace(SHORT), matches=1, trios=6):
        assert told.with_choice + told.without > 100
        assert told.auc < 0.5 + ERRORS * told.error


async def test_a_server_that_does_not_ask_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, _ = await _told_by_time(tmp_path, monkeypatch, Pace(LONGER, asks_all=False), matches=1, trios=6)
    assert told.auc > max(0.75, 0.5 + ERRORS * told.error)


@pytest.mark.soak
async def test_time_does_not_tell_who_had_a_choice_in_2000_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for told in await _told_by_time(tmp_path, monkeypatch, Pace(), matches=12, trios=12):
        assert told.with_choice + told.without >= LEAST_WINDOWS
        assert told.auc <= MOST_AUC
