"""Tokens at the door: whoever has one is its owner, whoever has none learns nothing, and nobody locks others out."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import statistics
import string
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import grpc
import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens, note_uses, revoke_token
from cutpurse.leaderboard.queries import TokenEntry
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import NOBODY, Token, new_token, read_token
from cutpurse.server.access import entrance
from cutpurse.server.access.owners import ANYBODY, BAD, Grant, OpenGuard, TokenGuard, TokenRefused
from cutpurse.server.hosting.arena import Arena, ArenaServices, Listening
from cutpurse.server.hosting.stall_monitor import EVERY_S
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limited_log import LINES
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import logger
from tests.looking import until_so
from tests.server.arenas import RunningArena, running_arena
from tests.server.raw_bot import Ended, RawBot, honest
from tests.server.toys import ToyLobby

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HERE = "ipv4:10.0.0.7:4711"
LADDER = Ladder("greed", "greed", 2, {}, TimeControl(poll_floor_ms=0), matches_wanted=1)


class Tokens:
    """A store of tokens in memory."""

    def __init__(self) -> None:
        self.changes = 0
        self.entries: dict[str, TokenEntry] = {}
        self.noted: dict[str, datetime] = {}
        self.is_broken = False
        self.asked = 0

    def make(self, owner: str, scopes: tuple[str, ...] = ("play", "read"), expires: datetime | None = None) -> Token:
        token = new_token()
        self.entries[token.id] = TokenEntry(token.id, token.digest, owner, scopes, "", NOW, expires, None, None)
        self.changes += 1
        return token

    def revoke(self, token: Token) -> None:
        old = self.entries[token.id]
        self.entries[token.id] = TokenEntry(old.id, old.digest, old.owner, old.scopes, "", NOW, old.expires, NOW, None)
        self.changes += 1

    def run(self, query: object) -> list[TokenEntry]:
        assert query is queries.tokens
        self.asked += 1
        if self.is_broken:
            raise StoreError("the leaderboard cannot be read")
        return list(self.entries.values())

    def write(self, function: object, uses: Mapping[str, datetime]) -> None:
        assert function is note_uses
        self.noted.update(uses)


class Door:
    """A guard, its tokens, and a clock that stands where it is put."""

    def __init__(self) -> None:
        self.tokens = Tokens()
        self.now = 1_000.0
        self.said = io.StringIO()
        store, log = cast("Store", self.tokens), logger(self.said)
        self.guard = TokenGuard(store, lambda: NOW + timedelta(seconds=self.now - 1_000), log)

    def enter(self, *values: str | bytes, peer: str = HERE, scope: str = "play") -> Grant:
        metadata = [("user-agent", "test"), *(("authorization", value) for value in values)]
        return self.guard.enter(metadata, peer, scope, self.now)

    def refusal(self, *values: str | bytes, peer: str = HERE, scope: str = "play") -> TokenRefused:
        with pytest.raises(TokenRefused) as refused:
            self.enter(*values, peer=peer, scope=scope)
        return refused.value

    def look(self) -> bool:
        """Look until what was begun is done; whether tokens were read anew."""
        self.guard.look(self.now)
        reading = self.guard._reading
        if reading is None:
            return False
        reading.exception(timeout=240)
        return self.guard.look(self.now)

    @property
    def warnings(self) -> list[dict[str, object]]:
        return [line for line in map(json.loads, self.said.getvalue().splitlines()) if line["level"] == "warning"]


@pytest.fixture
def door() -> Iterator[Door]:
    opened = Door()
    yield opened
    opened.guard.close()


def bearer(token: Token) -> str:
    return f"Bearer {token.reveal()}"


def forged(token: Token) -> str:
    """A well-formed token of the same name, and another secret."""
    begin = token.reveal()[:13] + new_token().reveal()[13:37]
    return begin + crc_in_base_62(begin)


def crc_in_base_62(begin: str) -> str:
    signs = string.digits + string.ascii_uppercase + string.ascii_lowercase
    number = zlib.crc32(begin.encode())
    return "".join(signs[number // 62**power % 62] for power in range(5, -1, -1))


def test_whoever_was_called_house_before_the_house_had_bots_is_not_taken_for_it(door: Door) -> None:
    old = door.tokens.make("house")
    door.look()
    assert str(door.refusal(bearer(old))) == BAD
    assert not door.guard.is_good(old.id)


def test_a_token_lets_its_owner_in(door: Door) -> None:
    ann, bob = door.tokens.make("ann"), door.tokens.make("bob")
    assert door.look()
    assert door.enter(bearer(ann)) == Grant("ann", ann.id, ("play", "read"))
    assert door.enter(bearer(bob).replace("Bearer", "bearer")) == Grant("bob", bob.id, ("play", "read"))


def test_whatever_is_wrong_with_a_token_is_told_in_the_same_words(door: Door) -> None:
    ann, late, gone = door.tokens.make("ann"), door.tokens.make("bob", expires=NOW), door.tokens.make("cid")
    door.tokens.revoke(gone)
    door.look()
    text = ann.reveal()
    shown: list[str | bytes] = [
        bearer(late),
        bearer(gone),
        bearer(new_token()),
        f"Bearer {forged(ann)}",
        bearer(ann)[:-1],
        bearer(ann)[:-1] + ("0" if text[-1] != "0" else "1"),
        text,
        f"Basic {text}",
        "Bearer",
        "Bearer ",
        f"Bearer {text} {text}",
        "Bearer " + "x" * 3_000,
        b"\xff",
        "",
    ]
    endings = {door.refusal(one, peer=f"ipv4:10.0.1.{at}:1").ending for at, one in enumerate(shown)}
    endings.add(door.refusal(bearer(ann), bearer(ann)).ending)
    (ending,) = endings
    assert (ending.reason, ending.code) == ("TOKEN_INVALID", grpc.StatusCode.UNAUTHENTICATED.value[0])
    assert door.enter(bearer(ann)).owner == "ann"


def test_the_name_of_a_token_is_not_enough(door: Door) -> None:
    ann = door.tokens.make("ann")
    door.look()
    read = read_token(forged(ann))
    assert read is not None
    assert (read.id, read.digest != ann.digest) == (ann.id, True)
    assert door.refusal(f"Bearer {forged(ann)}").ending.reason == "TOKEN_INVALID"


def test_no_token_at_all_is_told_how_to_send_one_and_is_no_try(door: Door) -> None:
    for _ in range(50):
        refused = door.refusal()
        assert refused.ending.reason == "TOKEN_INVALID"
        assert "authorization: Bearer TOKEN" in refused.ending.text
        assert not refused.is_late


def test_a_call_that_needs_no_token_is_known_by_a_good_one_and_refused_with_a_bad_one(door: Door) -> None:
    token = door.tokens.make("ann", ("read",))
    door.look()
    assert door.guard.recognise([], HERE, 0.0) is None
    assert door.guard.recognise([("user-agent", "x")], HERE, 0.0) is None
    shown = [("authorization", bearer(token))]
    assert door.guard.recognise(shown, HERE, 0.0) == Grant("ann", token.id, ("read",))
    with pytest.raises(TokenRefused) as refused:
        door.guard.recognise([("authorization", "Bearer nonsense")], HERE, 0.0)
    assert refused.value.ending == door.refusal("Bearer nonsense").ending


def test_a_token_that_is_good_for_something_else(door: Door) -> None:
    token = door.tokens.make("ann", ("admin", "read"))
    door.look()
    refused = door.refusal(bearer(token))
    assert refused.ending.reason == "TOKEN_SCOPE"
    assert refused.ending.text == "this token is good for admin, read, not for play; ask for one that is"
    assert door.enter(bearer(token), scope="admin") == Grant("ann", token.id, ("admin", "read"))


# -- tokens come and go
def test_a_token_is_known_as_soon_as_it_was_made_and_no_more_when_it_is_revoked(door: Door) -> None:
    token = door.tokens.make("ann")
    assert door.refusal(bearer(token)).ending.reason == "TOKEN_INVALID"
    assert door.look()
    grant = door.enter(bearer(token))
    assert door.guard.is_good(grant.token)
    door.tokens.revoke(token)
    assert door.look()
    assert not door.guard.is_good(grant.token)
    assert door.refusal(bearer(token)).ending.reason == "TOKEN_INVALID"


def test_a_token_expires_by_the_clock(door: Door) -> None:
    token = door.tokens.make("ann", expires=NOW + timedelta(seconds=10))
    door.look()
    assert door.guard.is_good(door.enter(bearer(token)).token)
    door.now += 10
    assert not door.guard.is_good(token.id)
    assert door.refusal(bearer(token)).ending.reason == "TOKEN_INVALID"


def test_tokens_are_read_only_when_they_have_changed(door: Door) -> None:
    asked = door.tokens.asked
    for _ in range(100):
        door.now += 0.05
        assert not door.look()
        door.refusal(bearer(new_token()))
    assert door.tokens.asked == asked
    door.tokens.make("ann")
    assert door.look()
    assert door.tokens.asked == asked + 1


def test_tokens_that_cannot_be_read_are_read_a_second_later(door: Door) -> None:
    ann = door.tokens.make("ann")
    door.look()
    bob = door.tokens.make("bob")
    door.tokens.is_broken = True
    assert not door.look()
    assert "the leaderboard cannot be read" in door.said.getvalue()
    assert door.enter(bearer(ann)).owner == "ann"
    door.tokens.is_broken = False
    assert not door.look()
    door.now += 1.0
    assert door.look()
    assert door.enter(bearer(bob)).owner == "bob"


def test_when_a_token_was_used_is_noted_once_a_minute(door: Door) -> None:
    ann, bob = door.tokens.make("ann"), door.tokens.make("bob")
    door.look()
    door.enter(bearer(ann))
    door.now += 5
    door.enter(bearer(ann))
    door.look()
    assert door.tokens.noted == {}
    door.now += 60
    door.enter(bearer(bob))
    door.look()
    door.guard.close()
    assert door.tokens.noted == {ann.id: NOW + timedelta(seconds=5), bob.id: NOW + timedelta(seconds=65)}


# -- many bad tries
def test_after_ten_bad_tries_a_minute_an_address_is_answered_late_for_a_minute(door: Door) -> None:
    for _ in range(10):
        assert not door.refusal(bearer(new_token())).is_late
    for _ in range(500):
        assert door.refusal(bearer(new_token())).is_late
    (said,) = door.warnings  # once
    assert (said["event"], said["address"]) == ("many bad tokens", "10.0.0.7")
    assert not door.refusal(bearer(new_token()), peer="ipv4:10.0.0.8:4711").is_late
    door.now += 59.0
    assert door.refusal(bearer(new_token())).is_late
    door.now += 1.0
    assert not door.refusal(bearer(new_token())).is_late


def test_tries_that_are_spread_over_time_are_nobodys_attack(door: Door) -> None:
    for _ in range(60):
        assert not door.refusal(bearer(new_token())).is_late
        door.now += 6.1
    assert door.warnings == []


def test_sixty_students_behind_one_address_are_let_in_whatever_one_of_them_tries(door: Door) -> None:
    tokens = [door.tokens.make(f"student{number}") for number in range(60)]
    door.look()
    for _ in range(1_000):
        door.refusal(bearer(new_token()))
    assert [door.enter(bearer(token)).owner for token in tokens] == [f"student{number}" for number in range(60)]


def test_an_attacker_of_many_addresses_costs_little_memory(door: Door) -> None:
    for number in range(5_000):
        door.refusal("Bearer x", peer=f"ipv4:10.{number // 250}.{number % 250}.1:1")
    assert len(door.guard._tries._by_address) == 4_096


@pytest.mark.parametrize(
    ("peer", "same"),
    [
        ("ipv4:10.0.0.7:1", "ipv4:10.0.0.7:2"),
        ("ipv6:%5B2001:db8:1:2::1%5D:1", "ipv6:%5B2001:db8:1:2:ffff::9%5D:2"),
        ("ipv6:[2001:db8:1:2::1]:1", "ipv6:%5B2001:db8:1:2:ffff::9%5D:2"),
        ("ipv6:%5Bfe80::1%25eth0%5D:1", "ipv6:%5Bfe80::2%25eth0%5D:7"),
        ("unix:", "unix:"),
        ("unix:/tmp/" + "x" * 500, "unix:/tmp/" + "x" * 499),
    ],
)
def test_a_caller_is_known_by_its_host(door: Door, peer: str, same: str) -> None:
    for _ in range(10):
        door.refusal("Bearer x", peer=peer)
    assert door.refusal("Bearer x", peer=same).is_late


def test_a_guess_takes_as_long_as_another(door: Door) -> None:
    """Malformed, unknown and revoked: nobody could tell them apart by the clock; none reads the store."""
    gone = [door.tokens.make("ann") for _ in range(20)]
    for token in gone:
        door.tokens.revoke(token)
    door.look()
    kinds = {"unknown": [bearer(new_token()) for _ in range(20)], "revoked": [bearer(token) for token in gone]}
    took: dict[str, list[float]] = {kind: [] for kind in kinds}
    for turn in range(2_000):
        for kind, shown in kinds.items():
            begin = time.perf_counter()
            door.refusal(shown[turn % 20])
            took[kind].append(time.perf_counter() - begin)
    unknown, revoked = (statistics.median(took[kind]) for kind in kinds)
    assert abs(unknown - revoked) < 0.5 * max(unknown, revoked)  # microseconds, far below what a network shows
    assert max(unknown, revoked) < 0.001


def test_no_secret_is_logged_or_told(door: Door) -> None:
    token = door.tokens.make("ann", ("read",))
    refused = [door.refusal(bearer(token))]  # not known yet
    door.look()
    refused += [door.refusal(bearer(token)) for _ in range(30)]
    secret = token.reveal()[13:]
    said = door.said.getvalue() + "".join(str(one) + repr(one.ending) for one in refused)
    assert secret not in said
    assert token.digest.hex() not in said


def test_an_open_server_asks_nobody(door: Door) -> None:
    guard = OpenGuard()
    assert guard.enter([("authorization", "Bearer nonsense")], HERE, "play", 0.0) == ANYBODY
    assert guard.recognise([], HERE, 0.0) == ANYBODY == Grant(NOBODY, "", ("admin", "place", "play", "read"))
    assert guard.is_good("")
    assert not guard.look(0.0)


# -- on a real server
def tokens_of(folder: Path, *owners: str, **fields: object) -> list[str]:
    """Tokens of these owners, in the database of the arena that will run there."""
    with Store(folder / "test.db") as store:
        made = store.write(create_tokens, [NewToken(owner, **fields) for owner in owners], datetime.now(UTC))  # type: ignore[arg-type]
    return [token.reveal() for token, _ in made]


async def refused(address: str, token: str = "") -> Ended:
    """How a call with this token ends, before anything was said."""
    async with RawBot(address, token) as bot:
        return await end_of(bot)


async def end_of(bot: RawBot) -> Ended:
    """Read until the call ends."""
    try:
        while True:
            await bot.read()
    except Ended as ended:
        return ended


async def test_bots_of_two_owners_play_under_the_same_name(tmp_path: Path) -> None:
    ann, bob = tokens_of(tmp_path, "ann", "bob")
    async with running_arena(tmp_path, [LADDER]) as arena:
        async with RawBot(arena.address, ann) as bot:
            welcome = await bot.hello("sneak")
            assert (welcome.owner, welcome.bot) == ("ann", "sneak")
            other = asyncio.create_task(honest(arena.address, "sneak", bob))
            envelope = await bot.read()
            seats = {(seat.owner, seat.bot, seat.version) for start in envelope.starts for seat in start.seats}
            assert seats == {("ann", "sneak", "1"), ("bob", "sneak", "1")}
            for kind, items in bot.waiting.items():
                items.extend(getattr(envelope, kind))
            end = await bot.play_on()
            await other
        settled = json.loads(end.opening.params)
        assert sorted(seat["owner"] for seat in settled["seats"]) == ["ann", "bob"]
        entry = arena.opened.store.run(queries.matches)[0]
        assert sorted((seat.owner, seat.bot) for seat in entry.seats) == [("ann", "sneak"), ("bob", "sneak")]
        record = json.loads(arena.opened.store.run(queries.record, entry.match))
        assert sorted(record["seats"]) == ["ann/sneak 1", "bob/sneak 1"]
        ranked = arena.opened.store.run(queries.rankings, "greed")
        assert sorted((row.owner, row.bot) for row in ranked) == [("ann", "sneak"), ("bob", "sneak")]
        assert all(token not in arena.log for token in (ann, bob))
        assert all(token[13:] not in arena.log for token in (ann, bob))


async def test_bad_tokens_are_told_alike_and_good_ones_are_let_in_beside_them(tmp_path: Path) -> None:
    ann, gone, reader = *tokens_of(tmp_path, "ann", "bob"), *tokens_of(tmp_path, "cid", scopes=("read",))
    with Store(tmp_path / "test.db") as store:
        store.write(revoke_token, gone[5:13], datetime.now(UTC))
    async with running_arena(tmp_path, [LADDER]) as arena:
        bad = [await refused(arena.address, token) for token in (gone, new_token().reveal(), "nonsense")]
        assert {(one.code, one.reason, one.text) for one in bad} == {
            (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_INVALID", bad[0].text)
        }
        missing = await refused(arena.address)
        assert (missing.code, missing.reason) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_INVALID")
        scope = await refused(arena.address, reader)
        assert (scope.code, scope.reason) == (grpc.StatusCode.PERMISSION_DENIED, "TOKEN_SCOPE")
        async with RawBot(arena.address, ann) as bot:
            assert (await bot.hello("sneak")).owner == "ann"
        assert all(token[13:] not in arena.log for token in (ann, gone, reader))


async def test_a_revoked_token_ends_its_streams_within_a_second_and_the_match_goes_on(tmp_path: Path) -> None:
    ann, bob = tokens_of(tmp_path, "ann", "bob")
    short = replace(LADDER, control=TimeControl(bank_ms=1_000, poll_floor_ms=0))  # for the seat of who is gone
    async with running_arena(tmp_path, [short]) as arena, RawBot(arena.address, ann) as bot:
        await bot.hello("sneak")
        other = asyncio.create_task(honest(arena.address, "thug", bob))
        await bot.decision()
        store = arena.opened.store
        await asyncio.to_thread(store.write, revoke_token, ann[5:13], datetime.now(UTC))
        ended = await end_of(bot)
        assert (ended.code, ended.reason) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_INVALID")
        assert EVERY_S < 1.0, "the loop looks for revoked tokens each time that its timer rings"
        end = await other
        assert end.rated
        assert sorted(seat.end_cause for seat in store.run(queries.matches)[0].seats) == ["disconnected", "normal"]
        assert (await refused(arena.address, ann)).reason == "TOKEN_INVALID"


async def test_brute_force_is_held_up_logged_once_and_hinders_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ann,) = tokens_of(tmp_path, "ann")
    monkeypatch.setattr(entrance, "HELD_S", 3_600.0)
    monkeypatch.setattr(entrance, "MOST_HELD", 5)
    async with running_arena(tmp_path, [LADDER]) as arena:
        for _ in range(10):
            assert (await refused(arena.address, new_token().reveal())).reason == "TOKEN_INVALID"
        held = [asyncio.create_task(refused(arena.address, new_token().reveal())) for _ in range(12)]
        done: set[asyncio.Task[Ended]] = set()
        while len(done) < 7:  # those for whom there was no room to wait
            more, _ = await asyncio.wait(set(held) - done, return_when=asyncio.FIRST_COMPLETED)
            done |= more
        assert {task.result().text for task in done} == {BAD}
        async with RawBot(arena.address, ann) as bot:
            assert (await bot.hello("sneak")).owner == "ann"
        assert sum(task.done() for task in held) == 7
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        lines = [json.loads(line) for line in arena.log.splitlines()]
        assert len([line for line in lines if line["event"] == "many bad tokens"]) == 1
        assert len([line for line in lines if line.get("reason") == "TOKEN_INVALID"]) == LINES


def alone(address: str, token: str) -> RawBot:
    """A bot with a connection of its own, as one in another process has it."""
    channel = grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
    return RawBot(address, token, channel=channel)


def are_refused(arena: RunningArena, guesses: Sequence[asyncio.Task[Ended]]) -> bool:
    """Let those who wait for their refusals have them; return whether all have."""
    for held in [*arena.opened.arena.entrance._held]:
        held.set()
    return all(guess.done() for guess in guesses)


@pytest.mark.full
async def test_sixty_students_behind_one_address_come_in_while_one_of_them_guesses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entrance, "HELD_S", 3_600.0)
    tokens = tokens_of(tmp_path, *(f"student{number}" for number in range(60)))
    async with running_arena(tmp_path, [LADDER]) as arena, contextlib.AsyncExitStack() as stack:
        guessers = [alone(arena.address, new_token().reveal()) for _ in range(40)]
        guesses = [asyncio.create_task(end_of(await stack.enter_async_context(bot))) for bot in guessers]
        bots = [await stack.enter_async_context(alone(arena.address, token)) for token in tokens]
        welcomes = await asyncio.gather(*(bot.hello("homework", max_tables=1) for bot in bots))
        assert [welcome.owner for welcome in welcomes] == [f"student{number}" for number in range(60)]
        assert not all(guess.done() for guess in guesses)  # the guesser still waits
        await until_so(lambda: are_refused(arena, guesses))
        assert {(await guess).text for guess in guesses} == {BAD}
        assert arena.opened.arena.sessions.connected == 60


async def test_an_owner_has_so_many_streams_and_others_get_theirs(tmp_path: Path) -> None:
    ann, bob = tokens_of(tmp_path, "ann", "bob")
    limits = ServerLimits(streams_per_owner=3, sessions_per_owner=2, hello_s=600.0)
    async with running_arena(tmp_path, [LADDER], limits) as arena, contextlib.AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(alone(arena.address, ann)) for _ in range(3)]
        await streams[0].hello("one")
        await streams[1].hello("two")  # the third says nothing
        while arena.opened.arena.streams < 3:
            await asyncio.sleep(0)
        async with alone(arena.address, ann) as late:
            ended = await end_of(late)
        text = "ann has 3 streams, as many as an owner may; end one of them first"
        assert (ended.reason, ended.text) == ("STREAMS", text)
        assert text in arena.log
        other = await stack.enter_async_context(alone(arena.address, bob))
        assert (await other.hello("one")).owner == "bob"
        await streams[2].channel.close()
        while arena.opened.arena.streams > 3:  # two of ann's, and bob's
            await asyncio.sleep(0)
        again = await stack.enter_async_context(alone(arena.address, ann))
        assert (await again.hello("two")).owner == "ann"


async def test_a_guard_that_breaks_lets_nobody_in_and_tells_nothing() -> None:
    class Broken(OpenGuard):
        def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
            raise KeyError(dict(metadata)["authorization"])

    said, secret = io.StringIO(), new_token().reveal()
    arena = Arena(Listening("127.0.0.1:0"), ToyLobby(), logger(said), services=ArenaServices(Broken()))
    address = await arena.start()
    ended = await refused(address, secret)
    await arena.stop()
    assert (ended.code, ended.reason) == (grpc.StatusCode.INTERNAL, "INCIDENT")
    assert "KeyError" in said.getvalue()
    assert secret[13:] not in ended.text + said.getvalue()
