"""A tournament on a server: real processes over gRPC, one match a board, and what is asked for again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message

from cutpurse.engine.errors import UsageError
from cutpurse.lab.tournament.progress_log import Journal
from cutpurse.lab.tournament.server_backend import TRIES, ServerBackend
from cutpurse.lab.tournament.tournament_file import Entrant, Format, Tournament
from cutpurse.lab.tournament.tournament_results import TournamentBoard
from cutpurse.v1 import arena_pb2, game_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound, ServerRefused
from cutpurse.wire.league import League, league_at
from tests.looking import until
from tests.typed import run as cutpurse

CUP = 'name = "cup"\ngame = "greed"\nseats = 2\ndeals = 3\nbots = ["one", "two", "three:1"]\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a ladder of two seats, and three bots on it that are processes of their own."""
    folder = tmp_path_factory.mktemp("server")
    ladders = folder / "ladders.toml"
    ladders.write_text('[[ladder]]\nname = "duel"\ngame = "greed"\nseats = 2\n', encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUTPURSE_")}
    cli = (sys.executable, "-m", "cutpurse.cli")
    with ExitStack() as stack:

        def start(*words: str) -> Path:
            """A program; the file with what it says."""
            said = folder / f"{words[-1]}.log"
            with said.open("w", encoding="utf-8") as log:
                child = stack.enter_context(subprocess.Popen([*cli, *words], cwd=folder, env=environment, stderr=log))
            stack.callback(child.terminate)
            return said

        serving = ("serve", "--db", "cup.db", "--ladders", "ladders.toml", "--game", "greed", "--drain", "0")
        said = start(*serving, "--log-level", "error", "--address", "127.0.0.1:0")
        listens = re.compile(r"^bots dial in at (\S+);", re.MULTILINE)
        until(lambda: listens.search(said.read_text(encoding="utf-8")) is not None, "the server listens")
        (address,) = listens.findall(said.read_text(encoding="utf-8"))
        for name in ("one", "two", "three"):
            bot = "greedy" if name == "two" else "random"
            start("bot", "run", bot, "--server", address, "--ladder", "duel", "--quiet", "--name", name)
        with league_at(address) as league:
            asked = ladder_pb2.ListBotsRequest(ladder="duel")
            until(lambda: sum(bot.is_here for bot in league.ListBots(asked).bots) == 3, "three bots are connected")
        yield address


def test_bots_of_a_server_play_a_tournament(server: str, tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(CUP, encoding="utf-8")
    done = cutpurse("tournament", "run", file, "--ladder", "duel", "--server", server, "--json")
    assert done.exit_code == 0, done.stderr
    table = json.loads(done.stdout)["table"]
    assert [(row["boards"], row["matches"]) for row in table] == [(6, 6)] * 3
    journal = tmp_path / "cup.toml.journal"
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    assert lines[0]["plan"]["place"] == {"versions": ["one:1", "two:1", "three:1"], "where": "ladder duel"}
    played = sorted((line for line in lines[1:] if "matches" in line), key=lambda line: line["board"])
    names = ("one", "two", "three")
    with league_at(server) as league:
        for board in played:
            (match,) = board["matches"]
            told = league.GetMatch(ladder_pb2.GetMatchRequest(match=match["match"])).match
            assert [seat.bot.bot for seat in told.seats] == [names[bot] for bot in match["bots"]]
            assert [seat.place for seat in told.seats] == match["places"]
            assert (told.requested_by, told.rated_number) == ("local", 0)
    assert {match["bots"][0] for board in played for match in board["matches"]} == {0, 1, 2}  # seats turn
    again = cutpurse("tournament", "run", file, "--ladder", "duel", "--server", server, "--json")
    assert (again.exit_code, again.stdout) == (0, done.stdout)
    assert cutpurse("tournament", "show", file, "--json").stdout == done.stdout


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (
            CUP.replace('"two"', '"nobody"'),
            4,
            "nobody is not there to play on ladder duel; there are: one:1, three:1, two:1",
        ),
        (CUP.replace("three:1", "three:9"), 4, "three:9 is not there"),
        (CUP + 'boards = "rotation"\n', 2, "bots on a server may remember a deal, so they meet each once"),
        (CUP.replace("seats = 2", "seats = 3"), 2, "seats is 3, and ladder duel has 2"),
        (CUP.replace("greed", "szmal"), 2, "game is 'szmal', and ladder duel has 'greed'"),
        (CUP + 'settings = { specials = "none" }\n', 2, "and ladder duel has {}"),
    ],
)
def test_what_cannot_be_played_there_is_told_in_a_line(
    server: str, tmp_path: Path, text: str, code: int, said: str
) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(text, encoding="utf-8")
    refused = cutpurse("tournament", "run", file, "--ladder", "duel", "--server", server)
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert said in refused.stderr
    assert len(refused.stderr.splitlines()) == 1


# -- with a server that does as it is told
TOURNAMENT = Tournament(
    "cup", "greed", 2, {}, "0", "plain", 1, (Entrant("a", "a"), Entrant("b", "ann/b")), Format("round_robin", {})
)
LADDER = ladder_pb2.LadderShown(defined=ladder_pb2.LadderDefined(name="duel", game="greed", seats=2))
BOTS = [ladder_pb2.BotName(owner="ann", bot=name, version=version) for name in "ab" for version in ("1", "2")]


class Server:
    """Answers each match that it is asked for with the next of `fates`, once it was looked at `looks` times."""

    def __init__(self, *fates: str, looks: int = 2) -> None:
        self.fates = list(fates)
        self.looks = looks
        self.matches: dict[str, list[Any]] = {}  # the bots, what becomes of it, looks until then
        self.moment = 0.0

    def ask(self, call: str, asked: Any) -> Message:
        if call == "ListBots":
            return ladder_pb2.ListBotsResponse(bots=[ladder_pb2.BotShown(bot=bot, is_here=True) for bot in BOTS])
        if call == "RequestMatch":
            name = f"m{len(self.matches)}"
            self.matches[name] = [list(asked.bots), self.fates.pop(0), self.looks]
            return ladder_pb2.RequestMatchResponse(match=name)
        bots, fate, looks = self.matches[asked.match]
        if call == "ListOpenMatches":
            self.matches[asked.match][2] -= 1
            if looks > 0:
                return ladder_pb2.ListOpenMatchesResponse(requested="open" if looks == 1 else "waiting")
            return ladder_pb2.ListOpenMatchesResponse(requested=fate if fate.startswith("dropped") else "")
        if fate == "lost":
            raise NotFound("there is no such match")
        void = "void_server" if fate == "void" else ""
        seats = [
            ladder_pb2.MatchSeat(bot=bot, place=place, end_cause=arena_pb2.END_CAUSE_NORMAL)
            for place, bot in enumerate(bots, 1)
        ]
        return ladder_pb2.GetMatchResponse(match=ladder_pb2.MatchShown(match=asked.match, void_cause=void, seats=seats))

    def wait(self, seconds: float) -> None:
        self.moment += seconds

    def there(self, journal: Journal) -> ServerBackend:
        return ServerBackend(TOURNAMENT, League(self.ask), LADDER, journal, clock=lambda: self.moment, wait=self.wait)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journal") as journal:
        yield journal


def test_a_match_that_came_to_nothing_is_asked_for_again(journal: Journal) -> None:
    server = Server("dropped: a bot went", "void", "lost", "played")
    (played,) = server.there(journal).play([TournamentBoard(0, (0, 1), ((0, 1),))])
    assert (played.matches[0].name, played.matches[0].places) == ("m3", (1, 2))
    assert journal.asked == {0: ["m0", "m1", "m2", "m3"]}
    assert server.moment > 10.0  # what is not known may still be stored


def test_after_some_tries_it_is_given_up_in_a_line(journal: Journal) -> None:
    server = Server(*["dropped: nobody came"] * TRIES)
    with pytest.raises(ServerRefused, match=rf"board 0 was asked for {TRIES} times, .*: nobody came; the same command"):
        list(server.there(journal).play([TournamentBoard(0, (0, 1), ((0, 1),))]))


def test_a_run_that_was_broken_off_looks_for_its_match_first(journal: Journal) -> None:
    server = Server("played", "played")
    going = server.there(journal).play([TournamentBoard(0, (0, 1), ((0, 1),)), TournamentBoard(1, (0, 1), ((1, 0),))])
    next(going)
    going.close()  # the other match goes on without it
    (played,) = server.there(journal).play([TournamentBoard(1, (0, 1), ((1, 0),))])
    assert played.matches[0].name == "m1"
    assert len(server.matches) == 2


def test_a_bot_without_a_version_is_its_newest_to_the_end(journal: Journal) -> None:
    there = Server().there(journal)
    assert there.plan()["versions"] == ["ann/a:2", "ann/b:2"]
    journal.settle({"place": {"where": "ladder duel", "versions": ["ann/a:1", "ann/b:1"]}})
    assert Server().there(journal).plan()["versions"] == ["ann/a:1", "ann/b:1"]


def test_a_bot_of_two_owners_is_to_be_named_with_its_owner(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "BOTS", [*BOTS, ladder_pb2.BotName(owner="bob", bot="a", version="1")])
    with pytest.raises(UsageError, match="a is a bot of ann, bob: write whose is meant"):
        Server().there(journal)


def test_the_settings_of_the_ladder_are_to_agree(journal: Journal) -> None:
    other = ladder_pb2.LadderShown()
    other.CopyFrom(LADDER)
    other.defined.settings.append(game_pb2.Setting(name="specials", value="rich"))
    with pytest.raises(UsageError, match=r"settings is \{\}, and ladder duel has \{'specials': 'rich'\}"):
        ServerBackend(TOURNAMENT, League(Server().ask), other, journal)
