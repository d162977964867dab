"""Runs that bring home sums only, and the digest of a run."""

from __future__ import annotations

import json
import statistics
import tracemalloc
from pathlib import Path

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.local import LocalRun, play
from cutpurse.sdk.playing.digest import DIGEST_BYTES, RunDigest, result_digest
from cutpurse.sdk.playing.totals import BotSums, mean, place_moments, variance
from tests.sdk.bot_files import ILLEGAL, bot_file
from tests.typed import run


def played(bot: str, jobs: int, aggregate: bool, seed: int = 3) -> LocalRun:
    return play("greed", [bot, "random", "first_option"], matches=12, seed=seed, jobs=jobs, aggregate=aggregate)


def without_time(run: LocalRun) -> tuple[object, ...]:
    return run.game, run.matches, run.decisions, run.seats, run.failures, run.faults, run.digest


def test_the_sums_are_those_of_the_rows(tmp_path: Path) -> None:
    bot = bot_file(tmp_path, ILLEGAL)  # it fails, too
    whole = played(bot, 1, aggregate=False)
    for jobs in (1, 2):
        sums = played(bot, jobs, aggregate=True)
        assert without_time(sums) == without_time(whole)
        assert sums.rows == ()
    assert len(whole.rows) == 12
    for number, seat in enumerate(whole.seats):
        places, scores = ([getattr(row, name)[number] for row in whole.rows] for name in ("places", "scores"))
        assert seat.places == tuple(places.count(place) for place in (1, 2, 3))
        assert (seat.mean_place, seat.mean_score) == (statistics.mean(places), statistics.mean(scores))
        assert seat.place_variance == pytest.approx(statistics.variance(places))
        assert seat.score_variance == pytest.approx(statistics.variance(scores))
        assert (seat.min_score, seat.max_score) == (min(scores), max(scores))
        assert seat.faults == whole.faults[number]
    assert whole.faults[0] > 0


def test_the_digest_of_a_run_is_that_of_its_rows_in_order(tmp_path: Path) -> None:
    whole = played("random", 1, aggregate=False)
    digest = RunDigest()
    for row in whole.rows:
        digest.add(result_digest([row.match, row.seats, row.places, row.scores, row.end_causes, row.decisions]))
    assert whole.digest == digest.hex()
    assert played("random", 1, aggregate=False, seed=4).digest != whole.digest


@pytest.mark.full
def test_eight_processes_have_the_digest_of_one() -> None:
    assert played("random", 8, aggregate=False).digest == played("random", 1, aggregate=True).digest


def test_a_digest_goes_on_from_its_text_and_depends_on_the_order() -> None:
    one, other = result_digest([1]), result_digest([2])
    whole, part = RunDigest(), RunDigest()
    whole.add(one + other)
    part.add(one)
    rest = RunDigest(part.hex())
    rest.add(other)
    assert rest.hex() == whole.hex()
    turned = RunDigest()
    turned.add(other + one)
    assert turned.hex() != whole.hex()
    for text in ("", "00", "no digest", "00" * (DIGEST_BYTES + 1)):
        with pytest.raises(ValueError, match=r"is no SHA-256|non-hexadecimal"):
            RunDigest(text)


def test_sums_of_parts_add_up_and_none_is_no_division_by_zero() -> None:
    whole, parts = BotSums(3), [BotSums(3), BotSums(3), BotSums(3)]
    for number, (place, score) in enumerate([(1, 5), (2, -3), (1, 0), (3, 10**20)]):
        whole.add(place, score, number == 1, number)
        parts[number % 2].add(place, score, number == 1, number)
    total = BotSums(3)
    for part in reversed(parts):
        total.merge(part)
    assert vars(total) == vars(whole)
    assert (whole.places, whole.taken_over, whole.faults) == ([2, 1, 1], 1, 6)
    assert (whole.min_score, whole.max_score) == (-3, 10**20)
    assert place_moments(whole.places) == (7, 15)
    assert (mean(0, 0), variance(0, 0, 0), variance(1, 4, 16)) == (0.0, 0.0, 0.0)


def test_sums_take_no_more_memory_for_more_matches() -> None:
    def peak(matches: int) -> int:
        tracemalloc.start()
        sums = BotSums(2)
        for number in range(matches):
            sums.add(1 + number % 2, number % 10, False, 0)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(100_000) <= peak(1_000) + 1_000


def test_the_command_prints_the_sums(tmp_path: Path) -> None:
    words = ("play", "greed", "random", "random", "--matches", 6, "--seed", 5)
    shown = run(*words, "--aggregate")
    assert shown.exit_code == 0
    head, first, second, _, digest = shown.stdout.splitlines()
    assert head.endswith("variance of places  of scores  scores  faults")
    assert [line.split()[0] for line in (first, second)] == ["random", "random"]
    assert first.endswith("  0")
    documents = [json.loads(run(*words, *more, "--json").stdout) for more in ((), ("--aggregate",))]
    for document in documents:
        del document["seconds"]
    assert documents[0] == documents[1]
    assert digest == f"digest {documents[0]['digest']}"
    assert [sum(seat["places"]) for seat in documents[0]["seats"]] == [6, 6]


@pytest.mark.parametrize("more", [("--out", "rows.csv"), ("--record", "run.jsonl"), ("--watch",), ("--human", "0")])
def test_what_needs_single_matches_is_refused_with_sums(more: tuple[str, ...]) -> None:
    shown = run("play", "greed", "random", "random", "--aggregate", *more)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert "--aggregate has sums only: do without --out, --record, --watch and --human" in shown.stderr


def test_what_needs_single_matches_is_refused_with_sums_from_python() -> None:
    with pytest.raises(UsageError, match="a run with sums only has no single matches"):
        play("greed", ["random", "random"], aggregate=True, on_match=print)
