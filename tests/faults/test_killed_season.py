"""Two seasons of three divisions with a final, on a server that is killed in each phase, go on and are played once."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest

from cutpurse.leaderboard import events, queries
from cutpurse.leaderboard.events import TOURNAMENT
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from cutpurse.v1 import event_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.league import league_at
from tests.faults.processes import Server, herd, server
from tests.looking import until

BOTS = tuple(f"bot{number}" for number in range(8))
DIVISIONS = (3, 3, 0)
MATCHES = 4
UNPLAYED = '[[ladder]]\nname = "other"\ngame = "szmal"\n'
PHASES: TypeAlias = event_pb2.SeasonPhase


class Host:
    """A server that is killed and started again at the same address, with the same database."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack, self._life = folder, stack, 0
        (folder / "ladders.toml").write_text(UNPLAYED, encoding="utf-8")
        self._words = ("--ladders", str(folder / "ladders.toml"))
        self.server = stack.enter_context(server(folder, *self._words))

    @property
    def address(self) -> str:
        """Where it listens, in each life."""
        return self.server.address

    def kill(self) -> None:
        """Kill it and start it again."""
        self.server.signal(signal.SIGKILL)
        self.server.ends()
        self._life += 1
        again = server(self._folder, *self._words, address=self.address, name=f"server{self._life}")
        self.server = self._stack.enter_context(again)


def wanted() -> event_pb2.EventRequest:
    upper = [ladder_pb2.BotName(bot=name) for name in BOTS]
    season = event_pb2.SeasonRequest(
        ladder=ladder_pb2.LadderDefined(name="cup", game="greed", seats=2),
        divisions=[
            event_pb2.DivisionRequest(size=size, down=int(size > 0), bots=upper[3 * number : 3 * number + 3])
            for number, size in enumerate(DIVISIONS)
        ],
        matches=MATCHES,
        pause_ms=2_000,
        seasons=2,
        final_top=2,
        final_best_of=1,
    )
    return event_pb2.EventRequest(season=season)


def event_on(host: Host, series: str, number: int = 0) -> event_pb2.EventShown:
    with league_at(server=host.address) as league:
        return league.GetEvent(event_pb2.GetEventRequest(event=series, season=number)).event


def shown_on(host: Host, series: str, number: int = 0) -> event_pb2.SeasonShown:
    return event_on(host, series, number).season


def start(host: Host) -> str:
    plans: list[str] = []

    def is_planned() -> bool:
        try:
            with league_at(server=host.address) as league:
                plans.append(league.PlanEvent(event_pb2.PlanEventRequest(event=wanted())).event.plan)
        except NotFound:  # a bot has not come yet
            return False
        return True

    until(is_planned, "all bots are here")
    with league_at(server=host.address) as league:
        return league.StartEvent(event_pb2.StartEventRequest(event=wanted(), plan=plans[0])).event.event


def tables(shown: event_pb2.SeasonShown) -> list[list[tuple[str, int, int, int]]]:
    return [
        [(one.bot.bot, one.place, one.matches, one.move) for one in division.standings] for division in shown.divisions
    ]


@pytest.mark.full
def test_seasons_survive_kills_in_each_phase(tmp_path: Path) -> None:
    killed: list[str] = []
    with ExitStack() as stack:
        host = Host(tmp_path, stack)
        stack.enter_context(herd(tmp_path, host.address, BOTS, tables=2, think_ms=(0, 1)))
        series = start(host)
        table: list[list[tuple[str, int, int, int]]] = []

        def kill_in(phase: PHASES.ValueType, number: int = 1, matches: int = 0) -> None:
            """Kill the server when a season is in a phase, and its bots have had this many seats."""
            until(lambda: _is_in(host, series, number, phase, matches), f"phase {PHASES.Name(phase)}")
            killed.append(PHASES.Name(phase))
            host.kill()

        kill_in(PHASES.SEASON_PHASE_PLAYING, matches=MATCHES)
        kill_in(PHASES.SEASON_PHASE_ENDING)
        kill_in(PHASES.SEASON_PHASE_FINAL)
        table = tables(shown_on(host, series, 1))
        kill_in(PHASES.SEASON_PHASE_BREAK)
        kill_in(PHASES.SEASON_PHASE_PLAYING, number=2, matches=4)
        until(lambda: event_on(host, series).outcome == "finished", "the seasons end")
        first, second = (shown_on(host, series, number) for number in (1, 2))
        _check(first, second, host.server)
        assert tables(first) == table, "the table of the first season never changed"
    with Store(tmp_path / "league.db") as store:
        assert all(check.equal for check in recompute(store)), "all ratings follow from the stored results"
        assert len(store.run(events.entries, [TOURNAMENT])) == 2, "one final for each season"
        assert [entry.name for entry in store.run(queries.ladders)] == [
            *(f"cup-{division}-s{number}" for division in (1, 2, 3) for number in (1, 2)),
            "other",
        ]


def _is_in(host: Host, series: str, number: int, phase: PHASES.ValueType, matches: int) -> bool:
    """Return whether a season is in a phase, or beyond it, where a busy machine looked too late."""
    shown = shown_on(host, series)
    reached = (shown.number, shown.phase)
    return reached > (number, phase) or (reached == (number, phase) and _matches(shown) >= matches)


def _matches(shown: event_pb2.SeasonShown) -> int:
    return sum(one.matches for division in shown.divisions for one in division.standings)


def _check(first: event_pb2.SeasonShown, second: event_pb2.SeasonShown, last: Server) -> None:
    """Check that both seasons were played to their end, and that the second one follows from the first."""
    for shown in (first, second):
        assert shown.phase == PHASES.SEASON_PHASE_OVER
        assert (shown.final.outcome, shown.final.tournament.duels_over) == ("finished", 1)
        assert shown.champion == shown.final.tournament.standings[0].bot
        assert [len(division.standings) for division in shown.divisions] == [3, 3, 2]
        for division in shown.divisions:
            assert all(one.matches >= MATCHES for one in division.standings)
            assert division.standings[0].place == 1
    after = [{one.bot.bot for one in division.standings} for division in second.divisions]
    moves = {event_pb2.SEASON_MOVE_UP: -1, event_pb2.SEASON_MOVE_STAYS: 0, event_pb2.SEASON_MOVE_DOWN: 1}
    for number, division in enumerate(first.divisions):
        for one in division.standings:
            assert one.bot.bot in after[number + moves[one.move]]
    ups = [one.bot.bot for division in first.divisions for one in division.standings if one.move == 2]
    assert len(ups) == 2
    voids = last.stored()
    boards = [
        board.match for shown in (first, second) for duel in shown.final.tournament.duels for board in duel.boards
    ]
    assert {voids[match] for match in boards if match} == {None}
