"""Tokens of owners are kept as hashes, all of a class or none, and are never good again once they are revoked."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.owner_registry import (
    NewToken,
    create_tokens,
    ensure_version,
    note_uses,
    redeem_link,
    revoke_token,
)
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import read_token

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def test_a_token_is_kept_by_its_name_and_hash(tmp_path: Path) -> None:
    store = Store(tmp_path / "ladder.db")
    assert store.run(queries.has_tokens) is False
    expires = datetime(2027, 3, 1, 1, 0, tzinfo=timezone(timedelta(hours=1)))
    ((token, entry),) = store.write(create_tokens, [NewToken("ann", "laptop", ("read", "play", "play"), expires)], NOW)
    assert store.run(queries.has_tokens) is True
    assert store.run(queries.tokens) == [entry]
    assert (entry.id, entry.digest, entry.owner, entry.label) == (token.id, token.digest, "ann", "laptop")
    assert (entry.scopes, entry.created, entry.expires) == (("play", "read"), NOW, datetime(2027, 3, 1, tzinfo=UTC))
    assert (entry.revoked, entry.last_used) == (None, None)
    assert entry.digest.hex() not in repr(entry)
    store.close()
    files = b"".join(file.read_bytes() for file in tmp_path.glob("ladder.db*"))
    assert token.id.encode() in files
    assert token.reveal().encode() not in files
    assert token.reveal()[13:].encode() not in files


def test_a_token_is_good_until_it_expires_or_is_revoked(store: Store) -> None:
    hour = timedelta(hours=1)
    (short, long) = store.write(create_tokens, [NewToken("ann", expires=NOW + hour), NewToken("ann")], NOW)
    assert short[1].is_good(NOW)
    assert not short[1].is_good(NOW + hour)
    assert long[1].is_good(NOW + 10_000 * hour)
    revoked = store.write(revoke_token, long[0].id, NOW + hour)
    assert revoked.revoked == NOW + hour
    assert not revoked.is_good(NOW)
    assert store.write(revoke_token, long[0].id, NOW + 9 * hour) == revoked  # once is enough
    with pytest.raises(NoSuchEntry, match="there is no token 'nonesuch'"):
        store.write(revoke_token, "nonesuch", NOW)


def test_a_class_gets_its_tokens_all_or_none(store: Store) -> None:
    wanted = [NewToken(f"student{n}", f"seat {n}") for n in range(60)]
    made = store.write(create_tokens, wanted, NOW)
    assert [entry.owner for _, entry in made] == [new.owner for new in wanted]
    assert len({token.reveal() for token, _ in made}) == 60
    assert all(read_token(token.reveal()) for token, _ in made)
    with pytest.raises(InvalidEntry, match="the token of bob would have expired at 2026-11-21"):
        store.write(create_tokens, [NewToken("cid"), NewToken("bob", expires=NOW)], NOW)
    assert len(store.run(queries.tokens)) == 60
    with pytest.raises(NoSuchEntry, match="there is no owner 'cid'"):
        store.run(queries.tokens, "cid")
    assert [entry.label for entry in store.run(queries.tokens, "student7")] == ["seat 7"]


def test_an_owner_may_have_several_tokens_and_had_bots_before(store: Store) -> None:
    store.write(ensure_version, "ann", "sneak", "1.0", NOW)
    store.write(create_tokens, [NewToken("ann", "laptop"), NewToken("ann", "server")], NOW)
    assert sorted(entry.label for entry in store.run(queries.tokens, "ann")) == ["laptop", "server"]
    with store.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM owners").scalar_one() == 1


def test_uses_are_noted(store: Store) -> None:
    ((one, _), (two, _)) = store.write(create_tokens, [NewToken("ann"), NewToken("bob")], NOW)
    store.write(note_uses, {two.id: NOW + timedelta(minutes=3), "nonesuch": NOW})
    assert {entry.id: entry.last_used for entry in store.run(queries.tokens)} == {
        one.id: None,
        two.id: NOW + timedelta(minutes=3),
    }


def test_whoever_keeps_a_copy_of_the_tokens_sees_that_it_is_old(store: Store) -> None:
    seen = store.changes
    ((token, _),) = store.write(create_tokens, [NewToken("ann")], NOW)
    assert store.changes != seen
    seen = store.changes
    store.write(revoke_token, token.id, NOW)
    assert store.changes != seen


def test_versions_know_since_when_and_after_whom(store: Store) -> None:
    first = store.write(ensure_version, "ann", "sneak", "1.0", NOW)
    second = store.write(ensure_version, "ann", "sneak", "2.0", NOW + timedelta(days=1))
    assert store.write(ensure_version, "ann", "sneak", "1.0", NOW + timedelta(days=2)) == first
    with store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT id, parent_id FROM versions ORDER BY id").all()
    assert [tuple(row) for row in rows] == [(first, None), (second, first)]
    assert [entry.created for entry in store.run(queries.bots)] == [NOW, NOW + timedelta(days=1)]


NAMES = [
    "",
    " ",
    "Ann",
    "a b",
    "ann\n",
    "ann\x1b[31m",
    "<b>ann</b>",
    "ann\u202e",
    "\U0001f600",
    "zoë",
    "-ann",
    "x" * 33,
    "a" * 10_000,
    "../ann",
    "ann;drop",
    "ann,bob",
    "\0",
]


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_an_owner_has_a_plain_name(name: str) -> None:
    with pytest.raises(InvalidEntry, match=r"the name of an owner is .*; it can be 1 to 32 of a-z") as told:
        NewToken(name)
    assert len(str(told.value)) < 300
    assert str(told.value).isprintable()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"owner": "house"}, "the owner house is reserved for the server's own bots"),
        ({"owner": "local"}, "the owner local is reserved for bots without a token"),
        ({"label": "x" * 201}, "can be 200 printable characters at most"),
        ({"label": "a\nb"}, r"the label 'a\\nb' can be 200 printable"),
        ({"expires": datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))}, "beyond the year 9999"),
        ({"scopes": ()}, "a token needs at least one scope; there are: admin, place, play, read"),
        ({"scopes": ("play", "fly")}, "there is no scope 'fly'; there are: admin, place, play, read"),
        ({"expires": datetime(2027, 1, 1)}, "which needs a time zone"),  # noqa: DTZ001
    ],
)
def test_a_token_that_makes_no_sense_is_refused(fields: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidEntry, match=said):
        NewToken(**{"owner": "ann", **fields})  # type: ignore[arg-type]  # by name


def test_a_reader_sees_tokens_while_they_are_made(store: Store) -> None:
    store.write(create_tokens, [NewToken("ann")], NOW)
    with LeaderboardReader(store.database) as reader:
        assert [entry.owner for entry in reader.run(queries.tokens)] == ["ann"]
        store.write(create_tokens, [NewToken("bob")], NOW + timedelta(seconds=1))
        assert [entry.owner for entry in reader.run(queries.tokens)] == ["ann", "bob"]


def test_a_link_that_expired_or_was_revoked_is_worth_nothing(store: Store) -> None:
    hour = timedelta(hours=1)
    wanted = [NewToken("ann", "Ann", ("link", "read"), NOW + hour), NewToken("bob", scopes=("link", "read"))]
    (late, _), (revoked, _) = store.write(create_tokens, wanted, NOW)
    store.write(revoke_token, revoked.id, NOW)
    for token in (late, revoked):
        with pytest.raises(InvalidEntry, match="this link was used before, or has expired"):
            store.write(redeem_link, token.id, NOW + hour)
    with pytest.raises(NoSuchEntry):
        store.write(redeem_link, "nonesuch", NOW)
    assert len(store.run(queries.tokens)) == 2
