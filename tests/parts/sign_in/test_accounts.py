"""The same account is always the same owner, and no other account ever becomes that owner by its name."""

from datetime import UTC, datetime, timedelta

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens, revoke_token
from cutpurse.leaderboard.store import Store
from cutpurse.server.parts.sign_in.accounts import NotLinked, ProviderAccount, link_account, open_session

NOW = datetime(2026, 11, 26, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
ANN = ProviderAccount("https://login.school.example", "ann-1")
OTHER = ProviderAccount("https://login.school.example", "ann-2")


def session(owner: str, at: datetime = NOW) -> NewToken:
    return NewToken(owner, "signed in", ("read", "play"), at + HOUR)


def test_an_account_is_one_owner_whatever_it_is_called_later(store: Store) -> None:
    _, first = store.write(open_session, ANN, session("ann"), NOW, may_create=True)
    assert (first.owner, first.scopes, first.expires) == ("ann", ("play", "read", "session"), NOW + HOUR)
    _, again = store.write(open_session, ANN, session("ann-miller"), NOW, may_create=False)
    assert again.owner == "ann"
    assert {entry.owner for entry in store.run(queries.tokens)} == {"ann"}


def test_an_equal_name_takes_over_no_owner(store: Store) -> None:
    store.write(create_tokens, [NewToken("bob")], NOW)
    store.write(open_session, ANN, session("ann"), NOW, may_create=True)
    elsewhere = ProviderAccount("https://evil.example", ANN.subject)
    for account, owner in ((OTHER, "ann"), (elsewhere, "ann"), (OTHER, "bob")):
        with pytest.raises(NotLinked) as refused:
            store.write(open_session, account, session(owner), NOW, may_create=True)
        assert refused.value.owner == owner
    assert sorted((entry.owner, len(entry.scopes)) for entry in store.run(queries.tokens)) == [("ann", 3), ("bob", 2)]


def test_without_leave_to_create_owners_only_linked_accounts_sign_in(store: Store) -> None:
    with pytest.raises(NotLinked) as refused:
        store.write(open_session, ANN, session("ann"), NOW, may_create=False)
    assert refused.value.owner == ""
    assert store.run(queries.tokens) == []
    assert store.write(link_account, ANN, "ann", NOW) == ""
    assert store.write(open_session, ANN, session("whatever"), NOW, may_create=False)[1].owner == "ann"


def test_a_link_that_moves_ends_the_sessions_of_the_owner_before(store: Store) -> None:
    ((token, _),) = store.write(create_tokens, [NewToken("bob")], NOW)
    opened, _ = store.write(open_session, ANN, session("ann"), NOW, may_create=True)
    assert store.write(link_account, ANN, "bob", NOW + HOUR / 2) == "ann"
    assert store.write(link_account, ANN, "bob", NOW + HOUR / 2) == "bob"  # nothing is left to do
    revoked = {entry.id: entry.revoked for entry in store.run(queries.tokens)}
    assert revoked == {opened.id: NOW + HOUR / 2, token.id: None}
    assert store.write(open_session, ANN, session("ann"), NOW, may_create=True)[1].owner == "bob"


def test_the_members_of_a_team_sign_in_as_one_owner_with_a_session_each(store: Store) -> None:
    for account in (ANN, OTHER):
        store.write(link_account, account, "red_team", NOW)
    ann, _ = store.write(open_session, ANN, session("ann"), NOW, may_create=False)
    other, _ = store.write(open_session, OTHER, session("bob"), NOW, may_create=False)
    assert {entry.id: entry.owner for entry in store.run(queries.tokens)} == {ann.id: "red_team", other.id: "red_team"}
    store.write(revoke_token, ann.id, NOW)
    assert {entry.id: entry.revoked for entry in store.run(queries.tokens)} == {ann.id: NOW, other.id: None}


def test_sessions_that_ended_are_removed_and_nothing_else_is(store: Store) -> None:
    store.write(create_tokens, [NewToken("ann", expires=NOW + HOUR)], NOW)
    store.write(link_account, ANN, "ann", NOW)
    store.write(open_session, ANN, session("ann"), NOW, may_create=False)
    revoked, _ = store.write(open_session, ANN, session("ann", NOW + HOUR), NOW, may_create=False)
    store.write(revoke_token, revoked.id, NOW)
    later = NOW + 3 * HOUR
    left, _ = store.write(open_session, ANN, session("ann", later), later, may_create=False)
    assert [(entry.id == left.id, "session" in entry.scopes) for entry in store.run(queries.tokens)] == [
        (False, False),
        (True, True),
    ]


@pytest.mark.parametrize("owner", ["house", "local", "people", "Ann", ""])
def test_no_account_becomes_a_reserved_or_bad_owner(store: Store, owner: str) -> None:
    with pytest.raises(InvalidEntry):
        store.write(link_account, ANN, owner, NOW)


@pytest.mark.parametrize(("issuer", "subject"), [("", "x"), ("x", ""), ("x", "a\nb"), ("x", "s" * 256)])
def test_an_account_needs_an_issuer_and_a_subject(issuer: str, subject: str) -> None:
    with pytest.raises(InvalidEntry):
        ProviderAccount(issuer, subject)
