"""The commands as they are typed: what they print where, and the exit code and line of each mistake."""

from __future__ import annotations

import csv
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cutpurse.cli import engine_build
from cutpurse.engine.chance import match_key
from cutpurse.engine.seating import arrangement
from cutpurse.games import GAMES
from cutpurse.sdk import local
from cutpurse.sdk.local import LocalRun
from cutpurse.wire.version import VERSION
from tests.builds import is_compiled
from tests.sdk.bot_files import CRASHES, FIRST, ILLEGAL, bot_file
from tests.typed import run, run_apart

COMMANDS = [
    "games",
    "rules",
    "play",
    "compare",
    "demo",
    "match verify",
    "match replay",
    "bot init",
    "bot check",
    "bot run",
]


@pytest.mark.parametrize(
    ("bots", "line"),
    [
        (
            "greedy expert",
            "expert thinks 0.05 to 0.3 s a decision with the pure engine: --jobs N plays several matches ",
        ),
        ("expert search", "search and expert think 0.05 to 0.3 s a decision with the pure engine: --jobs N plays "),
        ("greedy research.py", ""),
    ],
)
@pytest.mark.parametrize("is_pure", [True, False])
def test_a_run_with_bots_that_think_long_says_so_and_what_helps(
    bots: str, line: str, is_pure: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine_build, "is_compiled", lambda: not is_pure)
    engine_build.warn_of_slow_bots(bots.split())
    printed = capsys.readouterr().err
    assert printed.startswith(line if is_pure else "")
    assert ("CUTPURSE_COMPILED=1 pip install . makes" in printed) == (is_pure and bool(line))
    assert printed.count("\n") == (is_pure and bool(line))


@pytest.mark.parametrize(
    "typed",
    [
        "play greed random random --seed BAD",
        "compare greed random random --seed BAD --max-boards 1",
        "play greed FILE random",
        "ladder rankings BAD",
    ],
)
def test_what_is_not_in_utf_8_is_told_in_a_line(typed: str, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.py")  # as an older system wrote it
    if "FILE" in typed:
        try:
            (tmp_path / name).write_text(FIRST)
        except OSError:
            pytest.skip("files have no such names here")
    words = [word.replace("BAD", name).replace("FILE", str(tmp_path / name)) for word in typed.split()]
    told = run(*words)
    assert told.exit_code == 2
    assert re.fullmatch(r"cutpurse: '.*caf\\udce9\.py.*' is no text: it is not in UTF-8\n", told.stderr)
    assert told.stdout == ""


LOUD_IN_POLISH = """
class Bot:
    def choose(self, view, decision):
        print("Żółw is one of", decision.count)
        return 0
"""


def test_signs_that_the_encoding_of_stdout_has_not_are_told_by_their_numbers(tmp_path: Path) -> None:
    turtle = tmp_path / "żółw.py"
    turtle.write_text(LOUD_IN_POLISH, encoding="utf-8")
    words = ["play", "greed", turtle, "random", "--record", tmp_path / "record.jsonl"]
    told = run_apart(*words, PYTHONIOENCODING="ascii")
    assert (told.returncode, told.stdout.count("\\u017c\\xf3\\u0142w.py ")) == (0, 1)
    assert "crashed" not in told.stderr
    told = run_apart(*words, "--json", PYTHONIOENCODING="ascii")
    assert (told.returncode, told.stdout.isascii()) == (0, True)  # and so in UTF-8, as JSON is everywhere
    assert json.loads(told.stdout)["seats"][0]["bot"] == str(turtle)
    readable = run_apart(*words, "--json", PYTHONIOENCODING="utf-8")
    assert str(turtle) in readable.stdout
    shown = run_apart("match", "replay", tmp_path / "record.jsonl", "--json", PYTHONIOENCODING="ascii")
    assert (shown.returncode, shown.stdout.isascii()) == (0, True)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_bot_plays_the_same_when_nobody_reads_what_it_prints(jobs: str, tmp_path: Path) -> None:
    loud = bot_file(
        tmp_path,
        """
class Bot:
    def choose(self, view, decision):
        print("one of", decision.count)
        return 0
""",
    )
    command = [sys.executable, "-m", "cutpurse.cli", "play", "greed", loud, "random", "--jobs", jobs]
    gone, there = os.pipe()
    os.close(gone)  # as `2> >(head -1)` does sooner or later
    shown = [
        subprocess.run([*command, "--matches", "4", "--json"], stdout=subprocess.PIPE, stderr=err, check=True)
        for err in (there, None)
    ]
    os.close(there)
    told = [json.loads(one.stdout) for one in shown]
    assert [document.pop("seconds") > 0 for document in told] == [True, True]
    assert told[0] == told[1]


@pytest.mark.parametrize("words", [["match", "verify"], ["play", "greed", "random"], ["tournament", "show"]])
def test_a_file_whose_name_is_too_long_is_told_in_a_line(words: list[str]) -> None:
    told = run(*words, "x" * 5_000)
    assert told.exit_code == 1
    assert re.fullmatch(r"cutpurse: x{100}: File name too long; --debug shows where\n", told.stderr)


@pytest.mark.parametrize(
    ("command", "exit_code", "said"),
    [
        ("run", 2, "cutpurse: . cannot be read: Is a directory\n"),
        ("show", 4, "cutpurse: no journal .journal: this tournament has not begun\n"),
    ],
)
def test_a_tournament_without_a_name_is_told_in_a_line(
    command: str, exit_code: int, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = run("tournament", command, "")
    assert (told.exit_code, told.stderr) == (exit_code, said)


def test_what_the_system_refuses_is_told_in_a_line_too() -> None:
    few = ["sh", "-c", 'ulimit -n 12 && exec "$@"', "sh", sys.executable, "-m", "cutpurse.cli"]  # open files
    words = ["play", "greed", "random", "random", "--matches", "4", "--jobs", "2"]
    told = subprocess.run([*few, *words], capture_output=True, check=False)
    assert told.returncode == 1
    assert told.stdout == b""
    assert re.fullmatch(rb"cutpurse: .*Too many open files.*; --debug shows where\n", told.stderr)


def test_a_folder_that_is_gone_is_told_in_a_line(tmp_path: Path) -> None:
    gone = ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", sys.executable, "-P", "-m", "cutpurse.cli"]
    told = subprocess.run([*gone, "serve", "--address", "127.0.0.1:0"], cwd=tmp_path, capture_output=True, check=False)
    assert told.returncode == 1
    assert told.stderr == b"cutpurse: the current folder no longer exists; change to another one\n"


def test_imports_of_a_command_are_seldom_scanned_for_garbage() -> None:
    """Each collection at the start would scan what was just imported."""
    shows = "main.app = lambda prog_name: print(gc.get_threshold()[0])"
    code = f"import gc\nfrom cutpurse.cli import main\n{shows}\nmain.main()"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(told.stdout) >= 10_000


def test_the_version_is_that_of_the_distribution() -> None:
    build = "compiled engine" if is_compiled else "pure Python"
    shown = run("--version")
    assert shown.exit_code == 0
    assert shown.stdout == f"cutpurse {VERSION}, {build}, Python {platform.python_version()}\n"
    assert run("--version", "play").stdout == shown.stdout, "whatever is said after it"


def test_games_lists_every_game() -> None:
    shown = run("games")
    assert shown.exit_code == 0
    assert all(name in shown.stdout and game.words.title in shown.stdout for name, game in GAMES.items())
    listed = json.loads(run("games", "--json").stdout)
    assert [game["game"] for game in listed] == list(GAMES)
    assert listed[-1]["players"] == list(list(GAMES.values())[-1].words.seats)


@pytest.mark.parametrize("game", list(GAMES))
def test_the_rules_are_printed_from_the_steps(game: str) -> None:
    rules, words = GAMES[game], GAMES[game].words
    shown = run("rules", game)
    assert shown.exit_code == 0
    assert max(map(len, shown.stdout.splitlines())) <= 100
    document = json.loads(run("rules", game, "--json").stdout)
    assert {step["name"] for step in document["steps"]} == set(rules.steps())
    for step in document["steps"]:
        assert step["text"]
        assert all(rule.startswith(words.prefix) for rule in step["rules"])
        assert step["rules"]
        assert all(rule in shown.stdout for rule in step["rules"])
        if "ask" in step:
            assert step["ask"] in shown.stdout
    assert set(document["settings"]) == set(rules.settings_type.kinds())
    assert sum(card["copies"] for card in document["cards"]) == len(rules.box(rules.usual_seats, rules.settings_type()))
    assert all(card.title in shown.stdout for card in words.cards)


def test_play_prints_a_table_of_the_bots() -> None:
    shown = run("play", "greed", "random", "random", "random", "--matches", 3)
    assert shown.exit_code == 0
    head, *rows, last, digest = shown.stdout.splitlines()
    assert head.split() == ["bot", "first", "places", "mean", "place", "mean", "score"]
    assert [row.split()[0] for row in rows] == ["random"] * 3
    assert last.startswith("3 matches of greed, ")
    assert re.fullmatch("digest [0-9a-f]{64}", digest)
    assert shown.stderr == ""


def test_play_with_json_prints_one_document(tmp_path: Path) -> None:
    path = bot_file(tmp_path, ILLEGAL)
    shown = run_apart("play", "greed", path, "random", "--matches", 2, "--json")
    assert shown.returncode == 3
    document = json.loads(shown.stdout)  # what the bot printed is elsewhere
    assert list(document) == ["game", "matches", "decisions", "seconds", "digest", "seats"]
    assert [list(seat) for seat in document["seats"]] == [
        [
            *("bot", "first_places", "mean_place", "mean_score", "taken_over", "faults"),
            *("places", "place_variance", "score_variance", "min_score", "max_score"),
        ]
    ] * 2
    assert [seat["bot"] for seat in document["seats"]] == [path, "random"]
    assert "talking" in shown.stderr


def test_a_long_run_takes_no_more_memory_than_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[LocalRun] = []
    play = local.play

    def kept(*given: Any, **named: Any) -> LocalRun:
        runs.append(play(*given, **named))
        return runs[-1]

    monkeypatch.setattr(local, "play", kept)
    shown = run("play", "greed", "random", "random", "--matches", 3)
    assert "3 matches of greed" in shown.stdout
    assert [(one.matches, one.rows) for one in runs] == [(3, ())]


def test_play_writes_a_row_a_match_and_bot(tmp_path: Path) -> None:
    for kind in ("csv", "jsonl"):
        out = tmp_path / f"rows.{kind}"
        words = ("--matches", 2, "--out", out, "--seed", 7, "--set", "specials=rich")
        assert run("play", "greed", "random", "random", *words).exit_code == 0
    with (tmp_path / "rows.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [{key: str(value) for key, value in line.items()} for line in lines] == rows
    assert [(row["match"], row["bot"]) for row in rows] == [("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")]
    assert [(row["seat"], row["bot"]) for row in rows] == [
        (str(arrangement(2, "7", match).index(bot)), str(bot)) for match in range(2) for bot in range(2)
    ]
    assert {row["end_cause"] for row in rows} == {"normal"}
    assert {(row["game"], row["settings"], row["seed"]) for row in rows} == {("greed", "specials=rich", "7")}
    assert [row["key"] for row in rows] == [match_key("7", match).hex() for match in (0, 0, 1, 1)]


def test_a_setting_is_taken_from_the_command_line(tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    shown = run("play", "greed", "random", "random", "--set", "mode=tournament", "--record", record)
    assert shown.exit_code == 0
    assert json.loads(record.read_text(encoding="utf-8"))["settings"] == {"mode": "tournament"}


def test_a_bot_that_crashes_is_told_in_a_line(tmp_path: Path) -> None:
    path = bot_file(tmp_path, CRASHES)
    shown = run("play", "greed", path, "random", "--matches", 2)
    assert shown.exit_code == 3
    (line,) = shown.stderr.splitlines()
    assert line.startswith(f"bot {path} crashed in match 0, seat {arrangement(2, '0', 0).index(0)}, decision ")
    assert line.endswith("(play_a_card): " + f"{path}:4: KeyError: 'no plan' (and 5 more faults)")
    assert "first places" in shown.stdout
    assert "Traceback" in run("play", "greed", path, "random", "--debug").stderr


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        ("play gred random random", 2, "no game is called 'gred' (did you mean 'greed'?); there are: "),
        ("rules gred", 2, "no game is called 'gred' (did you mean 'greed'?); there are: "),
        ("play greed rndom random", 2, "no bot is called 'rndom' (did you mean 'random'?); there are: "),
        ("play greed random", 2, "Greed is for 2 to 5 players, not 1"),
        ("play greed random random --human 3", 2, "you can sit in seats 0 to 2"),
        ("play greed random random --human 0 --jobs 2", 2, "--human needs --jobs 1"),
        ("play greed random random --watch --jobs 2", 2, "--watch needs --jobs 1"),
        ("play greed random random --set speed=9", 2, "no setting is called 'speed'; there are: mode, "),
        ("play greed random random --set mode=9", 2, "setting mode cannot be '9'; it can be: single, tournament"),
        ("play greed random random --set mode", 2, "a setting is given as NAME=VALUE"),
        (
            "play greed random random random --set two_player_pile=false",
            2,
            "setting two_player_pile has no effect with 3 players, only with 2: leave it out",
        ),
        ("play greed random random --set mode=single --set mode=single", 2, "mode was set before"),
        ("play greed random random --matches 0", 2, "0 matches cannot be played"),
        ("play greed random random --out rows.csv --record ./rows.csv", 2, "each needs a file of its own"),
        ("play greed random random --record my_bot.py", 2, "would take the place of my_bot.py, which is code"),
        ("play greed random random --out rows.txt", 2, "must end with .csv or .jsonl"),
        ("play greed random random --out nowhere/rows.csv", 4, "there is no folder nowhere"),
        ("play greed random random --record nowhere/run.jsonl", 4, "cannot be written"),
        ("play greed no_bot.py random", 4, "no bot file no_bot.py"),
        ("match verify no_record", 4, "no record no_record: there is no such file"),
        ("match replay no_record", 4, "no record no_record: there is no such file"),
        (
            "match replay 3f2a9c0",
            4,
            "3f2a9c0: there is no such file; a match of a league is named by at least the first 8",
        ),
        ("compare greed random rndom", 2, "no bot is called 'rndom' (did you mean 'random'?); there are: "),
        (
            "play greed random random --set mod=single",
            2,
            "no setting is called 'mod' (did you mean 'mode'?); there are",
        ),
        ("compare greed random random --seats 9", 2, "Greed is for 2 to 5 players, not 9"),
        (
            "compare greed random random --field random,random,random,random",
            2,
            "a field of 4 bots does not fit",
        ),
        ("compare greed random random --max-boards 0", 2, "--max-boards 0: "),
    ],
)
def test_a_mistake_is_told_in_a_line(typed: str, code: int, said: str) -> None:
    shown = run(*typed.split())
    assert said in shown.stderr
    assert (shown.exit_code, shown.stdout, len(shown.stderr.splitlines())) == (code, "", 1)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("play greed random random --matches ten", "Invalid value for '--matches': 'ten' is not a whole number"),
        ("play greed random random --jobs 1.5", "Invalid value for '--jobs': '1.5' is not a whole number"),
        ("serve --drain soon", "Invalid value for '--drain': 'soon' is not a number"),
        ("serve --listen :7777", "No such option: --listen (Possible options: --address)"),
        ("serve --port 7777", "No such option: --port (Possible options: --address)"),
        ("play greed random random --games 3", "No such option: --games (Possible options: --matches)"),
        ("ladder list --address :7777", "No such option: --address (Possible options: --server)"),
        ("ladder change duel --everybody", "No such option: --everybody (Possible options: --any-owner)"),
        ("ladder change duel --most-bots 3", "No such option: --most-bots (Possible options: --max-bots)"),
        ("ladder history duel me --why", "No such option: --why (Possible options: --explain)"),
        ("bot check me.py --lift", "No such option: --lift (Possible options: --unpause)"),
        ("bot logs me --talk", "No such option: --talk (Possible options: --output)"),
        ("db estimate league.db duel --put", "No such option: --put (Possible options: --apply)"),
    ],
)
def test_a_wrong_value_or_option_is_told_in_plain_words(typed: str, said: str) -> None:
    shown = run(*typed.split())
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.splitlines()[-1] == f"Error: {said}"


def test_a_bot_that_does_not_import_is_told_in_a_line(tmp_path: Path) -> None:
    shown = run("play", "greed", bot_file(tmp_path, "import nowhere_at_all\n"), "random")
    assert shown.exit_code == 3
    assert "my_bot.py:1: ModuleNotFoundError" in shown.stderr
    assert len(shown.stderr.splitlines()) == 1


def test_debug_shows_where_it_happened() -> None:
    plain, debug = (run_apart("play", "gred", "random", "random", *more) for more in ([], ["--debug"]))
    assert "Traceback" not in plain.stderr
    assert "Traceback" in debug.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    shown = run(*command.split(), "--help")
    assert shown.exit_code == 0
    assert f"Example: cutpurse {command}" in " ".join(shown.stdout.split())


def test_off_a_terminal_nothing_moves_and_nothing_is_coloured() -> None:
    shown = run_apart("play", "greed", "random", "random", "--matches", 5, "--watch", FORCE_COLOR="1")
    assert shown.returncode == 0
    assert not {"\x1b", "\r", "\x07"} & set(shown.stdout + shown.stderr)
    assert shown.stderr == ""
    assert "raids the hand of seat 1" in shown.stdout


def test_a_file_bot_runs_in_other_processes(tmp_path: Path) -> None:
    path = bot_file(tmp_path, FIRST)
    one, two = (
        json.loads(run_apart("play", "greed", path, "random", "--matches", 4, "--jobs", jobs, "--json").stdout)
        for jobs in (1, 2)
    )
    assert one.pop("seconds") > 0 < two.pop("seconds")
    assert one == two


def test_an_interrupt_says_where_in_a_bot_it_came(tmp_path: Path) -> None:
    path = bot_file(tmp_path, "class Bot:\n    def choose(self, view, decision):\n        raise KeyboardInterrupt\n")
    broken_off = run("play", "greed", path, "random")
    assert (broken_off.exit_code, broken_off.stderr) == (130, f"interrupted in {path}:3\n")
    told_more = run("play", "greed", path, "random", "--debug")
    assert told_more.stderr.startswith("Traceback ")
    assert told_more.stderr.endswith(f"interrupted in {path}:3\n")
