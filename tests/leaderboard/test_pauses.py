"""Three of the last eight rated matches in which it was taken over pause a version, once, until that is lifted."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.fault_streaks import lift_pause
from cutpurse.leaderboard.ladders import NewLadder, change_ladder, ensure_ladder
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.results import PAUSE_FAILED, PAUSE_WINDOW, FinishedMatch, FinishedSeat, Identity, LadderTerms
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import DAWN, LADDER, RATING, add_version, player_of, result

NOW = DAWN + timedelta(hours=1)


def failed(match: str, versions: list[Identity], causes: list[str], **other: object) -> FinishedMatch:
    """A match in which seat i ended with causes[i]; empty: normally."""
    seats = tuple(
        FinishedSeat(version, place, -place, cause or "normal", faults=3 if cause else 0)
        for place, (version, cause) in enumerate(zip(versions, causes, strict=True), 1)
    )
    return result(match, versions, seats=seats, **other)  # type: ignore[arg-type]  # by name


def void(match: str, versions: list[Identity]) -> FinishedMatch:
    seats = tuple(FinishedSeat(version, None, None, "void_server") for version in versions)
    return result(match, versions, seats=seats, void_cause="void_server", record="")


BAD, GOOD = ["crashed", "", "", ""], ["", "", "", ""]


def test_three_matches_pause_and_say_why(store: Store, versions: list[Identity]) -> None:
    four = versions[:4]
    for number in (1, 2):
        assert store.submit(failed(f"m{number}", four, BAD)).result().paused == ()
    third = failed("m3", four, ["timeout", "", "crashed", ""], finished=NOW)
    told = store.submit(third).result()
    assert told.paused == (four[0],), "before it has played eight"
    assert store.submit(third).result() == told  # as the first time
    (paused,) = [entry for entry in store.run(queries.bots) if entry.paused]
    assert player_of(paused) == four[0]
    assert paused.paused is not None
    assert (paused.paused.since, paused.paused.lifted) == (NOW, None)
    assert paused.paused.cause == (
        f"taken over in 3 of its last 3 rated matches on ladder {LADDER}: m1 (crashed), m2 (crashed), m3 (timeout)"
    )
    assert [(ranking.bot, ranking.is_paused) for ranking in store.run(queries.rankings, LADDER)] == [
        ("bot 0", True),
        *((f"bot {n}", False) for n in (1, 2, 3)),
    ]


def test_single_faults_do_not_count(store: Store, versions: list[Identity]) -> None:
    for number in range(6):
        seats = tuple(
            FinishedSeat(version, place, -place, "normal", faults=2) for place, version in enumerate(versions[:4], 1)
        )
        assert store.submit(result(f"m{number}", versions[:4], seats=seats)).result().paused == ()


def test_good_matches_in_between_do_not_hide_it(store: Store, versions: list[Identity]) -> None:
    four = versions[:4]
    for number, causes in enumerate([BAD, GOOD, GOOD, BAD, GOOD, GOOD, GOOD]):
        assert store.submit(failed(f"m{number}", four, causes)).result().paused == ()
    assert store.submit(failed("m7", four, BAD)).result().paused == (four[0],)
    assert store.run(queries.bots, owner="owner 0")[0].paused.cause.startswith("taken over in 3 of its last 8 ")  # type: ignore[union-attr]


def test_what_is_older_than_the_window_is_forgotten(store: Store, versions: list[Identity]) -> None:
    four = versions[:4]
    for number, causes in enumerate([BAD, GOOD, GOOD, BAD, GOOD, GOOD, GOOD, GOOD, BAD]):
        assert store.submit(failed(f"m{number}", four, causes)).result().paused == ()
    assert store.submit(failed("m9", four, BAD)).result().paused == (four[0],), "m3, m8, m9"


def test_void_and_requested_matches_are_no_part_of_it(store: Store, versions: list[Identity]) -> None:
    four = versions[:4]
    for match in (
        failed("m1", four, BAD),
        void("m2", four),
        failed("m3", four, BAD, is_rated=False, requested_by="ann"),
        failed("m4", four, BAD),
        *[failed(f"g{number}", four, GOOD, is_rated=False, requested_by="ann") for number in range(9)],
    ):
        assert store.submit(match).result().paused == ()
    assert store.submit(failed("m10", four, BAD)).result().paused == (four[0],)
    pause = store.run(queries.bots, owner="owner 0")[0].paused
    assert pause is not None
    assert pause.cause.endswith("m1 (crashed), m4 (crashed), m10 (crashed)")


def test_it_is_paused_once_and_after_the_pause_a_new_window_begins(store: Store, versions: list[Identity]) -> None:
    four = versions[:4]
    told = [store.submit(failed(f"m{number}", four, BAD)).result().paused for number in range(7)]
    assert told == [(), (), (four[0],), (), (), (), ()]  # its other tables end, and it is paused already
    first, second = (store.write(ensure_version, *player) for player in four[:2])
    pause = store.write(lift_pause, first, NOW)
    assert (pause.version_id, pause.lifted) == (first, NOW)
    assert not any(entry.paused for entry in store.run(queries.bots))
    told = [store.submit(failed(f"n{number}", four, BAD)).result().paused for number in range(4)]
    assert told == [(), (), (four[0],), ()]
    with pytest.raises(NoSuchEntry, match=f"version {second} is not paused"):
        store.write(lift_pause, second, NOW)
    store.write(lift_pause, first, NOW)
    with pytest.raises(NoSuchEntry, match="is not paused"):
        store.write(lift_pause, first, NOW)


def test_each_ladder_counts_its_own_matches_and_other_versions_do_not(store: Store, versions: list[Identity]) -> None:
    store.write(ensure_ladder, NewLadder("two", game="szmal", seats=2, rating=RATING))
    newer = add_version(store, "owner 0", "bot 0", "2.0")
    pair = versions[:2]
    assert store.submit(failed("m1", pair, ["crashed", ""], ladder="two")).result().paused == ()
    assert store.submit(failed("m2", versions[:4], BAD)).result().paused == ()
    assert store.submit(failed("m3", [newer, *versions[1:4]], BAD)).result().paused == ()
    assert store.submit(failed("m4", pair, ["crashed", ""], ladder="two")).result().paused == ()
    for number in range(9):  # nor do good matches on another ladder hide it
        assert store.submit(failed(f"g{number}", versions[:4], GOOD)).result().paused == ()
    assert store.submit(failed("m5", pair, ["timeout", ""], ladder="two")).result().paused == (versions[0],)
    (entry,) = [entry for entry in store.run(queries.bots, owner="owner 0") if entry.paused is not None]
    assert entry.paused is not None
    assert entry.paused.cause.startswith("taken over in 3 of its last 3 rated matches on ladder two: ")


@pytest.mark.parametrize(
    ("terms", "causes", "paused_at"),
    [
        (LadderTerms(pause_failed=1, pause_window=1), [GOOD, BAD], 1),
        (LadderTerms(pause_failed=2, pause_window=2), [BAD, GOOD, BAD, GOOD, BAD, BAD], 5),
        (LadderTerms(pause_failed=2, pause_window=4), [BAD, GOOD, GOOD, GOOD, BAD, GOOD, BAD], 6),
        (LadderTerms(pause_failed=0), [BAD] * 12, None),
        (LadderTerms(pause_failed=5, pause_window=100), [BAD, GOOD] * 4 + [BAD], 8),
    ],
)
def test_both_numbers_are_terms_of_the_ladder(
    store: Store, versions: list[Identity], terms: LadderTerms, causes: list[list[str]], paused_at: int | None
) -> None:
    store.write(change_ladder, LADDER, terms)
    told = [store.submit(failed(f"m{n}", versions[:4], one)).result().paused for n, one in enumerate(causes)]
    assert [n for n, paused in enumerate(told) if paused] == ([] if paused_at is None else [paused_at])
    (ladder,) = store.run(queries.ladders)
    assert ladder.terms == terms


@pytest.mark.parametrize(
    ("failing", "window", "said"),
    [
        (-1, 8, "pause_failed is -1: it is 0 (never pause) to pause_window, which is 8"),
        (9, 8, "pause_failed is 9: it is 0 (never pause) to pause_window, which is 8"),
        (0, 0, "pause_window is 0: it is a number of matches from 1 to 100"),
        (3, 101, "pause_window is 101: it is a number of matches from 1 to 100"),
    ],
)
def test_terms_out_of_range_are_refused_in_one_line(failing: int, window: int, said: str) -> None:
    with pytest.raises(InvalidEntry) as refused:
        replace(LadderTerms(), pause_failed=failing, pause_window=window)
    assert str(refused.value) == said


def test_the_rule_holds_however_results_are_gathered(store: Store, versions: list[Identity]) -> None:
    rng = random.Random(3)
    matches = []
    for number in range(400):
        seated = rng.sample(versions, 4)
        causes = [rng.choice(["crashed", "timeout"]) if rng.random() < 0.17 else "" for _ in seated]
        matches.append(void(f"m{number}", seated) if rng.random() < 0.1 else failed(f"m{number}", seated, causes))
    windows: dict[Identity, list[bool]] = {}
    paused: set[Identity] = set()
    expected = []
    for one in matches:
        here = []
        for seat in one.seats:
            if one.is_void:
                continue
            window = windows.setdefault(seat.player, [])
            window.append(seat.end_cause != "normal")
            if window[-1] and sum(window[-PAUSE_WINDOW:]) >= PAUSE_FAILED and seat.player not in paused:
                here.append(seat.player)
                paused.add(seat.player)
        expected.append(tuple(here))
    told = []
    at = 0
    while at < len(matches):  # in transactions of all sizes
        step = rng.choice((1, 2, 5, 40))
        told += [future.result().paused for future in [store.submit(one) for one in matches[at : at + step]]]
        at += step
    assert told == expected
    assert 5 < len(paused) <= len(versions)
    assert {player_of(entry) for entry in store.run(queries.bots) if entry.paused} == paused
