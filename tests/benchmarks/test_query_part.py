"""The leaderboard's part of the bench: what it is asked is there and right, and how figures are shown."""

import json
import random
import sqlite3
from pathlib import Path

import pytest

from benchmarks.bench import main, parser
from benchmarks.queries import queries_bench
from benchmarks.queries.build import LADDERS, build
from benchmarks.queries.queries_bench import QueryFigures, Row
from benchmarks.queries.questions import questions
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.recompute import recompute

MATCHES = 4_000


def test_what_is_built_is_a_leaderboard_that_counts_right(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    build(path, MATCHES, lambda said: None)
    with LeaderboardReader(path) as reader:
        assert {ladder.name for ladder in reader.run(queries.ladders)} == set(LADDERS)
        assert 0 < sum(ladder.matches for ladder in reader.run(queries.ladders)) < MATCHES  # some are void
        assert reader.run(queries.matches, "rare", faulted=True) or reader.run(queries.matches, "narrow", faulted=True)
        for check in recompute(reader):
            # Ratings are made up, and differ; nothing else does.
            assert check.boards == reader.run(queries.ladder, check.ladder).matches
            told = [
                one for one in check.differences if "change of version" not in one and "rating of version" not in one
            ]
            assert told == []
        (one,) = reader.run(queries.matches, limit=1)
        assert [course is None for course in reader.run(queries.courses, one.match)] == [False] * 4
        rng = random.Random(1)
        for question in questions(MATCHES):  # of some whom it is about there is something to tell
            asked = [question.asked(rng, MATCHES, [one.match]) for _ in range(60)]
            assert sum(len(question.ask(reader, each)) for each in asked) > 0, question.what


def test_counting_from_seats_finds_what_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    build(path, MATCHES, lambda said: None)
    by_what = {question.what: question for question in questions(MATCHES)}
    file = sqlite3.connect(path)
    with LeaderboardReader(path) as reader:
        ranked = by_what["rankings of 64 bots"].counted
        assert ranked is not None
        kept = {
            (r.version_id, r.matches, r.wins, r.faulted)
            for r in reader.run(queries.rankings, "narrow", every_version=True)
        }
        assert set(file.execute(ranked)) == kept
        met = by_what["opponents, 63 bots"].counted
        assert met is not None
        counted = sorted((f"bot{other + 1}", matches, ahead) for other, matches, ahead in file.execute(met, {"bot": 5}))
        assert counted == sorted(
            (o.bot, o.matches, o.ahead) for o in reader.run(queries.opponents, "narrow", "owner5", "bot5")
        )
    file.close()


def test_a_page_that_takes_longer_than_the_target_is_told_of() -> None:
    rows = [
        Row("a page", 50, 1.9, 2.5, None, is_page=True),
        Row("a slow page", 50, 2.1, 2.5, 840.0, is_page=True),
        Row("as long as it is", 1_000, 3.4, 5.0, 840.0, is_page=False),
    ]
    assert [queries_bench.verdict(row) for row in rows] == ["met", "missed", ""]
    assert (rows[0].ratio, rows[1].ratio) == (None, 400)
    shown = queries_bench.lines(QueryFigures(1_000_000, 3 * 2**20, 61.0, rows))
    assert shown[0].startswith("3 MiB, made in 61 s")
    assert shown[4].split() == ["a", "slow", "page", "50", "2.10", "2.50", "840", "ms", "400", "missed"]


def test_a_tiny_run_prints_every_question(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries_bench, "ASKED", 20)
    assert main(["--only", "queries", "--matches", "2000", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["engine"], told["arena"]) == (None, None)
    assert [row["what"] for row in told["queries"]["rows"]] == [question.what for question in questions(2000)]
    assert all(0 < row["p50_ms"] <= row["p99_ms"] for row in told["queries"]["rows"])
    with pytest.raises(SystemExit):
        parser().parse_args(["--matches", "10"])
