"""Hosted ladders: who may play there, how they are made, and where they cannot be."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.cli.ladder_file import read_ladders
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import create_ladders
from cutpurse.leaderboard.results import Identity, LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.server.errors import CallRefused
from cutpurse.server.ladder_config import Ladder, ladder_defined
from cutpurse.server.matches.ladder_terms import OtherEntrants, check_entry, may_play
from cutpurse.server.matches.other_arenas import OtherArena
from cutpurse.server.parts.workers.hosted_player import HostedPlayer
from cutpurse.v1 import ladder_pb2
from tests.server.small_world import World
from tests.typed import typed

NOW = datetime(2026, 11, 26, tzinfo=UTC)
ANN = Identity("ann", "sneak", "1")
HOSTED = Ladder("cloud", "greed", 2, is_hosted=True)


def test_a_connected_bot_is_refused_with_the_way_to_submit_it() -> None:
    assert not may_play(HOSTED, ANN)
    with pytest.raises(CallRefused) as refused:
        check_entry(ANN, {"greed": ("cloud",)}, [HOSTED], lambda ladder: OtherEntrants(0, ()), False, NOW)
    assert refused.value.ending.reason == "NOT_YOURS"
    assert refused.value.ending.text == "ladder cloud is for submitted bots only: cutpurse bot submit FOLDER"
    other = Ladder("main", "greed", 2)
    check_entry(ANN, {}, [HOSTED, other], lambda ladder: OtherEntrants(0, ()), False, NOW)


def test_a_bot_is_submitted_for_a_hosted_ladder() -> None:
    world = World([HOSTED])
    world.lobby.check_submitted(ANN, {"greed": ("cloud",)}, forgets=False)
    with pytest.raises(CallRefused, match="for submitted bots only"):
        world.lobby.check(ANN, {"greed": ("cloud",)})
    others = world.lobby.other_arenas
    private = Ladder("private", "greed", 2, is_hosted=True, terms=LadderTerms(owners=("bob",)))
    others.set([(private, OtherArena("b:7777", ""))])
    with pytest.raises(CallRefused, match="ladder private is not for bots of ann"):
        world.lobby.check_submitted(ANN, {"greed": ("private",)}, forgets=False)


def test_a_hosted_ladder_needs_postgresql(tmp_path: Path) -> None:
    refused = typed("ladder", "create", "cloud", "--game", "greed", "--hosted", "--db", "league.db", folder=tmp_path)
    assert refused.returncode == 2
    why = "workers play on a hosted ladder, and find their matches in PostgreSQL; this league is in "
    assert refused.stderr.startswith(f"cutpurse: ladder cloud: {why}")
    assert len(refused.stderr.splitlines()) == 1


def test_a_hosted_ladder_has_plain_boards() -> None:
    defined = ladder_pb2.LadderDefined(name="cloud", game="greed", boards=ladder_pb2.BOARD_KIND_ROTATION, hosted=True)
    with pytest.raises(CallRefused, match="ladder cloud is hosted, so its boards are plain, not of kind rotation"):
        ladder_defined(defined)


def test_a_file_names_a_hosted_ladder(tmp_path: Path) -> None:
    file = tmp_path / "ladders.toml"
    file.write_text('[[ladder]]\nname = "cloud"\ngame = "greed"\nhosted = true\n')
    (defined,) = read_ladders(file)
    assert ladder_defined(defined).is_hosted


@pytest.mark.parametrize(
    ("games", "ladders", "plays"),
    [((), (), True), (("greed",), (), True), (("szmal",), (), False), ((), ("cloud",), True), ((), ("main",), False)],
)
def test_a_submitted_bot_plays_where_it_was_submitted(
    games: tuple[str, ...], ladders: tuple[str, ...], plays: bool
) -> None:
    assert HostedPlayer(ANN, games, ladders).plays("greed", "cloud") is plays


def test_a_ladder_is_shown_as_hosted(tmp_path: Path) -> None:
    with Store(tmp_path / "league.db") as store:
        store.write(create_ladders, [HOSTED.kept], NOW)
        assert store.run(queries.ladder, "cloud").is_hosted
    shown = typed("ladder", "show", "cloud", "--db", "league.db", "--json", folder=tmp_path)
    assert json.loads(shown.stdout)["hosted"] is True
