"""The page asks as a stranger: what is not public is not there, on a server without owners, from a file too."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard.ladders import NewLadder, create_ladders
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladder_config import Ladder, ladder_of
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound
from cutpurse.wire.league import League, league_at
from tests.server.arenas import running_arena
from tests.server.league_world import SECRETS, league_world

pb = ladder_pb2


def _all_told(league: League) -> list[bytes]:
    """Everything that can be asked without knowing a name."""
    answers = [
        league.ListLadders(pb.ListLaddersRequest()),
        league.ListRankings(pb.ListRankingsRequest(ladder="duel")),
        league.ListMatches(pb.ListMatchesRequest()),
        league.ListBots(pb.ListBotsRequest()),
        league.GetMatch(pb.GetMatchRequest(match="match0000")),
    ]
    return [answer.SerializeToString() for answer in answers]


def _check(league: League) -> None:
    for told in _all_told(league):
        assert not [secret for secret in SECRETS if secret in told]
    for ask in (
        lambda: league.ListRankings(pb.ListRankingsRequest(ladder="hidden")),
        lambda: league.GetMatch(pb.GetMatchRequest(match="feedc0de0000")),
        lambda: next(iter(league.GetRecord(pb.GetRecordRequest(match="feedc0de0000")))),
    ):
        with pytest.raises(NotFound):
            ask()
    for write in (
        lambda: league.CreateLadder(pb.CreateLadderRequest(ladder=pb.LadderDefined(name="mine", game="greed"))),
        lambda: league.ListLogs(pb.ListLogsRequest(bot=pb.BotName(owner="ann", bot="sneak"))),
    ):
        with pytest.raises((NotAuthorised, CutpurseError)):
            write()


async def test_a_stranger_is_told_what_is_public_though_he_has_a_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with league_world(tmp_path) as world:
        monkeypatch.setenv("CUTPURSE_TOKEN", world.tokens["root"])

        def ask() -> None:
            with league_at(world.arena.address, as_stranger=True) as league:
                _check(league)

        await asyncio.to_thread(ask)
    with league_at(db=tmp_path / "test.db", as_stranger=True) as league:
        _check(league)
    with league_at(db=tmp_path / "test.db") as league:  # whoever has the file itself
        assert [one.defined.name for one in league.ListLadders(pb.ListLaddersRequest()).ladders] == ["duel", "hidden"]


async def test_where_nobody_has_a_token_a_stranger_is_still_nobody_in_particular(tmp_path: Path) -> None:
    usual = Ladder("usual", "greed", 2)
    new = [
        NewLadder(name, "greed", 2, usual.rating, clock=asdict(usual.control), terms=LadderTerms(is_private=is_private))
        for name, is_private in (("duel", False), ("hush", True))
    ]
    with Store(tmp_path / "test.db") as store:
        ladders = [ladder_of(entry) for entry in store.write(create_ladders, new, datetime.now(UTC))]
    async with running_arena(tmp_path, ladders) as arena:

        def names(as_stranger: bool) -> list[str]:
            with league_at(arena.address, as_stranger=as_stranger) as league:
                return [one.defined.name for one in league.ListLadders(pb.ListLaddersRequest()).ladders]

        assert await asyncio.to_thread(names, False) == ["duel", "hush"]
        assert await asyncio.to_thread(names, True) == ["duel"]
