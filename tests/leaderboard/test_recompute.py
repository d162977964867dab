"""Ratings follow from the results: computed again they are the same to the bit, and whatever was changed is found."""

import pytest

from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder, open_epoch
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.recompute import SHOWN, recompute
from cutpurse.leaderboard.store import Store
from tests.leaderboard.databases import change_by_hand
from tests.leaderboard.sample_results import LADDER, prepare, random_result, result


def test_500_results_in_three_epochs_are_rated_the_same_to_the_bit(database: str) -> None:
    with Store(database) as store:
        versions = prepare(store)
        store.write(ensure_ladder, NewLadder("two", game="szmal", seats=2, rating=TrueSkill(draw_probability=0.3)))
        for epoch, beta in enumerate((None, 8.0, 3.0)):
            if beta is not None:
                store.write(open_epoch, LADDER, TrueSkill(draw_probability=0.1, beta=beta))
            numbers = range(epoch * 200, min(500, epoch * 200 + 200))
            for future in [store.submit(random_result(number, versions)) for number in numbers]:
                future.result()
        store.submit(result("t1", versions[:2], ladder="two")).result()
        rated = sum(not random_result(number, versions).is_void for number in range(500))
        checks = recompute(store)
    assert [(c.ladder, c.boards, c.versions, c.equal) for c in checks] == [
        (LADDER, rated, len(versions), True),
        ("two", 1, 2, True),
    ]
    assert 450 < rated < 500


@pytest.mark.parametrize(
    ("statements", "said"),
    [
        (["UPDATE ratings SET mu = mu + 1e-14 WHERE version_id = 3"], "rating of version 3: mu is stored as "),
        (
            ["UPDATE ratings SET wins = wins + 1 WHERE version_id = 3"],
            "version 3: wins is stored as 7, computed as 6",
        ),
        (["UPDATE ratings SET form = x'0101' WHERE version_id = 3"], "3: recent places is stored as 1 1, computed as "),
        (
            ["UPDATE opponents SET ahead = ahead + 1 WHERE bot_id = 3 AND other_id = 4"],
            "results of bots 3 and 4: ahead is stored as ",
        ),
        (["DELETE FROM opponents WHERE bot_id = 3"], "bots 3 and 4: not stored; computed is matches "),
        (
            ["INSERT INTO opponents VALUES (1, 1, 12, 1, 1, 0)"],
            "bots 1 and 12: stored without a result: matches 1, ahead 1, level 0",
        ),
        (["UPDATE matches SET is_faulted = true WHERE number = 3"], "match m3 is marked as faulted and is not"),
        (
            ["UPDATE seats SET faults = 1 WHERE match_number = 3 AND seat = 1"],
            "match m3 is marked as faulted and is not",
        ),
        (
            ["UPDATE seats SET ladder_id = 9 WHERE match_number = 3 AND seat = 1"],
            "match m3 has seats of another ladder",
        ),
        (
            ["UPDATE matches SET is_rated = false WHERE number = 3"],
            "match m3 counts and was not rated, or is void or on r",
        ),
        (["DELETE FROM ratings WHERE version_id = 3"], "rating of version 3: not stored; computed is mu "),
        (
            ["UPDATE ratings SET version_id = 12 WHERE version_id = 3"],
            "version 12: stored without a result: mu ",
        ),
        (
            ["UPDATE rating_changes SET sigma_after = sigma_after - 1e-14 WHERE sequence = 5"],
            ": sigma after is stored as ",
        ),
        (["DELETE FROM rating_changes WHERE sequence = 5"], "board 5 (match m5) has no change of version"),
        (
            ["UPDATE seats SET place = 5 - place WHERE match_number = 4 AND place <> 1 AND place IS NOT NULL"],
            "board 4 ",
        ),
        (["UPDATE boards SET sequence = NULL, epoch = NULL WHERE sequence = 7"], "counts and was not rated"),
        (["UPDATE boards SET sequence = 999 WHERE sequence = 7"], "boards 7 to 7 are missing"),
        (
            ["UPDATE matches SET void_cause = 'operator' WHERE number = 2"],
            "match m2 counts and was not rated, or is void",
        ),
        (
            ["DELETE FROM seats WHERE match_number = 30", "DELETE FROM matches WHERE number = 30"],
            "4 changes belong to no result",
        ),
        (["UPDATE epochs SET settings = replace(settings, '0.05', '0.06')"], "board 1 (match m1): change of version"),
    ],
)
def test_whatever_is_changed_is_found(database: str, statements: list[str], said: str) -> None:
    with Store(database) as store:
        versions = prepare(store)
        for number in range(1, 31):
            store.submit(result(f"m{number}", versions[number % 5 : number % 5 + 4])).result()
        assert recompute(store)[0].equal
    change_by_hand(database, *statements)
    with Store(database) as store:
        (check,) = recompute(store)
    assert not check.equal
    assert any(said in difference for difference in check.differences), check.differences
    assert not any("(mu=" in difference or "None" in difference for difference in check.differences)
    assert 0 < len(check.differences) <= SHOWN
    assert check.count >= len(check.differences)
