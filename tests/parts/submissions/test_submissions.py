"""Bots that were handed in, as they are written down: a version never changes, and one of a bot plays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry, StoreError
from cutpurse.leaderboard.store import Store
from cutpurse.server.installed_parts import hooks_of_parts
from cutpurse.server.parts.submissions import submission_queries, submissions
from cutpurse.server.parts.submissions.submissions import ACCEPTED, BUILT, RECEIVED, REFUSED, TAKEN_OFF, NewSubmission

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
FIRST, OTHER = b"1" * 32, b"2" * 32


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store(database, hooks=hooks_of_parts()) as opened:
        yield opened


def sneak(version: str = "1", digest: bytes = FIRST, owner: str = "ann") -> NewSubmission:
    return NewSubmission(owner, "sneak", version, digest, 1_000, ["greed"])


def test_what_is_handed_in_is_there_when_the_file_is_opened_again(database: str) -> None:
    with Store(database) as store:
        entry = store.write(submissions.hand_in, sneak(), NOW)
        assert (entry.shown, entry.state, entry.is_active, entry.is_kept) == ("ann/sneak:1", RECEIVED, False, True)
    with Store(database) as store:
        assert store.run(submission_queries.submissions) == [entry]
        assert store.run(submission_queries.submissions, "ann", "sneak", "1") == [entry]
        assert (
            store.run(submission_queries.submissions, "bob")
            == store.run(submission_queries.submissions, "ann", "other")
            == []
        )
        assert store.run(queries.bots) == []  # a version is known once it plays


def test_the_same_bytes_again_are_the_same_answer(store: Store) -> None:
    first = store.write(submissions.hand_in, sneak(), NOW)
    accepted = store.write(submissions.set_state, first.id, ACCEPTED, NOW, log="all was well")
    assert store.write(submissions.hand_in, sneak(), NOW + timedelta(days=1)) == accepted
    assert store.run(submission_queries.submission_log, first.id) == "all was well"


def test_a_version_never_means_other_bytes(store: Store) -> None:
    first = store.write(submissions.hand_in, sneak(), NOW)
    for state in (RECEIVED, BUILT, ACCEPTED, TAKEN_OFF):
        store.write(submissions.set_state, first.id, state, NOW)
        with pytest.raises(
            InvalidEntry, match=r"sneak:1 was submitted with other bytes .*another version in bot\.toml"
        ):
            store.write(submissions.hand_in, sneak(digest=OTHER), NOW)
    assert (
        store.write(submissions.hand_in, sneak(digest=OTHER, owner="bob"), NOW).owner == "bob"
    )  # a name is its owner's own


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        (["greed"], ["class"], "for greed, not for class, and"),
        (["greed", "class"], ["class"], "for greed, class, not for class, and"),
        (["greed"], [], "for greed, not for every ladder of its games, and"),
        ([], ["greed"], "for every ladder of its games, not for greed, and"),
    ],
)
def test_a_version_never_means_other_ladders(store: Store, before: list[str], now: list[str], told: str) -> None:
    first = store.write(submissions.hand_in, replace(sneak(), ladders=before), NOW)
    for state in (RECEIVED, BUILT, ACCEPTED, TAKEN_OFF):
        kept = store.write(submissions.set_state, first.id, state, NOW)
        with pytest.raises(InvalidEntry, match=rf"^sneak:1 was submitted {told} .*another version in bot\.toml$"):
            store.write(submissions.hand_in, replace(sneak(), ladders=now), NOW)
        assert (
            store.write(submissions.hand_in, replace(sneak(), ladders=before[::-1]), NOW) == kept
        )  # in whatever order
    store.write(submissions.set_state, first.id, REFUSED, NOW)
    assert list(store.write(submissions.hand_in, replace(sneak(), ladders=now), NOW).ladders) == now  # it never played


def test_what_was_refused_never_played_and_may_come_again(store: Store) -> None:
    first = store.write(submissions.hand_in, sneak(), NOW)
    store.write(submissions.set_state, first.id, REFUSED, NOW, "it does not start", "Traceback ...")
    again = store.write(submissions.hand_in, sneak(digest=OTHER), NOW + timedelta(hours=1))
    assert (again.id, again.digest, again.state, again.why) == (first.id, OTHER, RECEIVED, "")
    assert store.run(submission_queries.submission_log, first.id) == ""


def test_of_a_bot_one_version_plays(store: Store) -> None:
    one, two = (store.write(submissions.hand_in, sneak(version), NOW) for version in ("1", "2"))
    with pytest.raises(InvalidEntry, match="was not accepted"):
        store.write(submissions.activate, one.id, NOW)
    for entry in (one, two):
        store.write(submissions.set_state, entry.id, ACCEPTED, NOW)
        store.write(submissions.activate, entry.id, NOW)
    assert {entry.version: entry.is_active for entry in store.run(submission_queries.submissions)} == {
        "1": False,
        "2": True,
    }
    store.write(submissions.activate, one.id, NOW)
    assert {entry.version: entry.is_active for entry in store.run(submission_queries.submissions)} == {
        "1": True,
        "2": False,
    }
    assert store.write(submissions.set_state, one.id, TAKEN_OFF, NOW, "it ended by itself, 5 times").is_active is False
    assert store.write(submissions.activate, one.id, NOW).state == ACCEPTED
    assert store.write(submissions.retire, one.id, NOW).is_active is False


def test_an_archive_that_is_gone_is_known_to_be(store: Store) -> None:
    entry = store.write(submissions.hand_in, sneak(), NOW)
    store.write(submissions.set_state, entry.id, ACCEPTED, NOW)
    store.write(submissions.activate, entry.id, NOW)
    with pytest.raises(InvalidEntry, match="that plays is kept"):
        store.write(submissions.not_kept, [entry.id])
    store.write(submissions.retire, entry.id, NOW)
    store.write(submissions.not_kept, [entry.id])
    with pytest.raises(InvalidEntry, match="was deleted"):
        store.write(submissions.activate, entry.id, NOW)
    assert store.write(submissions.hand_in, sneak(), NOW).is_kept
    with pytest.raises(NoSuchEntry):
        store.write(submissions.retire, 999, NOW)


def test_who_sees_that_a_version_is_accepted_sees_that_it_plays(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accepted and made to play in one transaction: a server may be killed at any moment."""
    entry = store.write(submissions.hand_in, sneak(), NOW)
    accepted = store.write(submissions.accept, entry.id, NOW, "all is well")
    assert (accepted.state, accepted.is_active, store.run(submission_queries.submission_log, entry.id)) == (
        ACCEPTED,
        True,
        "all is well",
    )

    def killed(*_: object) -> None:
        raise StoreError("killed")

    other = store.write(submissions.hand_in, sneak("2"), NOW)
    monkeypatch.setattr(submissions, "activate", killed)
    with pytest.raises(StoreError):
        store.write(submissions.accept, other.id, NOW, "")
    assert {one.version: (one.state, one.is_active) for one in store.run(submission_queries.submissions)} == {
        "1": (ACCEPTED, True),
        "2": (RECEIVED, False),
    }


def test_what_a_program_printed_is_made_storable(store: Store) -> None:
    first = store.write(submissions.hand_in, sneak(), NOW)
    refused = store.write(submissions.set_state, first.id, REFUSED, NOW, "it printed \0\ud800", "\0\udfff")
    assert refused.why == "it printed \ufffd\ufffd"
    assert store.run(submission_queries.submission_log, first.id) == "\ufffd\ufffd"
