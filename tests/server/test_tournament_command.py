"""`cutpurse tournament start`, `list`, `stop` and `show ID`, against a server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cutpurse.cli.main import app
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from tests.server.league_world import league_world


async def test_a_host_plans_starts_shows_lists_and_stops_a_tournament(tmp_path: Path) -> None:
    async with league_world(tmp_path) as world:

        async def run(words: str, who: str = "root") -> Result:
            environment = {"CUTPURSE_SERVER": world.arena.address, "CUTPURSE_TOKEN": world.tokens[who]}
            command = ["tournament", *words.split()]
            runner = CliRunner(env=environment)
            return await asyncio.to_thread(lambda: runner.invoke(app, command, prog_name="cutpurse"))

        words = "start duel ann/sneak bob/thug --best-of 3"
        planned = await run(words)
        assert planned.exit_code == 0, planned.stderr
        first, second, last = planned.stdout.splitlines()
        assert first == "elimination, best of 3, on duel: 2 bots, 1 duel"
        assert second == "by seed: ann/sneak:1.0, bob/thug:2"
        assert planned.stderr == "nothing is started; the same command with --plan HASH starts this plan\n"
        plan = last.removeprefix("plan ")
        wrong = await run(f"{words} --format round_robin --plan {plan}")
        assert (wrong.exit_code, "look at it, and start that" in wrong.stderr) == (2, True)
        assert (await run(f"{words} --plan {plan}", "ann")).exit_code == 6
        started = await run(f"{words} --plan {plan}")
        name = started.stdout.strip()
        assert started.stderr == f"follow it: cutpurse tournament show {name}\n"
        for number, board in enumerate((("", "01"), ("match0001", "01"))):
            world.store.put_tournament_board(name, TournamentBoardEntry(0, number, *board))
        lines = (await run(f"show {name}", "bob")).stdout.splitlines()
        assert [line.split()[:3] for line in lines[1:3]] == [["1", "bob/thug:2", "2"], ["2", "ann/sneak:1.0", "1"]]
        assert lines[4] == "round 1: ann/sneak:1.0 0, bob/thug:2 2, 1 board lost by absence"
        shown = json.loads((await run(f"show {name} --json")).stdout)
        assert (shown["plan"], shown["duels"][0]["points"], shown["duels_over"]) == (plan, [0, 2], 1)
        listed = (await run("list", "ann")).stdout.splitlines()
        assert listed[1].split()[:2] == [name, "duel"]
        assert json.loads((await run("list --json")).stdout)[0]["duels"] == []
        stopped = await run(f"stop {name}")
        assert (stopped.exit_code, stopped.stderr) == (0, f"tournament {name} is stopped\n")
        unknown = await run("show 0123456789ab")
        assert (unknown.exit_code, len(unknown.stderr.splitlines())) == (4, 1)


async def test_a_double_elimination_is_started_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    bots = '["ann/sneak", "bob/thug", "ann/hush"]'
    file.write_text(f'ladder = "duel"\nbots = {bots}\n[format]\nkind = "double_elimination"\n', encoding="utf-8")
    async with league_world(tmp_path) as world:

        async def run(*words: str) -> Result:
            environment = {"CUTPURSE_SERVER": world.arena.address, "CUTPURSE_TOKEN": world.tokens["root"]}
            runner = CliRunner(env=environment)
            command = ["tournament", *words]
            return await asyncio.to_thread(lambda: runner.invoke(app, command, prog_name="cutpurse"))

        planned = await run("start", "--from", str(file))
        assert planned.exit_code == 0, planned.stderr
        first, _, last = planned.stdout.splitlines()
        reset = "and a reset duel if the grand final is won from the losers' bracket"
        assert first == f"double elimination, best of 1, on duel: 3 bots, 4 duels, {reset}"
        started = await run("start", "--from", str(file), "--plan", last.removeprefix("plan "))
        name = started.stdout.strip()
        for duel, result in ((1, "10"), (2, "10"), (4, "10"), (5, "01"), (6, "10")):
            world.store.put_tournament_board(name, TournamentBoardEntry(duel, 0, f"match{duel}", result))
        lines = (await run("show", name)).stdout.splitlines()
        assert [line.partition(":")[0] for line in lines[5:]][:7] == [
            "winners, round 1",
            "winners, round 1",
            "winners, round 2",
            "losers, round 1",
            "losers, round 2",
            "grand final",
            "reset duel",
        ]
        shown = json.loads((await run("show", name, "--json")).stdout)
        assert [duel["lane"] for duel in shown["duels"]] == ["winners"] * 3 + ["losers"] * 2 + ["final"] * 2
        assert (shown["duels_over"], shown["duels_planned"]) == (5, 5)
        assert [row["rank"] for row in shown["standings"]] == [1, 2, 3]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("start duel", "name bots, or how many of the best with --top N: one of them"),
        ("start duel ann/x --top 3", "name bots, or how many of the best with --top N: one of them"),
        ("start duel --top 3 --format swiss", "--format 'swiss': it is one of: elimination, round_robin, double"),
        ("start", "name the ladder, or a file with --from FILE"),
        ("start duel --from cup.toml", "--from FILE has the ladder, the bots and the format"),
        ("start --from cup.toml --best-of 3", "name nothing else but --plan"),
        ("show cup.toml --server 127.0.0.1:9", "--server and --ca are for the ID of a tournament that a server plays"),
    ],
)
def test_what_does_not_belong_together_is_refused_in_one_line(words: str, text: str) -> None:
    done = CliRunner().invoke(app, ["tournament", *words.split()], prog_name="cutpurse")
    assert (done.exit_code, done.stdout) == (2, "")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1
