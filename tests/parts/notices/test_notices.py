"""Notices are queued in the transaction of what they are about, for those who want them and may have them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, get_type_hints

import pytest
from sqlalchemy import Connection

from cutpurse.cli.commands.notify import add
from cutpurse.leaderboard import queries, tournaments, version_tests
from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry, StoreError
from cutpurse.leaderboard.estimates.estimated import Estimated
from cutpurse.leaderboard.estimates.result_matrix import LadderEstimates, put_estimates
from cutpurse.leaderboard.events import EventEntry, TooManyEvents
from cutpurse.leaderboard.formats.brackets import ELIMINATION
from cutpurse.leaderboard.ladders import change_ladder
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens, revoke_token
from cutpurse.leaderboard.results import Deal, EventBoard, FinishedSeat, Identity, LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.server.installed_parts import write_hooks
from cutpurse.server.parts.events.tournament_rules import TournamentPlan
from cutpurse.server.parts.notices import outbox, receivers
from cutpurse.server.parts.notices.kind import NOTICES
from cutpurse.server.parts.notices.notice import EVENTS, ON_REQUEST
from cutpurse.server.parts.notices.outbox import Claim, Outcome
from cutpurse.server.parts.notices.receivers import MAX_RECEIVERS, WEBHOOK, NewReceiver, ReceiverEntry
from cutpurse.server.parts.notices.sources import placed_bots
from cutpurse.server.parts.submissions import submission_queries, submissions
from cutpurse.server.parts.submissions.submissions import REFUSED, NewSubmission
from tests.leaderboard.sample_results import DAWN, LADDER, PLAYERS, prepare, result
from tests.leaderboard.test_announced import announcement
from tests.roots import CHECKOUT

NOW = DAWN + timedelta(hours=1)
LATER = NOW + timedelta(minutes=1)


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store(database, hooks=write_hooks([NOTICES], pytest.fail)) as opened:
        yield opened


@pytest.fixture
def versions(store: Store) -> list[Identity]:
    """Twelve bots of five owners, who have tokens."""
    store.write(create_tokens, [NewToken("root", scopes=("admin",)), NewToken("ann")], DAWN)
    return prepare(store)


def listen(store: Store, owner: str, **more: Any) -> ReceiverEntry:
    address = f"https://{owner}.example/{len(store.run(receivers.receivers))}"
    return store.write(receivers.add_receiver, NewReceiver(owner, WEBHOOK, address, b"key", **more), NOW)


def queued(store: Store, receiver: ReceiverEntry) -> list[dict[str, Any]]:
    """The bodies that wait for a receiver, in their order."""
    with store.reading() as connection:
        rows = connection.exec_driver_sql("SELECT receiver_id, event_id, body FROM outbox ORDER BY number").all()
    found = [json.loads(row[2]) for row in rows if row[0] == receiver.id]
    assert [body["id"] for body in found] == [row[1] for row in rows if row[0] == receiver.id]
    assert store.run(receivers.receiver, receiver.id).waiting == len(found)
    return found


def texts(store: Store, receiver: ReceiverEntry) -> list[str]:
    return [body["text"] for body in queued(store, receiver)]


def played(store: Store, match: str, four: Sequence[Identity], faults: Sequence[int], **more: Any) -> None:
    """Store a match in which each seat had that number of faults; five mean that it was taken over."""
    seats = tuple(
        FinishedSeat(player, place, -place, "crashed" if count == 5 else "normal", faults=count)
        for place, (player, count) in enumerate(zip(four, faults, strict=True), 1)
    )
    store.submit(result(match, four, seats=seats, **more)).result()


# -- what is worth a notice
def test_the_first_fault_after_a_match_without_one(store: Store, versions: list[Identity]) -> None:
    four = [Identity("ann", "sneak", "1"), *versions[:3]]
    ann, root, other = listen(store, "ann"), listen(store, "root", is_host=True), listen(store, "bob")
    for match, count in (("m1", 0), ("m2", 1), ("m3", 2), ("m4", 0), ("m5", 3)):
        played(store, match, four, [count, 0, 0, 0])
    assert texts(store, ann) == [
        f"ann/sneak:1 made a fault in match m2 on ladder {LADDER}.",
        f"ann/sneak:1 made 3 faults in match m5 on ladder {LADDER}.",
    ]
    assert texts(store, root) == texts(store, ann)
    assert texts(store, other) == []
    first = queued(store, ann)[0]
    assert len(first.pop("id")) == 32
    assert first == {
        "schema": 1,
        "event": "bot_faulted",
        "at": "2026-11-21T06:00:03.000Z",
        "text": f"ann/sneak:1 made a fault in match m2 on ladder {LADDER}.",
        "owner": "ann",
        "bot": "sneak",
        "version": "1",
        "ladder": LADDER,
        "link": "/matches/m2",
        "details": {"match": "m2", "faults": 1, "end_cause": "normal"},
    }


def test_results_of_one_transaction_are_seen_in_their_order(store: Store, versions: list[Identity]) -> None:
    receiver = listen(store, versions[0].owner)
    made = [
        result(
            f"m{number}",
            versions[:4],
            seats=tuple(
                FinishedSeat(player, place, -place, "normal", faults=count if place == 1 else 0)
                for place, player in enumerate(versions[:4], 1)
            ),
        )
        for number, count in enumerate([1, 1, 0, 1])
    ]
    for future in [store.submit(one) for one in made]:
        future.result()
    assert [body["details"]["match"] for body in queued(store, receiver)] == ["m0", "m3"]


def test_a_result_that_is_stored_again_is_announced_once(store: Store, versions: list[Identity]) -> None:
    receiver = listen(store, versions[0].owner)
    for _ in range(3):
        played(store, "m1", versions[:4], [1, 0, 0, 0])
    assert len(queued(store, receiver)) == 1


def test_a_pause_and_its_cause(store: Store, versions: list[Identity]) -> None:
    receiver = listen(store, versions[0].owner, events=["bot_paused"])
    for number in range(4):
        played(store, f"m{number}", versions[:4], [5, 0, 0, 0])
    (body,) = queued(store, receiver)
    assert body["text"] == (
        f"owner 0/bot 0:1.0 is paused: taken over in 3 of its last 3 rated matches on ladder {LADDER}: "
        "m0 (crashed), m1 (crashed), m2 (crashed)."
    )
    assert body["details"]["match"] == "m2"


def test_submissions(store: Store, versions: list[Identity]) -> None:
    ann, other = listen(store, "ann"), listen(store, "owner 1")
    first = store.write(submissions.hand_in, NewSubmission("ann", "sneak", "1", b"d" * 32, 9), NOW)
    for _ in range(2):
        store.write(submissions.set_state, first.id, REFUSED, NOW, "it has no bot.toml")
    store.write(submissions.hand_in, NewSubmission("ann", "sneak", "1", b"e" * 32, 9), LATER)
    for _ in range(2):
        store.write(submissions.accept, first.id, LATER, "fine")
    assert [(body["event"], body["text"]) for body in queued(store, ann)] == [
        ("submission_rejected", "ann/sneak:1 was rejected: it has no bot.toml."),
        ("submission_accepted", "ann/sneak:1 was accepted and plays from now on."),
    ]
    assert queued(store, other) == []


def test_what_was_rolled_back_is_not_announced(store: Store, versions: list[Identity]) -> None:
    ann = listen(store, "ann")
    made = store.write(submissions.hand_in, NewSubmission("ann", "sneak", "1", b"d" * 32, 9), NOW)

    def refuse(connection: Connection) -> None:
        submissions.set_state(connection, made.id, REFUSED, NOW, "no")
        raise StoreError("disk full")

    with pytest.raises(StoreError):
        store.write(refuse)
    assert queued(store, ann) == []
    assert store.run(submission_queries.submissions, "ann")[0].state == "received"


def test_a_ladder_that_is_frozen_is_for_those_who_play_there(store: Store, versions: list[Identity]) -> None:
    played(store, "m1", versions[:4], [0, 0, 0, 0])
    inside, outside, root = listen(store, "owner 0"), listen(store, "ann"), listen(store, "root", is_host=True)
    terms = LadderTerms(frozen=LATER)
    for _ in range(2):
        store.write(change_ladder, LADDER, terms)
    store.write(change_ladder, LADDER, replace(terms, frozen=None))
    said = f"Ladder {LADDER} starts no matches from 2026-11-21 07:01 UTC on."
    assert texts(store, inside) == texts(store, root) == [said]
    assert texts(store, outside) == []


# -- rankings
def estimate(store: Store, order: Sequence[int], made: datetime) -> None:
    """Rank these versions, the best first."""
    found = {version: Estimated(50.0 - rank, 49.0 - rank, 51.0 - rank, 0, 0) for rank, version in enumerate(order)}
    store.write(put_estimates, LadderEstimates(LADDER, 8, found), made)


@pytest.fixture
def ranked(store: Store, versions: list[Identity]) -> Store:
    """Eight boards of four bots, versions 1 to 4, so that each may have a place."""
    for number in range(8):
        played(store, f"m{number}", versions[:4], [0, 0, 0, 0])
    return store


def test_who_was_overtaken_hears_by_whom_once_a_day(ranked: Store) -> None:
    receivers = [listen(ranked, f"owner {n}", events=["bot_overtaken"]) for n in range(4)]
    estimate(ranked, [1, 2, 3, 4], NOW)
    assert [texts(ranked, receiver) for receiver in receivers] == [[], [], [], []], "nobody had a place before"
    estimate(ranked, [3, 1, 2, 4], NOW)
    said = f"owner 2/bot 2 overtook owner 0/bot 0 on ladder {LADDER}; it is in place 2 now."
    assert [texts(ranked, receiver) for receiver in receivers] == [
        [said],
        [f"owner 2/bot 2 overtook owner 1/bot 1 on ladder {LADDER}; it is in place 3 now."],
        [],
        [],
    ]
    for order in ([1, 2, 3, 4], [3, 1, 2, 4]):
        estimate(ranked, order, NOW + timedelta(hours=23))
    assert texts(ranked, receivers[0]) == [said], "at most once a day"
    for order in ([1, 2, 3, 4], [4, 3, 2, 1]):
        estimate(ranked, order, NOW + timedelta(hours=25))
    assert texts(ranked, receivers[0])[1:] == [
        f"owner 3/bot 3, owner 2/bot 2, owner 1/bot 1 overtook owner 0/bot 0 on ladder {LADDER}; it is in place 4 now."
    ]
    assert queued(ranked, receivers[0])[-1]["details"] == {
        "place": 4,
        "overtaken_by": [{"owner": f"owner {n}", "bot": f"bot {n}"} for n in (3, 2, 1)],
        "overtaken_by_count": 3,
    }


def test_places_are_those_of_the_ranking(ranked: Store) -> None:
    listen(ranked, "owner 0")
    estimate(ranked, [2, 4, 1, 3], NOW)
    with ranked.reading() as connection:
        placed = placed_bots(connection, 1)
    shown = [(entry.owner, entry.bot, entry.place) for entry in ranked.run(queries.rankings, LADDER) if entry.is_placed]
    assert len(shown) == 4
    assert [(bot.owner, bot.bot, bot.place) for bot in placed] == shown


def test_a_bot_that_gets_a_place_overtakes_those_below_it(ranked: Store) -> None:
    receiver = listen(ranked, "owner 1")
    estimate(ranked, [1, 2, 3], NOW)
    estimate(ranked, [1, 4, 2, 3], NOW)
    assert texts(ranked, receiver) == [
        f"owner 3/bot 3 overtook owner 1/bot 1 on ladder {LADDER}; it is in place 3 now."
    ]


def test_a_bot_hears_whose_rank_range_no_longer_overlaps_with_its_own(ranked: Store) -> None:
    named, usual = listen(ranked, "owner 1", events=["bot_separated"]), listen(ranked, "owner 1")

    def estimate_ranges(*ranges: tuple[int, int]) -> None:
        estimates = {at: Estimated(50.0 - at, 49.0, 51.0, best, worst) for at, (best, worst) in enumerate(ranges, 1)}
        ranked.write(put_estimates, LadderEstimates(LADDER, 8, estimates), NOW)

    estimate_ranges((1, 3), (1, 3), (2, 4), (3, 4))
    estimate_ranges((1, 2), (2, 3), (3, 4), (3, 4))
    assert texts(ranked, named) == []
    estimate_ranges((1, 1), (2, 2), (3, 4), (3, 4))
    assert texts(ranked, named) == [
        f"owner 1/bot 1 is now surely below owner 0/bot 0 and above owner 2/bot 2, owner 3/bot 3 on ladder {LADDER}."
    ]
    estimate_ranges((1, 1), (2, 2), (3, 4), (3, 4))
    assert len(texts(ranked, named)) == 1, "what is known already is no news"
    assert texts(ranked, usual) == [], "only on request"


def test_matches_are_announced_on_request_alone(store: Store, versions: list[Identity]) -> None:
    named, usual = listen(store, "owner 1", events=["match_over"]), listen(store, "owner 1")
    played(store, "m1", versions[:4], [0, 0, 0, 0])
    assert texts(store, named) == [f"owner 1/bot 1:1.0 came in place 2 of 4 in match m1 on ladder {LADDER}."]
    assert queued(store, named)[0]["details"] == {"match": "m1", "place": 2, "seats": 4}
    assert texts(store, usual) == []
    later = LadderTerms(results_hidden_until=DAWN + timedelta(days=9))
    store.write(change_ladder, LADDER, later)
    played(store, "m2", versions[:4], [0, 0, 0, 0])
    assert len(texts(store, named)) == 1, "places are results"


def test_a_tournament_is_announced_to_the_owners_of_its_bots_when_it_begins(
    store: Store, versions: list[Identity]
) -> None:
    named = {owner: listen(store, owner, events=["tournament_begins"]) for owner in ("owner 0", "owner 1", "ann")}
    usual = listen(store, "owner 1")
    plan = TournamentPlan(LADDER, ELIMINATION, 1, (versions[0], versions[1]))
    new = EventEntry("t1", LADDER, "root", plan.text, NOW)
    store.write(tournaments.start, new, 1)
    with pytest.raises(TooManyEvents):
        store.write(tournaments.start, replace(new, id="t2"), 1)
    said = [f"A tournament of 2 bots begins on ladder {LADDER}."]
    assert {owner: texts(store, receiver) for owner, receiver in named.items()} == {
        "owner 0": said,
        "owner 1": said,
        "ann": [],
    }
    (body,) = queued(store, named["owner 1"])
    assert (body["link"], body["details"]) == ("/events/t1", {"tournament": "t1", "bots": 2})
    assert texts(store, usual) == [], "only on request"


@pytest.mark.parametrize("outcome", ["better", "stopped"])
def test_the_owner_of_a_version_test_hears_once_how_it_ended(
    store: Store, versions: list[Identity], outcome: str
) -> None:
    named, other = (listen(store, owner, events=["test_over"]) for owner in ("owner 0", "owner 1"))
    usual = listen(store, "owner 0")
    old, new = versions[0], versions[0]._replace(version="2")
    store.write(version_tests.start, EventEntry("t1", LADDER, "owner 0", "{}", NOW), new, old, 9, 9)
    for name, voids in (("a", False), ("b", True)):
        deal = Deal(f"board {name}", b"c" * 32, b"s" * 32, b"{}")
        for at, mine in enumerate((new, old)):
            four = (versions[1], mine, *versions[2:4])
            match = result(f"{name} {at}", four, deal=deal, is_rated=False, requested_by="owner 0")
            match = replace(match, board_matches=2)
            store.announce(announcement(match, EventBoard("t1", 0, ord(name)))).result()
            store.submit(match.voided() if voids and at else match).result()
    assert len(store.run(version_tests.boards, "t1")) == 1
    for _ in range(2):
        store.write(version_tests.end, "t1", outcome, LATER)
    assert texts(store, named) == [
        f"The test of owner 0/bot 0:2 against owner 0/bot 0:1.0 on ladder {LADDER} is over after 1 board: {outcome}."
    ]
    (body,) = queued(store, named)
    assert (body["version"], body["link"]) == ("2", "/tests/t1")
    assert body["details"] == {
        "test": "t1",
        "old_bot": "bot 0",
        "old_version": "1.0",
        "outcome": outcome,
        "boards": 1,
    }
    assert (texts(store, other), texts(store, usual)) == ([], [])
    with pytest.raises(NoSuchEntry):
        store.write(version_tests.end, "none", outcome, LATER)


def test_the_outcome_of_a_test_is_a_result(store: Store, versions: list[Identity]) -> None:
    owner, root = (listen(store, name, events=["test_over"], is_host=name == "root") for name in ("owner 0", "root"))
    new = versions[0]._replace(version="2")
    store.write(version_tests.start, EventEntry("t1", LADDER, "owner 0", "{}", NOW), new, versions[0], 9, 9)
    store.write(change_ladder, LADDER, LadderTerms(results_hidden_until=LATER + timedelta(days=1)))
    store.write(version_tests.end, "t1", "undecided", LATER)
    assert (len(texts(store, owner)), len(texts(store, root))) == (0, 1)


def test_the_help_names_the_events_that_come_on_request_alone() -> None:
    (option,) = get_type_hints(add, include_extras=True)["event"].__metadata__
    assert all(event in option.help for event in ON_REQUEST)


# -- who may have it
def test_an_owner_who_may_not_see_a_private_ladder_hears_nothing_of_it(store: Store, versions: list[Identity]) -> None:
    played(store, "m1", versions[:4], [0, 0, 0, 0])
    removed, kept, root = listen(store, "owner 0"), listen(store, "owner 1"), listen(store, "root", is_host=True)
    store.write(change_ladder, LADDER, LadderTerms(owners=("owner 1",), is_private=True, frozen=LATER))
    played(store, "m2", versions[:4], [1, 1, 0, 0])
    assert texts(store, removed) == []
    assert len(texts(store, kept)) == 2
    assert len(texts(store, root)) == 3


@pytest.mark.parametrize("term", ["results_hidden_until", "names_hidden_until"])
def test_while_results_are_hidden_only_hosts_hear_who_was_overtaken(ranked: Store, term: str) -> None:
    owner, root = listen(ranked, "owner 0"), listen(ranked, "root", is_host=True)
    ranked.write(change_ladder, LADDER, LadderTerms(**{term: NOW + timedelta(minutes=1)}))  # type: ignore[arg-type]  # by name
    estimate(ranked, [1, 2, 3, 4], NOW)
    estimate(ranked, [2, 1, 3, 4], NOW)
    said = f"owner 1/bot 1 overtook owner 0/bot 0 on ladder {LADDER}; it is in place 2 now."
    assert (texts(ranked, owner), texts(ranked, root)) == ([], [said])
    played(ranked, "later", PLAYERS[:4], [1, 0, 0, 0])
    assert len(texts(ranked, owner)) == 1, "a fault of one's own bot is no result"
    estimate(ranked, [3, 2, 1, 4], NOW + timedelta(minutes=1))
    assert len(texts(ranked, owner)) == 2


def test_events_and_ladders_are_chosen(store: Store, versions: list[Identity]) -> None:
    wants = {
        "pauses": listen(store, "owner 0", events=["bot_paused"]),
        "elsewhere": listen(store, "owner 0", ladders=["another"]),
        "here": listen(store, "owner 0", ladders=[LADDER]),
    }
    played(store, "m1", versions[:4], [1, 0, 0, 0])
    assert {name: len(texts(store, receiver)) for name, receiver in wants.items()} == {
        "pauses": 0,
        "elsewhere": 0,
        "here": 1,
    }


def test_who_lost_the_right_to_read_gets_nothing_until_it_is_back(store: Store, versions: list[Identity]) -> None:
    ((token, _), _) = store.write(create_tokens, [NewToken("cid"), NewToken("dan")], DAWN)
    own, host = listen(store, "cid"), listen(store, "dan", is_host=True)
    played(store, "m1", [Identity("cid", "sneak", "1"), *versions[:3]], [1, 0, 0, 0])
    assert claimed(store, LATER) == {own.id: 1}, "a host's receiver takes the scope admin"
    store.write(revoke_token, token.id, NOW)
    assert claimed(store, LATER + timedelta(hours=1)) == {}
    store.write(create_tokens, [NewToken("cid"), NewToken("dan", scopes=("admin", "read"))], NOW)
    assert claimed(store, LATER + timedelta(hours=2)) == {own.id: 1, host.id: 1}


def claimed(store: Store, now: datetime) -> dict[int, int]:
    claims = outbox.claim_due(store, now, now + timedelta(minutes=1), 10, 10)
    return {claim.receiver.id: len(claim.notices) for claim in claims}


# -- the outbox
@pytest.fixture
def waiting(store: Store, versions: list[Identity]) -> tuple[Store, ReceiverEntry]:
    """A receiver of ann's for which ten notices wait."""
    receiver = listen(store, "ann")
    four = [Identity("ann", "sneak", "1"), *versions[:3]]
    for number in range(20):
        played(store, f"m{number}", four, [number % 2, 0, 0, 0])
    assert len(queued(store, receiver)) == 10
    return store, receiver


def claim(store: Store, now: datetime = NOW) -> Claim:
    (found,) = outbox.claim_due(store, now, now + timedelta(minutes=1), 10, 4)
    return found


def test_a_claim_has_the_oldest_in_order_and_is_exclusive(waiting: tuple[Store, ReceiverEntry]) -> None:
    store, receiver = waiting
    oldest = [body["id"] for body in queued(store, receiver)][:4]
    assert [notice.event_id for notice in claim(store).notices] == oldest
    assert outbox.claim_due(store, NOW, LATER, 10, 4) == []
    assert [notice.event_id for notice in claim(store, LATER).notices] == oldest, "the claim ran out"
    store.write_uncached(outbox.release_claims)
    assert [notice.event_id for notice in claim(store).notices] == oldest


def test_what_is_delivered_goes_and_what_failed_stays(waiting: tuple[Store, ReceiverEntry]) -> None:
    store, receiver = waiting
    before = queued(store, receiver)
    first = claim(store)
    store.write_uncached(outbox.settle, [Outcome(receiver.id, first.notices[:3], "it answered 500", LATER)], NOW)
    assert queued(store, receiver) == before[3:]
    entry = store.run(receivers.receiver, receiver.id)
    assert (entry.delivered, entry.failures, entry.problem) == (3, 1, "it answered 500")
    assert (entry.failing_since, entry.retry_at) == (NOW, LATER)
    assert outbox.claim_due(store, NOW, LATER, 10, 4) == []
    again = claim(store, LATER)
    store.write_uncached(outbox.settle, [Outcome(receiver.id, again.notices)], LATER)
    entry = store.run(receivers.receiver, receiver.id)
    assert (entry.delivered, entry.failures, entry.problem, entry.failing_since) == (7, 0, "", None)
    store.write_uncached(outbox.settle, [Outcome(receiver.id, again.notices)], LATER)
    assert store.run(receivers.receiver, receiver.id).delivered == 7, "another sender did the same"
    assert queued(store, receiver) == before[7:]


def test_a_paused_receiver_is_left_alone_until_a_delivery_succeeds(waiting: tuple[Store, ReceiverEntry]) -> None:
    store, receiver = waiting
    claim(store)
    store.write_uncached(
        outbox.settle, [Outcome(receiver.id, [], "it answered \0\ud800", LATER, is_given_up=True)], NOW
    )
    assert store.run(receivers.receiver, receiver.id).paused == NOW
    assert store.run(receivers.receiver, receiver.id).problem == "it answered \ufffd\ufffd"
    assert store.run(receivers.count_receivers) == (1, 1, 10)
    assert outbox.claim_due(store, LATER, LATER, 10, 4) == []
    played(
        store, "more", [Identity("ann", "other", "1"), *[Identity("x", f"b{n}", "1") for n in range(3)]], [1, 0, 0, 0]
    )
    entry = store.run(receivers.receiver, receiver.id)
    assert (entry.waiting, entry.missed) == (10, 1)
    store.write_uncached(outbox.settle, [Outcome(receiver.id, [])], LATER)
    assert store.run(receivers.receiver, receiver.id).paused == NOW, "nothing was tried"
    store.write_uncached(outbox.settle, [Outcome(receiver.id, [], is_tested=True)], LATER)
    assert store.run(receivers.receiver, receiver.id).paused is None
    assert len(claim(store, LATER).notices) == 4


def test_a_retry_that_a_wrong_clock_set_far_ahead_is_not_waited_for(waiting: tuple[Store, ReceiverEntry]) -> None:
    store, receiver = waiting
    claim(store)
    store.write_uncached(outbox.settle, [Outcome(receiver.id, [], "no", NOW + timedelta(days=900))], NOW)
    assert len(claim(store).notices) == 4


def test_an_outbox_is_bounded(store: Store, versions: list[Identity], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "MAX_WAITING", 3)
    receiver = listen(store, versions[0].owner)
    for number in range(10):
        played(store, f"m{number}", versions[:4], [number % 2, 0, 0, 0])
    assert [body["details"]["match"] for body in queued(store, receiver)] == ["m1", "m3", "m5"]
    assert store.run(receivers.receiver, receiver.id).missed == 2


# -- receivers
def test_a_receiver_is_removed_with_all_that_waits(waiting: tuple[Store, ReceiverEntry]) -> None:
    store, receiver = waiting
    first = claim(store)
    assert store.write(receivers.remove_receiver, receiver.id).address == receiver.address
    assert store.run(receivers.count_receivers) == (0, 0, 0)
    store.write_uncached(outbox.settle, [Outcome(receiver.id, first.notices)], NOW)
    with pytest.raises(NoSuchEntry, match="there is no receiver"):
        store.write(receivers.remove_receiver, receiver.id)
    with pytest.raises(NoSuchEntry, match="there is no receiver"):
        store.run(receivers.receiver, receiver.id)


def test_what_is_wrong_with_a_receiver_is_said(store: Store) -> None:
    with pytest.raises(InvalidEntry, match="there is no event 'rain'; there are: submission_accepted, "):
        listen(store, "ann", events=["rain"])
    with pytest.raises(InvalidEntry, match="the name of a ladder is ''"):
        listen(store, "ann", ladders=[""])
    for text in ("\0", "\ud800"):
        with pytest.raises(InvalidEntry, match="the address has characters that cannot be shown"):
            NewReceiver("bob", WEBHOOK, f"https://x.example/{text}", b"")
    made = [listen(store, "ann") for _ in range(MAX_RECEIVERS)]
    assert store.run(receivers.receivers, "ann") == made
    assert store.run(receivers.receivers, "bob") == []
    with pytest.raises(InvalidEntry, match="ann has 10 receivers, the maximum"):
        listen(store, "ann")
    same = NewReceiver("bob", WEBHOOK, "https://x.example", b"")
    store.write(receivers.add_receiver, same, NOW)
    with pytest.raises(InvalidEntry, match="a receiver with this address already"):
        store.write(receivers.add_receiver, same, NOW)


def test_secrets_are_in_no_text_of_an_entry(store: Store) -> None:
    entry = store.write(receivers.add_receiver, NewReceiver("bob", WEBHOOK, "https://x.example/hidden", b"hidden"), NOW)
    assert "hidden" not in repr(entry)
    assert "hidden" not in repr(NewReceiver("bob", WEBHOOK, "https://x.example/hidden", b"hidden"))


def test_the_page_lists_every_event_with_its_meaning() -> None:
    page = (CHECKOUT / "docs" / "reference" / "notices.md").read_text(encoding="utf-8")
    for event, meaning in EVENTS.items():
        assert f"| `{event}` | {meaning} |" in page
