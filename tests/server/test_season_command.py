"""`cutpurse season`: a file is planned, started, shown, listed and stopped; errors are one line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cutpurse.cli.main import app
from cutpurse.cli.season_file import read_season
from cutpurse.v1 import ladder_pb2
from tests.server.league_world import league_world

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


async def test_a_host_plans_starts_shows_lists_and_stops_seasons(tmp_path: Path) -> None:
    file = tmp_path / "cup.toml"
    file.write_text(CUP, encoding="utf-8")
    async with league_world(tmp_path) as world:

        async def run(words: str, who: str = "root") -> Result:
            environment = {"CUTPURSE_SERVER": world.arena.address, "CUTPURSE_TOKEN": world.tokens[who]}
            runner = CliRunner(env=environment)
            command = ["season", *words.replace("FILE", str(file)).split()]
            return await asyncio.to_thread(lambda: runner.invoke(app, command, prog_name="cutpurse"))

        planned = await run("plan FILE")
        assert planned.exit_code == 0, planned.stderr
        *lines, last = planned.stdout.splitlines()
        assert lines == [
            "season 1 of 4: cup, greed",
            "division 1, ladder cup-1-s1: at most 2 bots, 1 goes down: ann/sneak",
            "division 2, ladder cup-2-s1: all other bots: bob/thug",
            "it ends after 20 matches of each bot or after 7d",
            "final: the best 2, best of 3",
        ]
        assert planned.stderr == f"nothing is started; this does it: cutpurse season start {file} --plan HASH\n"
        plan = last.removeprefix("plan ")
        file.write_text(CUP.replace("matches = 20", "matches = 30"), encoding="utf-8")
        wrong = await run(f"start FILE --plan {plan}")
        assert (wrong.exit_code, "look at it, and start that" in wrong.stderr) == (2, True), "the plan changed"
        file.write_text(CUP, encoding="utf-8")
        assert (await run(f"start FILE --plan {plan}", "ann")).exit_code == 6
        started = await run(f"start FILE --plan {plan}")
        series = started.stdout.strip()
        assert started.stderr == f"follow it: cutpurse season show {series}\n"
        shown = (await run(f"show {series}", "bob")).stdout.splitlines()
        assert shown[0] == "division 1, ladder cup-1-s1"
        assert shown[2].split() == ["-", "ann/sneak", "-", "0", "stays"]
        assert shown[-3].startswith("season 1 of 4: cup, greed: playing")
        document = json.loads((await run(f"show {series} --json")).stdout)
        assert (document["plan"], document["phase"], document["champion"]) == (plan, "playing", None)
        assert document["divisions"][0]["standings"][0]["bot"] == "sneak"
        assert (await run("list", "ann")).stdout.splitlines()[1].split()[:6] == [series, "cup", "greed", "1", "of", "4"]
        assert json.loads((await run("list --game szmal --json")).stdout) == []
        stopped = await run(f"stop {series}")
        assert (stopped.exit_code, stopped.stderr) == (0, f"seasons {series} are stopped\n")
        assert json.loads((await run("list --game greed --json")).stdout)[0]["outcome"] == "stopped"
        unknown = await run("show 0123456789ab")
        assert (unknown.exit_code, len(unknown.stderr.splitlines())) == (4, 1)
    offline = CliRunner().invoke(app, ["season", "show", series, "--db", str(tmp_path / "test.db")])
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
        ladder_pb2.DivisionWanted(size=2, down=1, bots=[ladder_pb2.BotName(owner="ann", bot="sneak")]),
        ladder_pb2.DivisionWanted(bots=[ladder_pb2.BotName(owner="bob", bot="thug")]),
    ]


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        (("[[division]]", "[[divisions]]"), "there is no key 'divisions'"),
        ((CUP[CUP.index("[[division]]") :], ""), "has no division"),
        (("size = 2", "size = -2"), "division 1: size is -2; it is a number, 0 or more"),
        (("size = 2", "length = 2"), "division 1: there is no key 'length'"),
        (('bots = ["bob/thug"]', 'bots = "bob"'), "division 2: bots is 'bob'; it is a list of bots"),
        (('["bob/thug"]', '["bob/thug:2"]'), "division 2: 'bob/thug:2' names a version"),
        (("bob/thug", "bob/"), "'bob/' names no bot"),
        (('"7d"', '"7w"'), "lasts is '7w'; it is a time such as '7d', '12h', '30m' or '45s'"),
        (('"7d"', "7"), "lasts is 7; it is a time"),
        (("matches = 20", "matches = true"), "matches is True; it is a number"),
        (("top = 2, ", ""), "final has no top"),
        (("{ top = 2, best_of = 3 }", "2"), "final is 2; it is a table"),
        (("top = 2", "first = 2"), "final: there is no key 'first'"),
        (("seats = 2", "seeds = 2"), "seeds is 2; it is the name of a ladder"),
        (("seats = 2", "frozen = 2027-01-01"), "there is no key 'frozen'"),
        (("seats = 2", "max_bots = 9"), "there is no key 'max_bots'"),
        (('game = "greed"', ""), "has no game"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_in_one_line(tmp_path: Path, changed: tuple[str, str], text: str) -> None:
    (tmp_path / "cup.toml").write_text(CUP.replace(*changed), encoding="utf-8")
    done = CliRunner().invoke(app, ["season", "plan", str(tmp_path / "cup.toml")], prog_name="cutpurse")
    assert (done.exit_code, done.stdout) == (2, "")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1
