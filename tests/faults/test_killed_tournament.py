"""A tournament of a server that is killed three times goes on each time, and is played once."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from cutpurse.v1 import event_pb2, ladder_pb2
from cutpurse.wire.league import League, league_at
from tests.faults.processes import Server, herd, server
from tests.looking import until

BOTS = ("ann", "bob", "cid", "dan", "eve")
LADDERS = '[[ladder]]\nname = "cup"\ngame = "greed"\nseats = 2\n'


def event_on(league: League, name: str) -> event_pb2.EventShown:
    return league.GetEvent(event_pb2.GetEventRequest(event=name)).event


def shown_on(league: League, name: str) -> event_pb2.TournamentShown:
    return event_on(league, name).tournament


def finished_boards(shown: event_pb2.TournamentShown) -> list[str]:
    return [board.match for duel in shown.duels for board in duel.boards if board.result]


def boards_after(league: League, name: str, count: int) -> list[str]:
    """Return the finished boards once there are at least `count`, or all of a quick tournament."""

    def are_enough() -> bool:
        event = event_on(league, name)
        return bool(event.ended_ms) or len(finished_boards(event.tournament)) >= count

    until(are_enough, "boards are played")
    return finished_boards(shown_on(league, name))


@pytest.mark.parametrize(
    ("form", "duels"),
    [
        pytest.param(event_pb2.TOURNAMENT_FORMAT_DOUBLE_ELIMINATION, (8, 9), marks=pytest.mark.full),
        pytest.param(event_pb2.TOURNAMENT_FORMAT_ROUND_ROBIN, (10,), marks=pytest.mark.soak),
    ],
    ids=["double_elimination", "round_robin"],
)
def test_a_tournament_survives_kills(
    tmp_path: Path, form: event_pb2.TournamentFormat.ValueType, duels: tuple[int, ...]
) -> None:
    (tmp_path / "ladders.toml").write_text(LADDERS, encoding="utf-8")
    words = ("--ladders", str(tmp_path / "ladders.toml"))
    cup = event_pb2.TournamentRequest(
        ladder="cup",
        format=form,
        best_of=3,
        bots=[ladder_pb2.BotName(bot=bot) for bot in BOTS],
    )
    wanted = event_pb2.EventRequest(tournament=cup)
    kept: list[str] = []
    name = ""
    with ExitStack() as stack:
        host = stack.enter_context(server(tmp_path, *words))
        address = host.address
        stack.enter_context(herd(tmp_path, address, BOTS, tables=4, think_ms=(1, 4)))
        for life in range(3):
            with league_at(server=address) as league:
                if not name:
                    until(partial(_are_here, league), "all bots are here")
                    plan = league.PlanEvent(event_pb2.PlanEventRequest(event=wanted)).event.plan
                    start = event_pb2.StartEventRequest(event=wanted, plan=plan)
                    name = league.StartEvent(start).event.event
                kept = boards_after(league, name, len(kept) + 2)
            host.signal(signal.SIGKILL)
            host.ends()
            host = stack.enter_context(server(tmp_path, *words, address=address, name=f"server{life}"))
            assert host.address == address
        with league_at(server=address) as league:
            until(lambda: bool(event_on(league, name).ended_ms), "the tournament ends")
            event = event_on(league, name)
    shown = event.tournament
    assert event.outcome == "finished"
    assert shown.duels_over in duels
    assert shown.duels_over == shown.duels_planned
    assert [one.rank for one in shown.standings if not one.is_out][:1] == [1]
    boards = finished_boards(shown)
    assert set(kept) <= set(boards), "no board was played again that had counted"
    assert len(set(boards)) == len(boards)
    _check_results(host, shown)


def _are_here(league: League) -> bool:
    bots = league.ListBots(ladder_pb2.ListBotsRequest()).bots
    return {one.bot.bot for one in bots if one.is_here} >= set(BOTS)


def _check_results(host: Server, shown: event_pb2.TournamentShown) -> None:
    """Check that no void match counts, and that each duel has the points of its boards."""
    voids = host.stored()
    for duel in shown.duels:
        for board in duel.boards:
            assert voids[board.match] is None
        points = {"1": 1.0, "=": 0.5, "0": 0.0}
        assert duel.first_points == sum(points[board.result[0]] for board in duel.boards)
        assert duel.second_points == sum(points[board.result[1]] for board in duel.boards)
        assert duel.is_over
        assert len(duel.boards) in ((0,) if duel.is_bye else (2, 3))
