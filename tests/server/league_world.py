"""A league with secrets: a server with tokens, a public and a private ladder, and clients that ask about both."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from typer.testing import Result

from cutpurse.leaderboard.ladders import NewLadder, create_ladders
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens, revoke_token
from cutpurse.leaderboard.results import DecisionFault, DecisionLog, LadderTerms, SeatNote
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import new_token
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.ladder_config import Ladder, ladder_of
from cutpurse.v1 import arena_pb2, event_pb2, ladder_pb2
from tests.leaderboard.sample_results import add_version, result
from tests.server.arenas import WITH_EVENTS, RunningArena, running_arena
from tests.server.dialling import Ended, how_it_ended
from tests.server.raw_bot import RawBot
from tests.typed import run_beside

__all__ = [
    "CALLS",
    "METHODS",
    "NEEDS",
    "OWNERS",
    "SECRETS",
    "LeagueWorld",
    "at_secret_table",
    "league_world",
    "requests_with",
]

METHODS: Final = {
    method.name: (method, messages)
    for messages, service in ((ladder_pb2, "LadderService"), (event_pb2, "EventService"))
    for method in messages.DESCRIPTOR.services_by_name[service].methods
}
CALLS: Final = [*METHODS]
NEEDS: Final = {  # a call of the method needs one of these scopes; other methods need none
    "CreateLadder": ("admin",),
    "ChangeLadder": ("admin",),
    "DeleteLadder": ("admin",),
    "RequestMatch": ("play",),
    "ListLogs": ("read", "admin"),
    "LiftPause": ("play",),
    "ChangeBot": ("play",),
    "PlanEvent": ("admin",),  # or "play", for a version test
    "StartEvent": ("admin",),
    "StopEvent": ("play", "admin"),
}
OWNERS: Final = {
    "ann": ("play", "read"),  # may play on the private ladder
    "cid": ("play", "read"),  # may play on it too
    "bob": ("play", "read"),  # may not play on it
    "player": ("play",),
    "root": ("admin",),
}
# Texts that only users who may see the private ladder may receive.
SECRETS: Final = (b"hidden", b"hush", b"feedc0de", b"quietly", b"whispered", b"cause_of_pause")


class LeagueWorld:
    """The server, its store, and calls with the tokens of all users."""

    def __init__(self, arena: RunningArena, channel: grpc.aio.Channel, tokens: dict[str, str]) -> None:
        self.arena = arena
        self.store = arena.opened.store
        self.channel = channel
        self.tokens = tokens

    async def ask(self, method: str, who: str = "", **fields: Any) -> Any:
        """Return the answer to a call, or the list of answers of a streaming call.  Raises Ended."""
        return await self.send(method, getattr(METHODS[method][1], f"{method}Request")(**fields), who)

    async def send(self, method: str, request: Message | bytes, who: str = "", most: int = 1_000) -> Any:
        """Send a request; return the answer, or at most `most` answers of a streaming call.  Raises Ended."""
        described, messages = METHODS[method]
        kind = getattr(messages, f"{method}Response")
        make: Any = self.channel.unary_stream if described.server_streaming else self.channel.unary_unary
        body = request if isinstance(request, bytes) else request.SerializeToString()
        metadata = (("authorization", f"Bearer {self.tokens[who]}"),) if who else None
        call = make(f"/{described.containing_service.full_name}/{method}")(body, metadata=metadata, timeout=240)
        try:
            if not described.server_streaming:
                return kind.FromString(await call)
            told = []
            async for piece in call:
                told.append(kind.FromString(piece))
                if len(told) == most:
                    call.cancel()
                    break
            return told
        except grpc.aio.AioRpcError:
            raise await how_it_ended(call) from None

    async def refusal(self, method: str, who: str, **fields: Any) -> tuple[str, str]:
        """Return the reason of a refused call, and its text, which is a line."""
        with pytest.raises(Ended) as ended:
            await self.ask(method, who, **fields)
        assert "\n" not in ended.value.text
        return ended.value.reason, ended.value.text

    async def typed(self, words: str, who: str) -> Result:
        """Run a command at this server with the token of an owner."""
        environment = {"CUTPURSE_SERVER": self.arena.address, "CUTPURSE_TOKEN": self.tokens[who]}
        return await run_beside(*words.split(), **environment)

    async def told(self, method: str, request: Message, who: str = "") -> tuple[str, str, bytes]:
        """Return status code and reason of a call, and all bytes that it returned, of the answer or of the error."""
        try:
            answer = await self.send(method, request, who, most=1)
        except Ended as ended:
            return ended.code, ended.reason, ended.text.encode()
        answers = answer if isinstance(answer, list) else [answer]
        return "OK", "", b"".join(one.SerializeToString() for one in answers)


@asynccontextmanager
async def league_world(folder: Path, parts: Sequence[PartWithSettings] = WITH_EVENTS) -> AsyncIterator[LeagueWorld]:
    """Run the league; at the end, check that there was no incident and no token's secret is in the log."""
    tokens = {}
    with Store(folder / "test.db") as store:
        for owner, scopes in OWNERS.items():
            ((token, _),) = store.write(create_tokens, [NewToken(owner, scopes=scopes)], datetime.now(UTC))
            tokens[owner] = token.reveal()
        ((gone, entry),) = store.write(create_tokens, [NewToken("ann")], datetime.now(UTC))
        store.write(revoke_token, entry.id, datetime.now(UTC))
        tokens |= {"revoked": gone.reveal(), "unknown": new_token().reveal(), "no token": "cutp_nonsense"}
        ladders = _ladders(store)
        _play(store)
    async with (
        running_arena(folder, ladders, parts=parts) as arena,
        grpc.aio.insecure_channel(arena.address) as channel,
    ):
        yield LeagueWorld(arena, channel, tokens)
    assert not any(token[13:] in arena.log for token in tokens.values() if len(token) > 13)
    lines = [json.loads(line) for line in arena.log.splitlines()]
    assert [line for line in lines if line["level"] == "error"] == []


@asynccontextmanager
async def at_secret_table(world: LeagueWorld, name: str = "hush_here", version: str = "1") -> AsyncIterator[None]:
    """Let a bot of ann and one of cid play a match on the private ladder."""
    games = [arena_pb2.GameWanted(game="greed", ladders=["hidden"])]
    address = world.arena.address
    async with RawBot(address, world.tokens["ann"]) as ann, RawBot(address, world.tokens["cid"]) as cid:
        await asyncio.gather(*(bot.hello(name, version=version, games=games) for bot in (ann, cid)))
        await asyncio.gather(ann.read(), cid.read())
        yield


def requests_with(method: str, value: str) -> Iterator[Message]:
    """Generate requests of a method with `value` in each text field in turn, and normal values in the others."""
    kind = getattr(METHODS[method][1], f"{method}Request")
    for path in _paths(kind.DESCRIPTOR):
        request = kind()
        for field in kind.DESCRIPTOR.fields:
            if field.message_type is None and _is_text(field) and not _is_list(field):
                usual = {"ladder": "duel", "match": "match0000", "owner": "", "game": ""}
                setattr(request, field.name, usual.get(field.name, ""))
        _put(request, path, value)
        yield request


def _paths(descriptor: Descriptor, seen: tuple[str, ...] = ()) -> Iterator[tuple[FieldDescriptor, ...]]:
    """List the paths of all text fields of a message, also in nested messages."""
    for field in descriptor.fields:
        if _is_text(field):
            yield (field,)
        elif field.message_type is not None and field.message_type.full_name not in seen:
            for rest in _paths(field.message_type, (*seen, descriptor.full_name)):
                yield (field, *rest)


def _put(message: Any, path: Sequence[FieldDescriptor], value: str) -> None:
    field, *rest = path
    if rest:
        inner = getattr(message, field.name)
        _put(inner.add() if _is_list(field) else inner, rest, value)
    elif _is_list(field):
        getattr(message, field.name).append(value)
    else:
        setattr(message, field.name, value)


def _is_text(field: FieldDescriptor) -> bool:
    return field.type == FieldDescriptor.TYPE_STRING


def _is_list(field: FieldDescriptor) -> bool:
    return bool(field.is_repeated)


def _ladders(store: Store) -> list[Ladder]:
    usual = Ladder("usual", "greed", 2)
    made = [
        NewLadder(name, "greed", 2, usual.rating, clock=asdict(usual.control), terms=terms)
        for name, terms in (
            ("duel", LadderTerms()),
            ("hidden", LadderTerms(owners=("ann", "cid"), is_private=True)),
        )
    ]
    return [ladder_of(entry) for entry in store.write(create_ladders, made, datetime.now(UTC))]


def _play(store: Store) -> None:
    """Store three public matches and four private ones; one of ann's bots is paused on the private ladder."""
    ann, bob = add_version(store, "ann", "sneak", "1.0"), add_version(store, "bob", "thug", "2")
    hush, cid = add_version(store, "ann", "hush", "1"), add_version(store, "cid", "hush_too", "1")
    course = DecisionLog((12, 34), (DecisionFault(2, 1, "crashed", "quietly"),))
    for number in range(3):
        made = result(f"match000{number}", [ann, bob], ladder="duel")
        seat = replace(made.seats[0], end_cause="crashed", faults=1, course=course, notes=(SeatNote(1, "whispered"),))
        store.submit(replace(made, seats=(seat, made.seats[1]))).result()
    for number in range(4):
        made = result(f"feedc0de000{number}", [hush, cid], ladder="hidden", reason="hush met hush_too")
        seat = replace(made.seats[0], faults=1, course=course, notes=(SeatNote(1, "whispered"),))
        store.submit(replace(made, seats=(seat, made.seats[1]))).result()
