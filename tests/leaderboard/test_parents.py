"""A new version of a bot begins where the version before it stands, with less certainty; computed again to the bit."""

import random
from datetime import UTC, datetime

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder, open_epoch
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.store import Store
from tests.leaderboard.databases import change_by_hand
from tests.leaderboard.sample_results import LADDER, RATING, add_version, player_of, prepare, result


def begins_at(store: Store, version: Identity, others: list[Identity], match: str, ladder: str = LADDER) -> object:
    """What was believed of a version before this match, its next."""
    (change,) = [
        c
        for c in store.submit(result(match, [*others, version], ladder=ladder)).result().changes
        if c.player == version
    ]
    return change.before


def test_a_version_begins_as_the_heir_of_the_one_before(store: Store) -> None:
    versions = prepare(store)
    for number in range(8):
        store.submit(result(f"m{number}", versions[:4])).result()
    stands = {player_of(ranking): ranking.pairing_skill for ranking in store.run(queries.rankings, LADDER)}
    second = add_version(store, "owner 0", "bot 0", "2.0")
    begin = begins_at(store, second, versions[1:4], "n1")
    assert begin == RATING.prior_for_new_version(stands[versions[0]])
    assert begin != RATING.newcomer
    third = add_version(store, "owner 0", "bot 0", "3.0")
    stands = {
        player_of(ranking): ranking.pairing_skill for ranking in store.run(queries.rankings, LADDER, every_version=True)
    }
    assert begins_at(store, third, versions[1:4], "n2") == RATING.prior_for_new_version(stands[second])
    assert recompute(store)[0].equal


def test_a_version_that_never_played_a_ladder_is_passed_over(store: Store) -> None:
    versions = prepare(store)
    store.submit(result("m1", versions[:4])).result()
    stands = store.run(queries.rankings, LADDER)[0].pairing_skill
    for label in ("2", "3", "4"):
        last = add_version(store, "owner 0", "bot 0", label)
    assert begins_at(store, last, versions[1:4], "m2") == RATING.prior_for_new_version(stands)
    store.write(ensure_ladder, NewLadder("two", game="szmal", seats=2, rating=RATING))
    assert begins_at(store, last, versions[1:2], "t1", "two") == RATING.newcomer  # nobody before it played there
    assert all(check.equal for check in recompute(store))


def test_a_bot_of_the_same_name_of_another_owner_is_no_relation(store: Store) -> None:
    versions = prepare(store)
    store.submit(result("m1", versions[:4])).result()
    other = add_version(store, "somebody else", "bot 0", "2.0")
    assert begins_at(store, other, versions[1:4], "m2") == RATING.newcomer


def test_parent_and_child_in_one_transaction(store: Store) -> None:
    versions = prepare(store)
    child = add_version(store, "owner 0", "bot 0", "2.0")
    results = [result("m1", versions[:4]), result("m2", [*versions[:3], child]), result("m3", [child, *versions[4:7]])]
    futures = [store.submit(one) for one in results]
    first, second, third = (future.result() for future in futures)
    assert second.changes[3].before == RATING.prior_for_new_version(first.changes[0].after)  # as it stood when m2 began
    assert third.changes[0].before == second.changes[3].after
    assert recompute(store)[0].equal


def test_an_epoch_says_how_much_a_new_version_may_differ(store: Store) -> None:
    versions = prepare(store)
    for number in range(5):
        store.submit(result(f"m{number}", versions[:4])).result()
    certain = TrueSkill(draw_probability=0.05, widening=0.0)
    assert store.write(open_epoch, LADDER, certain) == 2
    stands = store.run(queries.rankings, LADDER)[0].pairing_skill
    child = add_version(store, "owner 0", "bot 0", "2.0")
    assert begins_at(store, child, versions[1:4], "n1") == stands
    assert recompute(store)[0].equal


def test_hundreds_of_versions_in_three_epochs_are_computed_again_to_the_bit(database: str) -> None:
    rng = random.Random(5)
    with Store(database) as store:
        newest = prepare(store)
        futures = []
        for number in range(400):
            if number in (130, 260):
                store.write(open_epoch, LADDER, TrueSkill(draw_probability=0.1, beta=5.0, widening=number / 200))
            if rng.random() < 0.3:
                at = rng.randrange(len(newest))
                newest[at] = add_version(store, f"owner {at % 5}", f"bot {at}", f"1.{number}")
            seated = rng.sample(newest, 4)
            futures.append(store.submit(result(f"m{number}", seated, [rng.randint(0, 5) for _ in seated])))
        for future in futures:
            future.result()
        (check,) = recompute(store)
    assert check.equal, check.differences
    assert check.versions > 80


def test_a_parent_that_was_changed_is_found_and_a_circle_ends(database: str) -> None:
    with Store(database) as store:
        versions = prepare(store)
        store.submit(result("m1", versions[:4])).result()
        child = Identity("owner 0", "bot 0", "2.0")
        child_id = store.write(ensure_version, *child, created=datetime(2026, 11, 21, tzinfo=UTC))
        store.submit(result("m2", [child, *versions[1:4]])).result()
        assert recompute(store)[0].equal
    change_by_hand(database, f"UPDATE versions SET parent_id = NULL WHERE id = {child_id}")
    with Store(database) as store:
        assert "board 2 (match m2)" in recompute(store)[0].differences[0]
    change_by_hand(database, "UPDATE versions SET parent_id = id")
    with Store(database) as store:
        assert not recompute(store)[0].equal
        newcomer = add_version(store, "owner 9", "bot 99", "1.0")
        assert begins_at(store, newcomer, versions[1:4], "m3") == RATING.newcomer
