"""`cutpurse event`: what a server plays by itself is planned, started, listed and stopped; errors are one line."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import pytest
from typer.testing import Result

from cutpurse.cli.commands import event as event_command
from cutpurse.cli.season_file import read_season
from cutpurse.leaderboard import events, tournaments
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from cutpurse.v1 import event_pb2, ladder_pb2
from tests.parts.events.test_version_testing import LADDER, bots
from tests.server.arenas import running_arena
from tests.server.league_world import LeagueWorld, league_world
from tests.typed import run as run_here
from tests.typed import run_beside

Run: TypeAlias = Callable[..., Awaitable[Result]]

CUP = """
name = "cup"
game = "greed"
seats = 2
house = ["random"]
matches = 20
lasts = "7d"
pause = "90m"
seasons = 4
final = { top = 2, best_of = 3 }

[[division]]
size = 2
down = 1
bots = ["ann/sneak"]

[[division]]
bots = ["bob/thug"]
"""


def runner_of(world: LeagueWorld) -> Run:
    async def run(words: str, who: str = "root") -> Result:
        return await world.typed(f"event {words}", who)

    return run


async def test_a_host_plans_starts_shows_lists_and_stops_seasons(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(CUP, encoding="utf-8")
    async with league_world(tmp_path) as world:
        run = runner_of(world)

        planned = await run(f"start {file}")
        assert planned.exit_code == 0, planned.stderr
        *lines, last = planned.stdout.splitlines()
        assert lines == [
            "season 1 of 4: cup, greed",
            "division 1, ladder cup-1-s1: at most 2 bots, 1 goes down: ann/sneak",
            "division 2, ladder cup-2-s1: all other bots: bob/thug",
            "it ends after 20 matches of each bot or after 7d",
            "final: the best 2, best of 3",
            "2 of 2 cannot play now: ann/sneak is paused, bob/thug is away",
        ]
        assert planned.stderr == "nothing is started; --yes starts it, and --plan HASH only this plan\n"
        plan = last.removeprefix("plan ")
        file.write_text(CUP.replace("matches = 20", "matches = 30"), encoding="utf-8")
        wrong = await run(f"start {file} --plan {plan}")
        assert (wrong.exit_code, "look at it, and start that" in wrong.stderr) == (2, True), "the plan changed"
        file.write_text(CUP, encoding="utf-8")
        assert (await run(f"start {file} --plan {plan}", "ann")).exit_code == 6
        refused = await run(f"start {file} --plan {plan}")
        text = f"{lines[-1]}; a season needs two bots, and a division whose bots can fill a match: wait for them"
        assert (refused.exit_code, text in refused.stderr, refused.stdout) == (2, True, "")
        started = await run(f"start {file} --plan {plan} --force")
        series = started.stdout.strip()
        assert started.stderr == f"{lines[-1]}\nfollow it: cutpurse event show {series}\n"
        assert "2 of 2 cannot play now" in (await run(f"start {file} --yes")).stderr
        shown = (await run(f"show {series}", "bob")).stdout.splitlines()
        assert shown[0] == "division 1, ladder cup-1-s1"
        assert shown[2].split() == ["-", "ann/sneak", "-", "0", "stays"]
        assert shown[-3].startswith("season 1 of 4: cup, greed: playing")
        document = json.loads((await run(f"show {series} --json")).stdout)
        assert (document["plan"], document["phase"], document["champion"]) == (plan, "playing", None)
        assert document["divisions"][0]["standings"][0]["bot"] == "sneak"
        assert (await run("list", "ann")).stdout.splitlines()[1].split()[:7] == [
            *(series, "season", "cup,", "greed,", "season", "1", "of"),
        ]
        assert json.loads((await run("list --game szmal --json")).stdout) == []
        stopped = await run(f"stop {series}")
        assert (stopped.exit_code, stopped.stderr) == (0, f"event {series} is stopped\n")
        assert json.loads((await run("list --game greed --json")).stdout)[0]["outcome"] == "stopped"
        unknown = await run("show 0123456789ab")
        assert (unknown.exit_code, len(unknown.stderr.splitlines())) == (4, 1)
    offline = run_here("event", "show", series, "--db", tmp_path / "test.db")
    assert "season 1 of 4: cup, greed: stopped" in offline.stdout


def test_a_file_has_the_rules_of_a_ladder_and_the_plan_of_seasons(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(f'seeds = "duel"\nends = 2027-02-01T18:00:00\naway = "45s"\n{CUP}', encoding="utf-8")
    wanted = read_season(file)
    assert (wanted.ladder.name, wanted.ladder.seats, list(wanted.ladder.terms.house)) == ("cup", 2, ["random"])
    assert (wanted.lasts_ms, wanted.pause_ms, wanted.away_ms) == (7 * 86_400_000, 5_400_000, 45_000)
    assert (wanted.ends_ms, wanted.seeds, wanted.seasons, wanted.matches) == (1_801_504_800_000, "duel", 4, 20)
    assert (wanted.final_top, wanted.final_best_of) == (2, 3)
    assert list(wanted.divisions) == [
        event_pb2.DivisionRequest(size=2, down=1, bots=[ladder_pb2.BotName(owner="ann", bot="sneak")]),
        event_pb2.DivisionRequest(bots=[ladder_pb2.BotName(owner="bob", bot="thug")]),
    ]


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (("[[division]]\nbots", "[[divisions]]\nbots"), "there is no key 'divisions'"),
        (("size = 2", "size = -2"), "division 1: size is -2; it is a number, 0 or more"),
        (("size = 2", "length = 2"), "division 1: there is no key 'length'"),
        (('bots = ["bob/thug"]', 'bots = "bob"'), "division 2: bots is 'bob'; it is a list of texts"),
        (('["bob/thug"]', '["bob/thug:2"]'), "division 2: 'bob/thug:2' names a version"),
        (("bob/thug", "bob/"), "'bob/' names no bot"),
        (('"7d"', '"7w"'), "lasts is '7w'; it is a time such as '7d', '12h', '30m' or '45s'"),
        (('"7d"', "7"), "lasts is 7; it is a text"),
        (("matches = 20", "matches = true"), "matches is True; it is a number"),
        (("top = 2, ", ""), "has no final.top"),
        (("{ top = 2, best_of = 3 }", "2"), "final is 2; it is a table"),
        (("top = 2", "first = 2"), "there is no key 'final.first'; there are: final.top, final.best_of"),
        (("seats = 2", "seeds = 2"), "seeds is 2; it is a text"),
        (("seats = 2", "frozen = 2027-01-01"), "there is no key 'frozen'"),
        (("seats = 2", "max_bots = 9"), "there is no key 'max_bots'"),
        (('game = "greed"', ""), "has no game"),
    ],
)
def test_a_file_of_seasons_that_makes_no_sense_is_refused_in_one_line(
    tmp_path: Path, changed: tuple[str, str], text: str
) -> None:
    (tmp_path / "cup.toml").write_text(CUP.replace(*changed), encoding="utf-8")
    done = run_here("event", "start", tmp_path / "cup.toml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


async def test_a_host_plans_starts_shows_lists_and_stops_a_tournament(tmp_path: Path) -> None:
    async with league_world(tmp_path) as world:
        run = runner_of(world)

        words = "start duel ann/sneak bob/thug --best-of 3"
        planned = await run(words)
        assert planned.exit_code == 0, planned.stderr
        first, second, absent, last = planned.stdout.splitlines()
        assert first == "elimination, best of 3, on duel: 2 bots, 1 duel"
        assert second == "by seed: ann/sneak:1.0, bob/thug:2"
        assert absent == "2 of 2 cannot play now: ann/sneak:1.0 is paused, bob/thug:2 is away"
        assert planned.stderr == "nothing is started; --yes starts it, and --plan HASH only this plan\n"
        plan = last.removeprefix("plan ")
        wrong = await run(f"{words} --format round_robin --plan {plan}")
        assert (wrong.exit_code, "look at it, and start that" in wrong.stderr) == (2, True)
        assert (await run(f"{words} --plan {plan}", "ann")).exit_code == 6
        refused = await run(f"{words} --plan {plan}")
        assert (refused.exit_code, f"{absent}; a tournament needs two bots" in refused.stderr) == (2, True)
        started = await run(f"{words} --plan {plan} --force")
        name = started.stdout.strip()
        assert started.stderr == f"{absent}\nfollow it: cutpurse event show {name}\n"
        for number, board in enumerate((("", "01"), ("match0001", "01"))):
            world.store.write(tournaments.put_board, name, TournamentBoardEntry(0, number, *board))
        lines = (await run(f"show {name}", "bob")).stdout.splitlines()
        assert [line.split()[:3] for line in lines[1:3]] == [["1", "bob/thug:2", "2"], ["2", "ann/sneak:1.0", "1"]]
        assert lines[4] == "round 1: ann/sneak:1.0 0, bob/thug:2 2, 1 board lost by absence"
        shown = json.loads((await run(f"show {name} --json")).stdout)
        assert (shown["plan"], shown["duels"][0]["points"], shown["duels_over"]) == (plan, [0, 2], 1)
        listed = (await run("list", "ann")).stdout.splitlines()
        assert listed[1].split()[:2] == [name, "tournament"]
        assert json.loads((await run("list --json")).stdout)[0]["duels"] == []
        stopped = await run(f"stop {name}")
        assert (stopped.exit_code, stopped.stderr) == (0, f"event {name} is stopped\n")
        unknown = await run("show 0123456789ab")
        assert (unknown.exit_code, len(unknown.stderr.splitlines())) == (4, 1)
        unknown = await run("show nope")
        text = "there is no event 'nope' here; an ID has 12 characters of 0-9 and a-f\n"
        assert (unknown.exit_code, unknown.stderr.endswith(text)) == (4, True)
        assert "1 bot: a tournament has 2 to 64" in (await run("start duel ann/sneak")).stderr
        lost = (await run(f"{words} --plan {plan} --force")).stdout.strip()
        for number in range(2):
            world.store.write(tournaments.put_board, lost, TournamentBoardEntry(0, number, "", "01"))
        world.store.write(events.end, lost, "finished", datetime.now(UTC))
        lines = (await run(f"show {lost}")).stdout.splitlines()
        assert [line.split()[0] for line in lines[1:3]] == ["-", "-"]
        assert lines[-2].endswith("nobody played, 1 of 1 duel")
        assert lines[-1] == "no bot won: no match was played"


async def test_a_double_elimination_is_started_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    bots = '["ann/sneak", "bob/thug", "ann/hush"]'
    rules = 'name = "spring cup"\ngame = "greed"\nseats = 2\nladder = "duel"\n'
    file.write_text(f'{rules}bots = {bots}\n[format]\nkind = "double_elimination"\n', encoding="utf-8")
    async with league_world(tmp_path) as world:
        run = runner_of(world)

        other = tmp_path / "szmal.toml"
        other.write_text('game = "szmal"\nladder = "duel"\ntop = 2\n', encoding="utf-8")
        refused = await run(f"start {other}")
        assert (refused.exit_code, refused.stderr) == (2, "cutpurse: game is 'szmal', and ladder duel has 'greed'\n")
        here = run_here("tournament", "run", file, "--plan")
        assert (here.exit_code, here.stderr) == (
            2,
            f"cutpurse: {file} is for ladder 'duel': cutpurse event start {file}\n",
        )
        planned = await run(f"start {file}")
        assert planned.exit_code == 0, planned.stderr
        first, _, _, last = planned.stdout.splitlines()
        reset = "and a reset duel if the grand final is won from the losers' bracket"
        assert first == f"double elimination, best of 1, on duel: 3 bots, 4 duels, {reset}"
        started = await run(f"start {file} --plan {last.removeprefix('plan ')} --force")
        name = started.stdout.strip()
        for duel, result in ((1, "10"), (2, "10"), (4, "10"), (5, "01"), (6, "10")):
            world.store.write(tournaments.put_board, name, TournamentBoardEntry(duel, 0, f"match{duel}", result))
        lines = (await run(f"show {name}")).stdout.splitlines()
        assert [line.partition(":")[0] for line in lines[5:]][:7] == [
            "winners, round 1",
            "winners, round 1",
            "winners, round 2",
            "losers, round 1",
            "losers, round 2",
            "grand final",
            "reset duel",
        ]
        shown = json.loads((await run(f"show {name} --json")).stdout)
        assert [duel["lane"] for duel in shown["duels"]] == ["winners"] * 3 + ["losers"] * 2 + ["final"] * 2
        assert (shown["duels_over"], shown["duels_planned"]) == (5, 5)
        assert [row["rank"] for row in shown["standings"]] == [1, 2, 3]


START = ("start", "duel", "sneak:2", "sneak:1", "--format", "test")


async def test_an_author_starts_a_test_follows_it_and_finds_its_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_command, "LOOK_S", 0.05)
    async with running_arena(tmp_path, [LADDER]) as arena:
        to = ("--server", arena.address)
        async with bots(arena):
            done = await run_beside("event", *START, "--max-boards", 1, "--yes", "--wait", "--json", *to)
            assert done.exit_code == 0, done.stderr
            test = json.loads(done.stdout)
            assert (test["new"]["version"], test["old"]["version"], test["boards"]) == ("2", "1", 1)
            assert test["outcome"] in ("better", "not better", "undecided")
            assert [(one["bot"], one["boards"]) for one in test["opponents"]] == [("brute", 1)]
        refused = await run_beside("event", *START, "--yes", *to)
        text = "2 of 2 cannot play now: sneak:2 is away, sneak:1 is away; a version test needs both versions"
        assert (refused.exit_code, text in refused.stderr) == (2, True)
        planned = (await run_beside("event", *START, *to)).stdout.splitlines()
        assert planned[0] == "test on duel: sneak:2 against sneak:1, at most 4,000 boards"
        assert planned[2].startswith("plan ")
        started = await run_beside("event", *START, "--yes", "--force", *to)
        running = started.stdout.strip()
        assert started.stderr.splitlines()[-1] == f"follow it: cutpurse event show {running}"
        lines = (await run_beside("event", "show", running, *to)).stdout.splitlines()
        assert lines[0] == "test on duel: sneak:2 against sneak:1"
        assert lines[1:3] == ["so far: no board was played", "0 of at most 4,000 boards"]
        assert lines[3].startswith("it waits: sneak:")
        listed = (await run_beside("event", "list", "--kind", "test", *to)).stdout.splitlines()
        assert [line.split()[0] for line in listed] == ["event", running, test["event"]]
        assert listed[1].endswith("goes on")
        stopped = await run_beside("event", "stop", running, *to)
        assert stopped.stderr == f"event {running} is stopped\n"
        assert "stopped: no board was played" in (await run_beside("event", "show", running, *to)).stdout
        waited = await run_beside("event", "show", running, "--wait", "--db", tmp_path / "test.db")
        assert "stopped: no board was played" in waited.stdout
        matches = (await run_beside("match", "list", *to)).stdout.splitlines()[1:]
        assert len(matches) == 2
        assert all("unrated, test of local" in line for line in matches)
        name = matches[0].split()[0]
        verified = await run_beside("match", "verify", name, *to)
        assert verified.exit_code == 0, verified.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("start duel", "name bots, or how many of the best with --top N: one of them"),
        ("start duel ann/x --top 3", "name bots, or how many of the best with --top N: one of them"),
        ("start duel --top 3 --format swiss", "--format 'swiss': it is one of: elimination, round_robin, double"),
        ("start cup.toml --best-of 3", "FILE has the ladder, the bots and the format: name nothing else but --yes"),
        ("start cup.toml ann/x", "FILE has the ladder, the bots and the format"),
        ("start duel --top 3 --max-boards 9", "--max-boards is for --format test; a tournament has --best-of"),
        ("start duel sneak:2 --format test", "name the ladder, the new version and the old one"),
        ("start duel sneak: sneak:1 --format test", "'sneak:' names no bot"),
        ("list --kind cup", "--kind 'cup': it is one of: tournament, season, test"),
        ("show 0123456789ab --season=-1", "--season"),
    ],
)
def test_what_does_not_belong_together_is_refused_in_one_line(words: str, text: str) -> None:
    done = run_here("event", *words.split(), "--server", "127.0.0.1:9")
    assert (done.exit_code, done.stdout) == (2, "")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_file_or_a_journal_that_is_not_there_is_named_in_one_line() -> None:
    missing = run_here("event", "start", "none.toml")
    assert (missing.exit_code, missing.stderr) == (4, "cutpurse: no file none.toml with an event: it does not exist\n")
    done = run_here("tournament", "show", "0123456789ab")
    assert (done.exit_code, "cutpurse event show 0123456789ab" in done.stderr) == (4, True)
