"""`cutpurse tournament` as it is typed: plan, run, show; and what a run that was killed goes on with."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from cutpurse.leaderboard.statistics.place_points import place_points
from tests.roots import CHECKOUT
from tests.sdk.bot_files import CRASHES, FIRST, bot_file
from tests.typed import run as cutpurse

NEVER_WORKS = CHECKOUT / "tests" / "sdk" / "never_works.py"
GREED = 'game = "greed"\nseats = 2\nbots = ["random", "greedy", "first_option", { name = "again", bot = "greedy" }]\n'
BOTS = ("random", "greedy", "first_option", "again")


def run(*arguments: object) -> Result:
    return cutpurse("tournament", *arguments)


def write(folder: Path, text: str) -> Path:
    file = folder / "cup.toml"
    file.write_text(text, encoding="utf-8")
    return file


def boards_of(journal: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()[1:]]


def test_a_round_robin_is_played_kept_shown_and_written_down(tmp_path: Path) -> None:
    file = write(tmp_path, GREED + "deals = 3")
    done = run("run", file, "--csv", tmp_path / "table.csv")
    assert (done.exit_code, done.stdout.splitlines()[0].split()) == (
        0,
        ["rank", "bot", "points", "95", "%", "boards", "matches", "wins", "mean", "score", "faults"],
    )
    plan = run("run", file, "--plan")
    assert done.stderr.startswith(plan.stdout)  # the plan, before anything else
    assert "round robin of 4 bots at greed, 2 seats" in plan.stdout
    assert "rotation, each deal 2 times, every bot in every seat; 36 matches in all" in plan.stdout
    boards = boards_of(tmp_path / "cup.toml.journal")
    assert Counter(tuple(board["field"]) for board in boards) == dict.fromkeys(
        [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], 3
    )
    for board in boards:  # each deal with each bot in each seat
        first, second = board["field"]
        assert sorted(match["bots"] for match in board["matches"]) == [[first, second], [second, first]]
    points: Counter[str] = Counter()
    names = ["random", "greedy", "first_option", "again"]
    for board in boards:
        for match in board["matches"]:
            for bot, won in zip(match["bots"], place_points(match["places"]), strict=True):
                points[names[bot]] += int(2 * won)  # of each match: half a board, in half points
    with (tmp_path / "table.csv").open(encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    assert {row["bot"]: float(row["points"]) for row in rows} == {
        name: pytest.approx(points[name] / 36, abs=1e-6) for name in names
    }
    assert [int(row["rank"]) for row in rows] == sorted(int(row["rank"]) for row in rows)
    assert all(float(row["low"]) <= float(row["points"]) <= float(row["high"]) for row in rows)
    shown = run("show", file)
    assert (shown.exit_code, shown.stdout) == (0, done.stdout)
    document = json.loads(run("show", file, "--json").stdout)
    assert sum(one["matches"] for one in document["head_to_head"]) == 36
    again = run("run", file)
    assert (again.exit_code, again.stdout) == (0, done.stdout)
    assert "18 of 18 boards are in" in again.stderr
    assert boards_of(tmp_path / "cup.toml.journal") == boards  # nothing was played again


def test_a_plan_is_that_of_the_same_run_and_plays_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, GREED)
    plans = [run("run", file, "--plan", *more).stdout for more in ((), ("--luck-adjusted",), ("--clock", "1s+10s"))]
    assert len({plan.splitlines()[-1] for plan in plans}) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["cup.toml"]
    assert run("run", file, "--clock", "1s+10s").stderr.startswith(plans[-1])


def test_the_luck_of_the_cards_is_taken_out_beside_the_points(tmp_path: Path) -> None:
    file = write(tmp_path, GREED + "deals = 3")
    raw = run("run", file, "--json", "--journal", tmp_path / "raw")
    out = tmp_path / "table.csv"
    done = run("run", file, "--luck-adjusted", "--csv", out)
    assert done.exit_code == 0
    assert "without luck: the points less what the cards gave; they decide no rank" in done.stdout
    assert done.stdout.splitlines()[0].split()[5:8] == ["without", "luck", "95"]
    document, plain = json.loads(run("show", file, "--json").stdout), json.loads(raw.stdout)
    assert document["digest"] == plain["digest"]
    assert document["plan"] != plain["plan"]
    columns = ("without_luck", "without_luck_low", "without_luck_high")
    assert not set(columns) & set(plain["table"][0])
    points = {row["bot"]: row["points"] for row in plain["table"]}
    assert {row["bot"]: row["points"] for row in document["table"]} == points
    assert sum(row["without_luck"] for row in document["table"]) == pytest.approx(2, abs=1e-5)
    assert any(row["without_luck"] != row["points"] for row in document["table"])
    assert all(row["without_luck_low"] <= row["without_luck"] <= row["without_luck_high"] for row in document["table"])
    with out.open(encoding="utf-8") as opened:
        assert next(csv.DictReader(opened)).keys() >= set(columns)
    refused = run("run", file)
    assert refused.exit_code != 0
    assert "luck_adjusted" in refused.stderr
    said = write(tmp_path, "luck_adjusted = true\n" + GREED + "deals = 3")
    assert run("run", said).stdout == done.stdout


def test_luck_is_asked_for_by_true_or_false_and_not_on_a_server(tmp_path: Path) -> None:
    file = write(tmp_path, "luck_adjusted = 1\n" + GREED)
    assert "luck_adjusted is 1; it is true or false" in run("run", file, "--plan").stderr
    file = write(tmp_path, GREED)
    refused = run("run", file, "--luck-adjusted", "--ladder", "duel")
    assert "found in matches that are played here" in refused.stderr


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.soak)])
def test_a_run_that_is_killed_goes_on_and_comes_to_the_same_table(tmp_path: Path, jobs: int) -> None:
    file = write(tmp_path, GREED + 'deals = 20\n[format]\nkind = "swiss"\nrounds = 4\n')
    whole = run("run", file, "--journal", tmp_path / "whole", "--json")
    assert whole.exit_code == 0
    killed = tmp_path / "killed"
    ends: list[int] = []
    nothing = threading.Event()
    for _ in range(3):
        before = killed.read_bytes().count(b"\n") if killed.exists() else 1
        with subprocess.Popen(
            [
                *(sys.executable, "-m", "cutpurse.cli", "tournament", "run", str(file)),
                *("--journal", str(killed), "--jobs", str(jobs)),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as child:
            while child.poll() is None and (not killed.exists() or killed.read_bytes().count(b"\n") < before + 20):
                nothing.wait(0.005)
            os.killpg(child.pid, signal.SIGKILL)
        ends.append(killed.read_bytes().count(b"\n"))
    assert ends[0] >= 21
    assert ends == sorted(ends)
    rest = run("run", file, "--journal", killed, "--json")
    assert rest.stdout == whole.stdout
    one, other = (sorted(boards_of(path), key=lambda board: board["board"]) for path in (killed, tmp_path / "whole"))
    assert one == other
    assert len(one) == 4 * 2 * 20


@pytest.mark.parametrize("kind", ["elimination", "double_elimination"])
def test_a_knock_out_goes_on_from_any_board_and_comes_to_the_same_table(tmp_path: Path, kind: str) -> None:
    text = GREED.replace("seats = 2", "seats = 3") + f'[format]\nkind = "{kind}"\nbest_of = 3\nfill = ["random"]\n'
    file = write(tmp_path, text)
    done = run("run", file, "--json")
    assert done.exit_code == 0
    document = json.loads(done.stdout)
    assert [row["rank"] for row in document["table"]] == [1, 2, 3]
    assert {row["bot"] for row in document["table"]} == {"greedy", "first_option", "again"}
    last = document["duels"][-1]
    assert (last["winner"], last["is_over"]) == (document["table"][0]["bot"], True)
    shown = run("show", file)
    assert "greedy has a bye" in shown.stdout
    journal = (tmp_path / "cup.toml.journal").read_bytes().splitlines(keepends=True)
    for boards in range(0, len(journal) - 1, 5):
        part = tmp_path / "part"
        part.write_bytes(b"".join(journal[: 1 + boards]) + b'{"board":')
        within = json.loads(run("show", file, "--journal", part, "--json").stdout)
        assert (within["boards"], within["plan"]) == (boards, document["plan"])
        assert run("run", file, "--journal", part, "--json").stdout == done.stdout
        assert part.read_bytes() == b"".join(journal)


def test_the_table_of_a_swiss_round_that_goes_on_counts_no_rest_of_it(tmp_path: Path) -> None:
    """Who has sat in a round that is not over had a rest less than none, and its points were 0, or above 1."""
    file = write(tmp_path, GREED + 'deals = 3\n[format]\nkind = "swiss"\nrounds = 2\n')
    assert run("run", file).exit_code == 0
    assert "bots of equal strength come out apart" in run("show", file).stdout
    lines = (tmp_path / "cup.toml.journal").read_bytes().splitlines(keepends=True)
    for boards in range(1, 13):
        (tmp_path / "part").write_bytes(b"".join(lines[: 1 + boards]))
        shown = run("show", file, "--journal", tmp_path / "part", "--json")
        assert shown.exit_code == 0
        rows = json.loads(shown.stdout)["table"]
        assert [row["byes"] for row in rows] == [0, 0, 0, 0]  # four bots: nobody rests
        points: defaultdict[str, float] = defaultdict(float)
        for line in map(json.loads, lines[1 : 1 + boards]):
            for match in line["matches"]:
                for bot, won in zip(match["bots"], place_points(match["places"]), strict=True):
                    points[BOTS[bot]] += won / len(match["bots"])
        for row in rows:
            assert row["points"] == pytest.approx(
                points[row["bot"]] / row["boards"] if row["boards"] else 0.0, abs=1e-6
            )
            assert row["high"] is None or row["high"] <= 1


def test_a_gauntlet_says_how_the_challenger_did_against_each(tmp_path: Path) -> None:
    bot_file(tmp_path, FIRST)
    text = GREED.replace('"first_option"', '"my_bot.py"') + '[format]\nkind = "gauntlet"\nchallenger = "my_bot.py"\n'
    done = run("run", write(tmp_path, text))
    assert done.exit_code == 0
    assert "challenger: my_bot.py" in done.stderr
    against = done.stdout.split("my_bot.py against")[1].splitlines()[1:4]
    assert sorted(line.split()[0] for line in against) == ["again", "greedy", "random"]
    assert all(line.split()[1] == "2" for line in against)  # matches: one board of two


def test_groups_and_a_final(tmp_path: Path) -> None:
    bots = ", ".join(f'{{ name = "b{n}", bot = "{"greedy" if n in (1, 4) else "random"}" }}' for n in range(8))
    text = f'game = "greed"\nseats = 2\ndeals = 4\nbots = [{bots}]\n[format]\nkind = "groups"\nfinal_meetings = 2\n'
    done = run("run", write(tmp_path, text), "--json")
    assert done.exit_code == 0
    assert "2 groups: 48 boards" in done.stderr
    assert "final of the first 2 of each group: 48 boards" in done.stderr
    table = json.loads(done.stdout)["table"]
    groups = [{"b0", "b3", "b4", "b7"}, {"b1", "b2", "b5", "b6"}]
    finalists = {row["bot"] for row in table[:4]}
    assert [len(finalists & group) for group in groups] == [2, 2]
    assert {"b1", "b4"} <= finalists
    assert [row["boards"] for row in table] == [24] * 4 + [12] * 4
    assert [row["rank"] for row in table[:4]] <= [4] * 4
    assert min(row["rank"] for row in table[4:]) == 5
    told = "the first 4 are in the final: their rows count it alone, all others their group"
    lines = run("show", tmp_path / "cup.toml").stdout.splitlines()
    assert told in lines
    assert "the others' points and intervals are of their group, left by its best: no estimates of strength" in lines
    journal = tmp_path / "cup.toml.journal"
    of_the_groups = journal.read_text(encoding="utf-8").splitlines(keepends=True)[:49]  # the plan, and 48 boards
    journal.write_text("".join(of_the_groups), encoding="utf-8")
    assert told not in run("show", tmp_path / "cup.toml").stdout


def test_a_bot_that_fails_is_named_and_the_tournament_goes_on(tmp_path: Path) -> None:
    bot_file(tmp_path, CRASHES)
    done = run("run", write(tmp_path, GREED.replace('"first_option"', '"my_bot.py"')))
    assert done.exit_code == 3
    assert "bot my_bot.py crashed in match" in done.stderr
    assert "rank" in done.stdout


def test_an_edited_bot_is_another_tournament(tmp_path: Path) -> None:
    path = Path(bot_file(tmp_path, FIRST))
    file = write(tmp_path, GREED.replace('"first_option"', '"my_bot.py"'))
    assert run("run", file).exit_code == 0
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    refused = run("run", file)
    assert refused.exit_code == 2
    assert "is of another tournament: code differ; name another journal with --journal" in refused.stderr
    file.write_text(file.read_text(encoding="utf-8") + "deals = 2", encoding="utf-8")
    assert "deals" in run("show", file).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("run", "none.toml"), 4, "no tournament none.toml"),
        (("show", "none.toml"), 4, "this tournament has not begun"),
        (("run", "cup.toml", "--csv", "no/folder.csv"), 4, "there is no folder no"),
        (("run", "cup.toml", "--jobs", "0"), 2, "0 jobs cannot be had"),
        (("run", "cup.toml", "--server", "127.0.0.1:1"), 2, "name the ladder too"),
        (("run", "cup.toml", "--ladder", "greed", "--server", "127.0.0.1:1"), 5, "127.0.0.1:1"),
        (("run", "cup.toml", "--journal", "."), 4, "cannot be opened"),
        (("run", "unknown.toml", "--plan"), 2, "no bot is called 'nobody'"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, GREED)
    (tmp_path / "unknown.toml").write_text(GREED.replace("first_option", "nobody"), encoding="utf-8")
    refused = run(*arguments)
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert said in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert not (tmp_path / "none.toml.journal").exists()


def test_a_bot_that_never_works_comes_last_and_is_exit_code_3(tmp_path: Path) -> None:
    bots = f'bots = ["random", "first_option", {{ name = "broken", bot = {str(NEVER_WORKS)!r} }}]\n'
    file = write(tmp_path, f'game = "greed"\nseats = 3\n{bots}deals = 4\n')
    done = run("run", file, "--json", "--csv", tmp_path / "table.csv")
    assert done.exit_code == 3
    row = json.loads(done.stdout)["table"][-1]
    assert (row["bot"], row["points"], row["matches"], row["taken_over"]) == ("broken", 0.0, 12, 12)
    again = run("run", file)
    assert again.exit_code == 3, "though nothing was played any more"
    assert "broken was taken over in 12 of 12 matches: it came last there" in again.stdout
    shown = run("show", file)
    assert (shown.exit_code, "broken was taken over" in shown.stdout) == (0, True)


@pytest.mark.parametrize("command", ["run", "show"])
def test_help_has_an_example(command: str) -> None:
    assert f"Example: cutpurse tournament {command} cup.toml" in " ".join(run(command, "--help").stdout.split())


def test_the_tournament_of_the_page_is_played(tmp_path: Path) -> None:
    page = (CHECKOUT / "docs" / "how-to" / "compare_bots.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "my_bot.py").write_text(FIRST, encoding="utf-8")
    done = run("run", write(tmp_path, text))
    assert (done.exit_code, "4 bots at greed, 3 seats" in done.stderr) == (0, True)
    head = done.stdout.splitlines()[0]
    assert head.split() == re.findall(r"^rank .*$", page, re.MULTILINE)[0].split()
