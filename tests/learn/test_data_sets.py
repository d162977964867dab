"""A data set has the decisions of its records, of nothing else, and is whole or not there."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.engine.knowledge_level import LEVELS
from cutpurse.engine.match import EndCause, Match
from cutpurse.engine.record import Record, read_record, replay, write_record
from cutpurse.games import BUILT_IN, GAMES
from cutpurse.learn import OtherNumbering, Space
from cutpurse.learn.data_sets import DataSet
from cutpurse.learn.data_sets import writer as row_writer
from cutpurse.learn.data_sets.card import Exported
from cutpurse.learn.data_sets.export import Candidate, export, is_test_deal
from cutpurse.learn.rewards import REWARDS
from cutpurse.sdk.local import play
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.wire.errors import NotFound
from tests.typed import run

COMMAND = [sys.executable, "-m", "cutpurse.cli", "export"]


def cutpurse(*arguments: object) -> Result:
    return run("export", *arguments)


def candidates(records: Path) -> Iterator[Candidate]:
    with records.open("rb") as file:
        for filed in read_matches(file):
            yield Candidate(f"line {filed.line}", filed)


def make(records: Path, to: Path, **options: Any) -> tuple[Exported, list[str]]:
    refused: list[str] = []
    made = export(candidates(records), to, made_from=records.name, refuse=refused.append, **options)
    return made, refused


@cache
def recorded(
    game: str, seed: int = 3, matches: int = 2, bots: str = "random,greedy,random", faults: bool = False
) -> str:
    """The lines of some matches; with `faults` one more, in which seats fail."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        play(game, bots.split(","), matches=matches, seed=3, record=path)
        return path.read_text(encoding="utf-8") + (failed(game) + "\n" if faults else "")


def failed(game: str) -> str:
    """The record of a match in which one seat now and then gives no answer, also where it has one option."""
    match = Match(GAMES[game], ["ann", "bob", "cid"], bytes(range(32)), log=True, ask_all=True)
    count = 0
    while decision := match.decision():
        count += 1
        if decision.seat == 1 and count % 5 == 0:
            match.fault(1, decision.number, EndCause.TIMEOUT, "")
        else:
            match.answer(decision.seat, decision.number, count % len(decision.options))
    return write_record(match)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Four matches of Greed."""
    path = tmp_path / "run.jsonl"
    path.write_text(recorded("greed", matches=4), encoding="utf-8")
    return path


# -- round trip
def rows_of(record: Record, name: str, space: Space) -> Iterator[dict[str, Any]]:
    """The rows that a record is to have, from a replay of its own."""
    points = REWARDS["place"](record.result["places"], record.result["scores"])
    for match, decision, chosen in replay(record, GAMES[record.game]):
        if len(decision.options) == 1:
            continue
        seat, view = decision.seat, match.game.view(decision.seat)
        planes, numbers = space.observe(view)
        options = space.option_numbers(view, decision.options)
        yield {
            "match": name,
            "deal": sha256(record.key).hexdigest()[:16],
            "at": len(match.choices),
            "seat": seat,
            "ask": decision.ask,
            "planes": planes.tobytes(),
            "numbers": numbers.tolist(),
            "options": options,
            "choice": space.number(view, chosen.option),
            "bot": record.seats[seat],
            "version": "",
            "cause": chosen.cause.value,
            "thought_ms": None,
            "tokens": None,
            "cost_micros": None,
            "place": record.result["places"][seat],
            "place_points": pytest.approx(points[seat]),
            "score": record.result["scores"][seat],
            "features": space.features(view, decision.options).tolist(),
        }


@pytest.mark.parametrize("game", BUILT_IN)
def test_the_rows_are_the_decisions_of_the_records(game: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(recorded(game, faults=True), encoding="utf-8")
    made, refused = make(path, tmp_path / "set", features=True)
    assert refused == []
    (file,) = made.files
    space = Space(game, 3)
    expected = []
    for line in path.read_text(encoding="utf-8").splitlines():
        expected += [*rows_of(read_record(line), sha256(line.encode()).hexdigest()[:32], space)]
    table = pq.read_table(tmp_path / "set" / f"{game}-3.parquet")
    assert table.to_pylist() == expected
    assert (file.rows, file.matches, made.matches, file.deals) == (len(expected), 3, 3, 3)
    assert {row["cause"] for row in expected} == {"normal", "timeout"}


@pytest.mark.parametrize("game", BUILT_IN)
@pytest.mark.parametrize("level", LEVELS)
def test_rows_of_a_level_are_what_learners_of_it_see(game: str, level: str, tmp_path: Path) -> None:
    """Each match is played again here with seats of this level from the deal on."""
    path = tmp_path / "run.jsonl"
    path.write_text(recorded(game), encoding="utf-8")
    make(path, tmp_path / "set.parquet", knowledge=level, history=3, rows=True)
    space = Space(game, 3, history=3, rows=True, knowledge=level)
    expected = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record, trail = read_record(line), space.trail()
        again = GAMES[game].new(3, record.key, knowledge=level)
        for match, decision, chosen in replay(record, GAMES[game]):
            while lone := [seat for seat in again.waiting() if len(again.options(seat)) == 1]:
                again.choose(lone[0], again.options(lone[0])[0])
            trail.add(match.game.log or [])
            rows, mask = space.zone_rows(again.view(decision.seat))
            expected.append((rows.tobytes(), mask.tobytes(), space.events(trail, decision.seat).tolist()))
            again.choose(decision.seat, chosen.option)
    data = DataSet(tmp_path / "set.parquet")
    assert (data.space.stamp, data.space.knowledge) == (space.stamp, level)
    (batch,) = data.batches(100_000)
    assert "planes" not in batch.arrow.schema.names
    assert batch.rows.shape == (len(expected), *space.rows)
    arrays = zip(batch.rows, batch.row_mask, batch.history, strict=True)
    assert [(rows.tobytes(), mask.tobytes(), events.tolist()) for rows, mask, events in arrays] == expected


def test_a_level_changes_what_rows_say_of_hidden_cards(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(recorded("bag_o_loot"), encoding="utf-8")
    known = []
    for level in ("proof", "seen"):
        run = cutpurse(path, "--to", tmp_path / f"{level}.parquet", "--knowledge", level, "--json")
        assert json.loads(run.stdout)["files"][0].get("knowledge", "proof") == level
        data = DataSet(tmp_path / f"{level}.parquet")
        (batch,) = data.batches(100_000)
        parts = [span.slice for span in data.space.layout() if span.array == "planes" and span.part == "known"]
        known.append(sum([int(batch.planes[:, part].sum()) for part in parts]))
    assert known[0] > known[1] > 0
    run = cutpurse(path, "--to", tmp_path / "all", "--knowledge", "all")
    assert run.exit_code == 2
    assert "knowledge is proof, seen or none, not 'all'" in run.stderr


@pytest.mark.parametrize("game", BUILT_IN)
def test_what_is_read_back_is_what_was_written(game: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(recorded(game, faults=True), encoding="utf-8")
    make(path, tmp_path / "set.parquet", features=True)
    data = DataSet(tmp_path / "set.parquet")
    table = pq.read_table(data.path).to_pylist()
    first = 0
    for batch in data.batches(37):
        rows = table[first : first + len(batch)]
        first += len(batch)
        assert [row.tobytes() for row in batch.planes] == [row["planes"] for row in rows]
        assert batch.numbers.tolist() == [row["numbers"] for row in rows]
        assert batch.choices.tolist() == [row["choice"] for row in rows]
        assert batch.values("ask").tolist() == [row["ask"] for row in rows]
        assert np.isnan(batch.values("thought_ms")).all()
        options = [
            batch.options[start:end].tolist() for start, end in zip(batch.starts, batch.starts[1:], strict=False)
        ]
        assert options == [row["options"] for row in rows]
        assert batch.features.tolist() == [option for row in rows for option in row["features"]]
        assert [np.flatnonzero(row).tolist() for row in batch.mask()] == [sorted(row["options"]) for row in rows]
        assert batch.mask()[np.arange(len(batch)), batch.choices].all()
        assert not batch.planes.flags.owndata
        assert not batch.numbers.flags.owndata
    assert first == len(data) == len(table)


def test_each_game_and_number_of_seats_has_a_file(tmp_path: Path) -> None:
    for name, game, bots in (("a", "greed", "random,random"), ("b", "szmal", "random,random,random")):
        text = recorded(game, bots=bots) + recorded("greed")
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    run = cutpurse(tmp_path / "a.jsonl", tmp_path / "b.jsonl", "--to", tmp_path / "set", "--json")
    assert (run.exit_code, run.stderr) == (0, "")
    document = json.loads(run.stdout)
    files = {file["file"]: (file["game"], file["seats"], file["matches"]) for file in document["files"]}
    assert files == {
        "greed-2.parquet": ("greed", 2, 2),
        "greed-3.parquet": ("greed", 3, 2),
        "szmal-3.parquet": ("szmal", 3, 2),
    }
    assert (document["matches"], document["repeated"]) == (6, 2)
    for name, (game, seats, _) in files.items():
        space = DataSet(tmp_path / "set" / name).space
        assert (space.game, space.seats) == (game, seats)
    assert "from `a.jsonl and 1 other file`" in (tmp_path / "set" / "README.md").read_text(encoding="utf-8")


def test_only_the_columns_that_are_asked_for_are_read(records: Path, tmp_path: Path) -> None:
    make(records, tmp_path / "set.parquet")
    batch = next(DataSet(tmp_path / "set.parquet").batches(10, columns=["planes", "choice"]))
    assert batch.arrow.schema.names == ["planes", "choice"]
    assert batch.planes.shape == (10, Space("greed", 3).planes)


def test_a_file_says_what_its_numbers_mean(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    play("greed", ["random"] * 3, seed=1, record=path)
    play("greed", ["random"] * 3, seed=2, record=tmp_path / "b.jsonl", settings={"mode": "tournament"})
    path.write_text(path.read_text() + (tmp_path / "b.jsonl").read_text())
    make(path, tmp_path / "set.parquet")
    facts = json.loads(pq.read_metadata(tmp_path / "set.parquet").metadata[b"cutpurse"])
    space = Space("greed", 3)
    layout = [[span.array, span.what, span.part, span.start, span.width] for span in space.layout()]
    assert (facts.pop("layout"), facts.pop("settings")) == (layout, [{}, {"mode": "tournament"}])
    assert facts.pop("cutpurse") == DataSet(tmp_path / "set.parquet").made_by
    assert facts == space.stamp


def test_the_same_records_give_the_same_bytes(records: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        make(records, tmp_path / name, test_share=0.5)
    a, b = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab")
    assert a == b
    assert sorted(a) == ["README.md", "greed-3-test.parquet", "greed-3-train.parquet"]


def test_other_processes_make_the_same_bytes_and_refuse_the_same(records: Path, tmp_path: Path) -> None:
    lines = [recorded(game, matches=3) for game in ("greed", "szmal")]
    records.write_text("".join(lines).replace('"choices":[', '"choices":[99,', 1) + lines[0])
    sets = [make(records, tmp_path / str(jobs), jobs=jobs, history=2) for jobs in (1, 2)]
    assert sets[0] == sets[1]
    assert (sets[0][0].matches, sets[0][0].refused, sets[0][0].repeated) == (6, 1, 2)
    folders = [{path.name: path.read_bytes() for path in (tmp_path / str(jobs)).iterdir()} for jobs in (1, 2)]
    assert folders[0] == folders[1]
    assert len(folders[0]) == 3  # two games and a card


def test_memory_is_bounded_by_groups_of_rows(records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(records, tmp_path / "one")
    monkeypatch.setattr(row_writer, "GROUP_BYTES", 1)
    make(records, tmp_path / "many")
    one, many = (pq.ParquetFile(tmp_path / name / "greed-3.parquet") for name in ("one", "many"))
    assert (one.num_row_groups, many.num_row_groups) == (1, 4)  # a match each
    assert one.read().equals(many.read())


# -- the split
def test_all_rows_of_a_deal_are_in_one_part(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    twice = [recorded("greed", matches=12, bots=bots) for bots in ("random,random,random", "greedy,random,greedy")]
    path.write_text("".join(twice), encoding="utf-8")
    made, _ = make(path, tmp_path / "set", test_share=0.4)
    deals = {
        file.part: {row["deal"] for row in pq.read_table(tmp_path / "set" / file.name, columns=["deal"]).to_pylist()}
        for file in made.files
    }
    assert deals["train"].isdisjoint(deals["test"])
    assert {is_test_deal(deal, 0.4) for deal in deals["test"]} == {True}
    assert {is_test_deal(deal, 0.4) for deal in deals["train"]} == {False}
    assert {file.part: (file.matches, file.deals) for file in made.files} == {
        part: (2 * len(found), len(found)) for part, found in deals.items()
    }
    assert len(deals["train"]) + len(deals["test"]) == 12


def test_the_share_of_deals_for_testing_is_met() -> None:
    deals = [sha256(number.to_bytes(4)).hexdigest()[:16] for number in range(10_000)]
    for share in (0.1, 0.5):
        assert sum(is_test_deal(deal, share) for deal in deals) / len(deals) == pytest.approx(share, abs=0.02)
    assert not any(is_test_deal(deal, 0.0) for deal in deals)


# -- what is left out
def test_a_false_record_is_named_and_the_others_go_on(records: Path, tmp_path: Path) -> None:
    lines = records.read_text(encoding="utf-8").splitlines()
    body = lines[1].replace('"scores":[', '"scores":[9', 1).rpartition(',"digest":"')[0]
    lines[1] = f'{body},"digest":"{sha256(body.encode()).hexdigest()}"}}'
    lines[2] = lines[2][:-30]
    records.write_text("\n".join([*lines, lines[0], failed("greed")]) + "\n")
    run = cutpurse(records, "--to", tmp_path / "set", "--json")
    assert run.exit_code == 1
    document = json.loads(run.stdout)
    assert [line.partition(": ")[0] for line in document["refused"]] == [f"{records}, line 2", f"{records}, line 3"]
    assert "the result is not" in document["refused"][0]
    assert "not a whole record" in document["refused"][1]
    assert run.stderr.splitlines() == [f"left out: {line}" for line in document["refused"]]
    assert (document["matches"], document["repeated"], document["void"]) == (3, 1, 0)
    assert len(DataSet(tmp_path / "set" / "greed-3.parquet")) == document["files"][0]["rows"]


def test_void_matches_have_no_rows(records: Path, tmp_path: Path) -> None:
    match = Match(GAMES["greed"], ["ann", "bob"], bytes(32), log=True)
    for _ in range(3):
        decision = match.decision()
        assert decision is not None
        match.answer(decision.seat, decision.number, 0)
    match.void(EndCause.VOID_SERVER)
    with records.open("a", encoding="utf-8") as file:
        file.write(write_record(match) + "\n")
    made, refused = make(records, tmp_path / "set")
    assert (made.matches, made.void, refused) == (4, 1, [])
    assert "1 match void, or without a choice" in (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    only = tmp_path / "void.jsonl"
    only.write_text(write_record(match) + "\n", encoding="utf-8")
    with pytest.raises(RecordError, match="there is no data set"):
        make(only, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_file_that_breaks_off_gives_what_is_before(records: Path, tmp_path: Path) -> None:
    with records.open("a", encoding="utf-8") as file:
        file.write('{"schema":"match/1","broken\n')
    run = cutpurse(records, "--to", tmp_path / "set")
    assert run.exit_code == 1
    assert run.stderr.startswith(f"left out: {records}: line 5: not a whole head of a match")
    assert run.stderr.endswith("; the rest of this file is left out, too\n")
    assert "greed-3.parquet  greed      3" in run.stdout


# -- whole or not there
def test_an_export_replaces_nothing(records: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine.parquet").write_text("mine")
    (tmp_path / "other.README.md").write_text("mine")
    for to in ("mine", "mine.parquet", "other.parquet"):
        run = cutpurse(records, "--to", tmp_path / to)
        assert (run.exit_code, "already exists, and an export replaces nothing" in run.stderr) == (2, True)
    assert not (tmp_path / "other.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "give files of records, or a ladder"),
        (["run.jsonl", "--ladder", "it"], 2, "give files of records, or a ladder"),
        (["run.jsonl", "--db", "league.db"], 2, "are for --ladder"),
        (["none.jsonl"], 4, "no record none.jsonl"),
        (["run.jsonl", "--test-share", "1"], 2, "a test share of 1.0"),
        (["run.jsonl", "--to", "a.parquet", "--test-share", "0.1"], 2, "a split set is two files"),
        (["run.jsonl", "--to", "x6.csv"], 2, "x6.csv: Parquet only: x6.parquet or a folder"),
        (["run.jsonl", "--to", "x6.JSONL"], 2, "x6.JSONL: Parquet only: x6.parquet or a folder"),
        (["run.jsonl", "--to", "x6.Parquet"], 2, "x6.Parquet: Parquet only: x6.parquet or a folder"),
        (["run.jsonl", "--to", "no/where"], 4, "no/where cannot be made"),
        (["both.jsonl", "--to", "a.parquet"], 2, "matches of greed with 3 seats and of szmal with 3"),
    ],
)
def test_what_makes_no_sense_is_a_line_and_leaves_nothing(
    arguments: list[str], code: int, said: str, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("both.jsonl").write_text(recorded("greed") + recorded("szmal"), encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    run = cutpurse(*arguments, *([] if "--to" in arguments else ["--to", "set"]))
    assert (run.exit_code, len(run.stderr.splitlines())) == (code, 1)
    assert said in run.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_the_place_to_write_to_must_be_named(records: Path) -> None:
    run = cutpurse(records)
    assert (run.exit_code, run.stderr) == (2, "cutpurse: --to is missing: name the folder to make\n")


# Exports matches, says so, and waits for another one.
UNFINISHED = """
import sys
from pathlib import Path
from cutpurse.learn.data_sets.export import Candidate, export
from cutpurse.sdk.matches.match_file import read_matches

def matches():
    with open(sys.argv[1], "rb") as file:
        yield from (Candidate("", filed) for filed in read_matches(file))
    print("read", flush=True)
    sys.stdin.read()

export(matches(), Path(sys.argv[2]), made_from="", refuse=print)
"""


def unfinished(records: Path, to: Path) -> subprocess.Popen[str]:
    """Begin an export that has read its matches and waits."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([sys.executable, "-c", UNFINISHED, str(records), str(to)], text=True, **pipes)
    assert process.stdout is not None
    assert process.stdout.readline() == "read\n"
    return process


@pytest.mark.parametrize("name", ["set", "set.parquet"])
def test_a_killed_export_leaves_nothing_of_that_name(name: str, records: Path, tmp_path: Path) -> None:
    with unfinished(records, tmp_path / name) as process:
        left = [path.name for path in tmp_path.iterdir() if path.name.startswith(f".{name}.")]
        assert len(left) == 1
        process.kill()
        process.communicate()
    assert not (tmp_path / name).exists()
    run = cutpurse(records, "--to", tmp_path / name)  # what is left is in nobody's way
    assert run.exit_code == 0


def test_an_interrupted_export_leaves_nothing(records: Path, tmp_path: Path) -> None:
    with unfinished(records, tmp_path / "set") as process:
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert said.splitlines()[-1] == "KeyboardInterrupt"
    assert [path.name for path in tmp_path.iterdir() if "set" in path.name] == []


def test_a_full_disk_is_a_line_and_leaves_nothing(records: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [*COMMAND, str(records), "--to", str(tmp_path / "set")],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, resource.RLIM_INFINITY)),
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == f"cutpurse: {tmp_path / 'set'} cannot be written: File too large\n"
    assert [path.name for path in tmp_path.iterdir() if "set" in path.name] == []


# -- reading back
def test_a_set_of_another_numbering_is_refused_in_a_line(
    records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(records, tmp_path / "set.parquet")
    numbering = Space("greed", 3).numbering
    monkeypatch.setattr(Space, "_facts", property(lambda space: {"game": "greed", "numbering": "sha256:other"}))
    with pytest.raises(OtherNumbering) as refused:
        DataSet(tmp_path / "set.parquet")
    assert str(refused.value) == (
        f"{tmp_path / 'set.parquet'}: made with numbering {numbering!r}, here it is 'sha256:other': train or export "
        "anew, or install the version of cutpurse that it was made with"
    )


def test_what_is_no_data_set_is_refused_in_a_line(records: Path, tmp_path: Path) -> None:
    make(records, tmp_path / "set.parquet")
    pq.write_table(pq.read_table(tmp_path / "set.parquet").replace_schema_metadata({}), tmp_path / "plain.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "set.parquet").read_bytes()[:-10])
    for other in (records, tmp_path / "plain.parquet", tmp_path / "cut.parquet", tmp_path):
        with pytest.raises(UsageError, match="is no data set: `cutpurse export` makes them"):
            DataSet(other)
    with pytest.raises(NotFound, match="there is no such file"):
        DataSet(tmp_path / "none.parquet")


# -- what is said
def test_the_card_describes_the_set(records: Path, tmp_path: Path) -> None:
    run = cutpurse(records, "--to", tmp_path / "set", "--test-share", "0.5", "--licence", "CC BY 4.0", "--features")
    assert (run.exit_code, run.stderr) == (0, "")
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    for text in ("from `run.jsonl`", "A share of 0.5 of the deals", "CC BY 4.0", "| `features` |", "`greedy` "):
        assert text in card
    for name in pq.read_schema(tmp_path / "set" / "greed-3-train.parquet").names:
        assert f"| `{name}` |" in card
    for line in run.stdout.splitlines()[1:]:
        name, _, _, rows, *_ = line.split()
        assert f"| `{name}` | greed | 3 | {int(rows):,} |" in card
        assert len(DataSet(tmp_path / "set" / name)) == int(rows)


def test_names_from_strangers_cannot_write_into_the_card(tmp_path: Path) -> None:
    match = Match(GAMES["greed"], ["a|`b`\n# c", "bob"], bytes(32), log=True)
    while decision := match.decision():
        match.answer(decision.seat, decision.number, 0)
    path = tmp_path / "run.jsonl"
    path.write_text(write_record(match) + "\n", encoding="utf-8")
    make(path, tmp_path / "set")
    assert "| rows by bot | `a/'b' # c` " in (tmp_path / "set" / "README.md").read_text(encoding="utf-8")


def test_the_help_has_an_example() -> None:
    assert "Example: cutpurse export run.jsonl --to greed --test-share 0.1" in cutpurse("--help").stdout
