"""A ladder is made once; what it is never changes, and its terms may."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import cast

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.ladders import (
    NewLadder,
    change_ladder,
    check_unused,
    create_ladder,
    create_ladders,
    delete_ladder,
    open_epoch,
)
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.results import FinishedSeat, LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.server.installed_parts import hooks_of_parts
from cutpurse.server.parts.submissions import submissions
from cutpurse.server.parts.submissions.submissions import NewSubmission
from tests.leaderboard.sample_results import DAWN, LADDER, RATING, prepare, result
from tests.leaderboard.test_announced import announcement


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store(database, hooks=hooks_of_parts()) as opened:
        yield opened


def test_a_ladder_is_made_with_its_terms(store: Store) -> None:
    frozen = datetime(2026, 12, 24, 13, tzinfo=timezone(timedelta(hours=1)))
    terms = LadderTerms(("ann", "bob"), 40, True, frozen, ("greedy", "random"))
    new = NewLadder("class", "greed", 4, RATING, settings={"b": "x"}, clock={"base_ms": 5}, terms=terms)
    (made,) = store.write(create_ladders, [new], DAWN)
    assert (made.name, made.game, made.settings, made.seats, made.clock, made.rating, made.matches) == (
        *("class", "greed", {"b": "x"}, 4, {"base_ms": 5}),
        *(RATING, 0),
    )
    assert (made.terms, made.created) == (terms, DAWN)
    assert made.terms.frozen is not None
    assert made.terms.frozen.utcoffset() == timedelta(0)
    assert store.run(queries.ladders) == [made]
    assert store.run(queries.ladder, "class") == made
    with pytest.raises(InvalidEntry, match="there is a ladder class already; give the new one another name"):
        store.write(create_ladder, NewLadder("class", game="greed", seats=4, rating=RATING), DAWN)
    with pytest.raises(NoSuchEntry, match="there is no ladder 'none'"):
        store.run(queries.ladder, "none")


def test_terms_are_changed_whole_and_nothing_else_is(store: Store) -> None:
    versions = prepare(store)
    store.submit(result("m1", versions[:4])).result()
    before = store.run(queries.ladder, LADDER)
    assert (before.terms, before.created) == (LadderTerms(), None)
    terms = LadderTerms(owners=("ann",), frozen=DAWN)
    seen = store.changes
    changed = store.write(change_ladder, LADDER, terms)
    assert store.changes != seen
    assert changed.terms == terms
    assert (changed.name, changed.game, changed.rating, changed.matches) == (LADDER, "greed", RATING, 1)
    assert prepare(store) == versions  # what a server makes as a matter of course may have any terms
    assert store.run(queries.ladder, LADDER).terms == terms
    assert store.write(change_ladder, LADDER, LadderTerms()) == before
    with pytest.raises(NoSuchEntry, match="there is no ladder 'none'"):
        store.write(change_ladder, "none", terms)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"name": ""}, "the name of a ladder is ''"),
        ({"name": "a\x1b[2J"}, "printable"),
        ({"name": "x" * 10_000}, "1-200 printable characters"),
        ({"seats": 1}, "1 seats; at least 2"),
        ({"seats": 256}, "256 seats; at most 255"),
        ({"created": datetime(2026, 1, 1)}, "needs a time zone"),  # noqa: DTZ001  # that is what is refused
    ],
)
def test_a_ladder_that_cannot_be_is_refused(store: Store, changed: dict[str, object], said: str) -> None:
    fields: dict[str, object] = {"name": "class", "game": "greed", "seats": 4, "created": DAWN, **changed}
    created = cast("datetime", fields.pop("created"))
    with pytest.raises(InvalidEntry, match=said) as told:
        store.write(create_ladder, NewLadder(rating=RATING, **fields), created)  # type: ignore[arg-type]  # by name
    assert len(str(told.value)) < 500
    assert store.run(queries.ladders) == []


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"owners": ("ann", "")}, "the name of an owner is ''"),
        ({"house": ("\n",)}, "the name of a house bot"),
        ({"most_bots": -1}, "must be a count"),
        ({"most_bots": 2**63}, "must be a count"),
        ({"most_per_owner": -1}, "at most -1 bots of an owner: it must be a count"),
        ({"memory_kib": 1_025}, "memory_kib is 1,025: it is a size from 0 .none. to 1,024 KiB"),
        ({"frozen": datetime(2026, 1, 1)}, "needs a time zone"),  # noqa: DTZ001  # that is what is refused
        ({"names_hidden_until": datetime(2026, 1, 1)}, "names hidden until .* needs a time zone"),  # noqa: DTZ001  # so, too
    ],
)
def test_terms_that_cannot_be_are_refused(terms: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidEntry, match=said):
        LadderTerms(**terms)  # type: ignore[arg-type]  # by name


def test_a_frozen_ladder_still_takes_what_was_played(store: Store) -> None:
    versions = prepare(store)
    store.write(change_ladder, LADDER, LadderTerms(frozen=DAWN - timedelta(days=1)))
    assert store.submit(result("m1", versions[:4])).result().sequence == 1


def test_each_ladder_tells_its_own_epoch_and_matches(store: Store) -> None:
    versions = prepare(store)
    other = TrueSkill(draw_probability=0.3)
    store.write(create_ladder, NewLadder("a", game="szmal", seats=2, rating=other), datetime(2026, 11, 22, tzinfo=UTC))
    store.submit(result("m1", versions[:2], ladder="a")).result()
    fitted = TrueSkill(draw_probability=0.2)
    store.write(open_epoch, "a", fitted)
    assert [(one.name, one.matches, one.rating) for one in store.run(queries.ladders)] == [
        ("a", 1, fitted),
        (LADDER, 0, RATING),
    ]


def test_a_ladder_without_a_match_can_be_deleted_and_its_name_used_again(store: Store) -> None:
    prepare(store)
    store.write(create_ladder, NewLadder("clas", game="szmal", seats=2, rating=RATING), DAWN)
    store.write(open_epoch, "clas", TrueSkill(draw_probability=0.2))
    store.run(check_unused, "clas")
    store.write(delete_ladder, "clas")
    assert [one.name for one in store.run(queries.ladders)] == [LADDER]
    with pytest.raises(NoSuchEntry, match="there is no ladder 'clas'"):
        store.run(check_unused, "clas")
    with pytest.raises(NoSuchEntry, match="there is no ladder 'clas'"):
        store.write(delete_ladder, "clas")
    (again,) = store.write(create_ladders, [NewLadder("clas", game="greed", seats=3, rating=RATING)], DAWN)
    assert (again.game, again.seats, again.rating, again.matches) == ("greed", 3, RATING, 0)


@pytest.mark.parametrize("what", ["rated", "void", "announced"])
def test_a_ladder_with_a_match_is_kept(store: Store, what: str) -> None:
    seated = prepare(store)[:4]
    seats = tuple(FinishedSeat(version, None, None, "void_server") for version in seated)
    void = result("m1", seated, seats=seats, void_cause="void_server", record="")
    played = result("m1", seated)
    if what == "announced":
        store.announce(announcement(played)).result()
    else:
        store.submit(void if what == "void" else played).result()
    with pytest.raises(InvalidEntry, match=rf"^ladder {LADDER} has matches, and those are kept: freeze it instead$"):
        store.write(delete_ladder, LADDER)
    assert [one.name for one in store.run(queries.ladders)] == [LADDER]


def test_a_ladder_for_which_a_bot_was_handed_in_is_kept_until_it_is_retired(store: Store) -> None:
    prepare(store)
    entry = store.write(submissions.hand_in, NewSubmission("ann", "sneak", "1", b"1" * 32, 1_000, [LADDER]), DAWN)
    text = rf"^ann/sneak:1 was submitted for ladder {LADDER}: freeze it instead, or have the bot retired$"
    with pytest.raises(InvalidEntry, match=text):
        store.write(delete_ladder, LADDER)
    store.write(submissions.accept, entry.id, DAWN, "")
    with pytest.raises(InvalidEntry, match=text):
        store.write(delete_ladder, LADDER)
    store.write(submissions.retire, entry.id, DAWN)
    store.write(delete_ladder, LADDER)
    assert store.run(queries.ladders) == []
