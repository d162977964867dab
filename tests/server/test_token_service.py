"""Tokens of a server that runs, made and revoked from elsewhere by whoever has an admin's token; and by nobody else."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.owner_registry import revoke_token
from cutpurse.leaderboard.tokens import new_token, read_token
from cutpurse.sdk.run import connect
from cutpurse.server.ladder_config import Ladder
from cutpurse.v1 import token_pb2, token_pb2_grpc
from cutpurse.wire.errors import NotAuthorised
from tests.server.arenas import RunningArena, running_arena
from tests.server.raw_bot import Ended, RawBot
from tests.server.tokens import tokens_in
from tests.typed import run_beside as cutpurse

LADDERS = [Ladder("greed", "greed", 2)]


@pytest.fixture
def admin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The token of somebody who runs the server."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    token = tokens_in(tmp_path / "test.db", root=("admin",))["root"]
    monkeypatch.setenv("CUTPURSE_TOKEN", token)
    return token


@pytest.fixture
async def arena(admin: str, tmp_path: Path) -> AsyncIterator[RunningArena]:
    async with running_arena(tmp_path, LADDERS) as running:
        yield running
    assert admin[13:] not in running.log


async def enters(arena: RunningArena, token: str) -> str:
    """Whose bot it is that comes in with this token."""
    async with RawBot(arena.address, token) as bot:
        return (await bot.hello("sneak")).owner


async def test_a_token_that_was_made_from_elsewhere_lets_its_owner_in_at_once(arena: RunningArena) -> None:
    run = await cutpurse("token", "create", "ann", "--label", "laptop", "--expires", "30d", "--server", arena.address)
    assert run.exit_code == 0, run.stderr
    token = run.stdout.strip()
    assert await enters(arena, token) == "ann"
    listed = json.loads((await cutpurse("token", "list", "--server", arena.address, "--json")).stdout)
    assert [(row["owner"], row["scopes"], row["label"], row["state"]) for row in listed] == [
        ("ann", ["play", "read"], "laptop", "good"),
        ("root", ["admin"], "", "good"),
    ]
    expires = datetime.fromisoformat(listed[0]["expires"]) - datetime.now(UTC)
    assert timedelta(days=29.9) < expires < timedelta(days=30.1)
    assert token[13:] not in arena.log + json.dumps(listed)
    (line,) = [line for line in map(json.loads, arena.log.splitlines()) if line["event"] == "token made"]
    assert (line["token"], line["owner"], line["by"]) == (token[5:13], "ann", "root")


async def test_the_server_of_the_environment_is_asked(
    arena: RunningArena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUTPURSE_SERVER", arena.address)
    run = await cutpurse("token", "create", "ann")
    assert run.exit_code == 0, run.stderr
    assert f"of ann for {arena.address}, good for play, read; it is not shown again:" in run.stderr
    assert await enters(arena, run.stdout.strip()) == "ann"
    assert "ann" in (await cutpurse("token", "list")).stdout
    assert (await cutpurse("token", "revoke", run.stdout[5:13])).exit_code == 0
    assert not (tmp_path / "cutpurse.db").exists()


async def test_a_token_that_is_revoked_from_elsewhere_ends_its_streams(arena: RunningArena) -> None:
    token = (await cutpurse("token", "create", "ann", "--server", arena.address)).stdout.strip()
    async with RawBot(arena.address, token) as bot:
        await bot.hello("sneak")
        run = await cutpurse("token", "revoke", token[5:13], "--server", arena.address)
        assert run.exit_code == 0, run.stderr
        with pytest.raises(Ended) as ended:
            await bot.read()
        assert ended.value.reason == "TOKEN_INVALID"
    async with RawBot(arena.address, token) as bot:
        with pytest.raises(Ended):
            await bot.read()


async def test_a_bot_whose_token_is_revoked_ends_and_says_so(
    arena: RunningArena, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    token = (await cutpurse("token", "create", "ann", "--server", arena.address)).stdout.strip()
    monkeypatch.setenv("CUTPURSE_TOKEN", token)
    playing = asyncio.create_task(connect("random", "greed", server=arena.address))
    while not len(arena.opened.arena.sessions):
        await asyncio.sleep(0)
    await asyncio.to_thread(arena.opened.store.write, revoke_token, token[5:13], datetime.now(UTC))
    with pytest.raises(NotAuthorised, match="this token is not valid here"):
        await playing
    assert token[13:] not in capsys.readouterr().err + arena.log


async def test_a_class_from_elsewhere(arena: RunningArena, tmp_path: Path) -> None:
    students = "".join(f"student{n},seat {n}\n" for n in range(60))
    (tmp_path / "class.csv").write_text(f"owner,label\n{students}", encoding="utf-8")
    out = tmp_path / "tokens.csv"
    run = await cutpurse("token", "create", "--from", tmp_path / "class.csv", "--out", out, "--server", arena.address)
    assert run.exit_code == 0, run.stderr
    with out.open(encoding="utf-8", newline="") as file:
        made = list(csv.DictReader(file))
    assert "".join(f"{line['owner']},{line['label']}\n" for line in made) == students
    assert all(read_token(line["token"]) for line in made)
    assert await enters(arena, made[7]["token"]) == "student7"
    assert len(arena.opened.store.run(queries.tokens)) == 61


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["revoke", "nonesuch"], 4, "there is no token 'nonesuch'"),
        (["list", "bob"], 4, "there is no owner 'bob'"),
        (["create", "ann", "--db", "x.db"], 2, "--db and --server"),
        (["create", "Ann"], 2, "it can be 1 to 32 of a-z"),
    ],
)
async def test_what_is_wrong_is_told(arena: RunningArena, arguments: list[str], code: int, said: str) -> None:
    run = await cutpurse("token", *arguments, "--server", arena.address)
    assert (run.exit_code, said in run.stderr) == (code, True), run.stderr


async def test_a_token_that_is_not_valid_changes_nothing(arena: RunningArena, monkeypatch: pytest.MonkeyPatch) -> None:
    before = arena.opened.store.run(queries.tokens)
    monkeypatch.setenv("CUTPURSE_TOKEN", new_token().reveal())
    for arguments in (["create", "bob"], ["list"], ["revoke", before[0].id]):
        run = await cutpurse("token", *arguments, "--server", arena.address)
        assert (run.exit_code, "is not valid here" in run.stderr, run.stdout) == (6, True, ""), run.stderr
    monkeypatch.delenv("CUTPURSE_TOKEN")
    run = await cutpurse("token", "list", "--server", arena.address)
    assert (run.exit_code, "takes a token, for other owners one with the scope admin" in run.stderr) == (6, True)
    assert arena.opened.store.run(queries.tokens) == before


async def test_an_owner_manages_own_tokens(arena: RunningArena, monkeypatch: pytest.MonkeyPatch) -> None:
    ends = ("--expires", "30d", "--server", arena.address)
    first = (await cutpurse("token", "create", "ann", *ends)).stdout.strip()
    monkeypatch.setenv("CUTPURSE_TOKEN", first)
    second = (await cutpurse("token", "create", "ann", "--expires", "20d", "--server", arena.address)).stdout.strip()
    assert await enters(arena, second) == "ann"
    listed = json.loads((await cutpurse("token", "list", "--server", arena.address, "--json")).stdout)
    assert [row["id"] for row in listed] == [first[5:13], second[5:13]]
    assert (await cutpurse("token", "revoke", second[5:13], "--server", arena.address)).exit_code == 0
    assert (await cutpurse("token", "revoke", first[5:13], "--server", arena.address)).exit_code == 0
    assert (await cutpurse("token", "list", "--server", arena.address)).exit_code == 6


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["create", "bob", "--expires", "1d"], 6, "makes tokens of ann only"),
        (["create", "ann", "--scope", "admin", "--expires", "1d"], 6, "this token permits less: it lacks admin"),
        (["create", "ann", "--scope", "play", "--expires", "1d"], 6, "this token permits less: it lacks play"),
        (
            ["create", "ann", "--scope", "read", "--expires", "1d", "--page", "https://page.test"],
            6,
            "this token permits less: it lacks link",
        ),
        (["create", "ann", "--scope", "read"], 2, "what it makes may not last longer"),
        (["create", "ann", "--scope", "read", "--expires", "31d"], 2, "what it makes may not last longer"),
        (["list", "root"], 6, "lists the tokens of ann only"),
        (["revoke", "{root}"], 4, "ann has no such token"),
        (["revoke", "{player}"], 6, "this token permits less: it lacks play"),
    ],
)
async def test_a_token_gives_no_more_than_it_has(
    arena: RunningArena, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, said: str
) -> None:
    (root,) = arena.opened.store.run(queries.tokens)
    player = (await cutpurse("token", "create", "ann", "--server", arena.address)).stdout.strip()
    reader = await cutpurse("token", "create", "ann", "--scope", "read", "--expires", "30d", "--server", arena.address)
    before = arena.opened.store.run(queries.tokens)
    monkeypatch.setenv("CUTPURSE_TOKEN", reader.stdout.strip())
    words = [word.format(root=root.id, player=player[5:13]) for word in arguments]
    run = await cutpurse("token", *words, "--server", arena.address)
    assert (run.exit_code, said in run.stderr, run.stdout) == (code, True, ""), run.stderr
    after = [(entry.id, entry.revoked) for entry in arena.opened.store.run(queries.tokens)]
    assert after == [(entry.id, entry.revoked) for entry in before]


async def link_of(arena: RunningArena, *arguments: str) -> str:
    """Create a link of ann, and return its code."""
    words = ("token", "create", "ann", "--label", "Ann", "--page", "https://page.test/", *arguments)
    run = await cutpurse(*words, "--server", arena.address)
    assert run.exit_code == 0, run.stderr
    assert "link " in run.stderr
    assert "it works once" in run.stderr
    before, _, code = run.stdout.strip().partition("#")
    assert before == "https://page.test/sign-in"
    return code


async def redeem(arena: RunningArena, code: str) -> token_pb2.TokenMade:
    async with grpc.aio.insecure_channel(arena.address) as channel:
        stub: Any = token_pb2_grpc.TokenServiceStub(channel)
        metadata = (("authorization", f"Bearer {code}"),)
        made: token_pb2.TokenMade = (await stub.RedeemLink(token_pb2.RedeemLinkRequest(), metadata=metadata)).made
        return made


async def test_a_link_is_exchanged_once_for_the_token_that_it_stands_for(arena: RunningArena) -> None:
    code = await link_of(arena, "--expires", "30d")
    made = await redeem(arena, code)
    assert (made.kept.owner, [*made.kept.scopes], made.kept.label) == ("ann", ["play", "read"], "Ann")
    assert made.token != code
    assert await enters(arena, made.token) == "ann"
    link, token = arena.opened.store.run(queries.tokens, "ann")
    assert (link.id, link.scopes, link.expires) == (code[5:13], ("link", "play", "read"), token.expires)
    assert link.revoked is not None
    assert token.revoked is None
    with pytest.raises(grpc.aio.AioRpcError) as again:
        await redeem(arena, code)
    assert again.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert len(arena.opened.store.run(queries.tokens, "ann")) == 2
    assert made.token[13:] not in arena.log
    assert code[13:] not in arena.log


async def test_two_at_once_do_not_both_get_the_token_of_a_link(arena: RunningArena) -> None:
    code = await link_of(arena)
    answers = await asyncio.gather(*[redeem(arena, code) for _ in range(5)], return_exceptions=True)
    assert sum(isinstance(answer, token_pb2.TokenMade) for answer in answers) == 1
    assert len(arena.opened.store.run(queries.tokens, "ann")) == 2


async def test_a_link_permits_nothing_else(arena: RunningArena, monkeypatch: pytest.MonkeyPatch) -> None:
    code = await link_of(arena, "--scope", "admin", "--scope", "play")
    before = arena.opened.store.run(queries.tokens)
    async with RawBot(arena.address, code) as bot:
        with pytest.raises(Ended) as ended:
            await bot.hello("sneak")
    assert ended.value.reason == "TOKEN_SCOPE"
    monkeypatch.setenv("CUTPURSE_TOKEN", code)
    for words in (
        ["token", "list"],
        ["token", "create", "ann"],
        ["ladder", "change", "greed", "--freeze", "now"],
        ["bot", "logs", "sneak"],
    ):
        run = await cutpurse(*words, "--server", arena.address)
        assert run.exit_code == 6, (words, run.stderr)
    assert arena.opened.store.run(queries.tokens) == before


async def test_a_token_is_no_link(arena: RunningArena, admin: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await redeem(arena, admin)
    assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
    assert "not for link" in (refused.value.details() or "")
    run = await cutpurse("token", "create", "ann", "--scope", "link", "--server", arena.address)
    assert (run.exit_code, "a token needs at least one scope" in run.stderr) == (2, True)


@pytest.mark.parametrize("page", ["league.example", "https://", "https://a/b", "https://a?b", "javascript:alert(1)//a"])
async def test_an_address_that_is_no_page(arena: RunningArena, page: str) -> None:
    run = await cutpurse("token", "create", "ann", "--page", page, "--server", arena.address)
    assert (run.exit_code, "it is the address of the page" in run.stderr) == (2, True), run.stderr


async def test_links_of_a_class(arena: RunningArena, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_text("owner,label\nann,Ann\nbob,Bob\n", encoding="utf-8")
    out = tmp_path / "links.csv"
    words = ("--from", tmp_path / "class.csv", "--out", out, "--page", "http://127.0.0.1:7780")
    run = await cutpurse("token", "create", *words, "--server", arena.address)
    assert (run.exit_code, f"2 links for {arena.address} are in {out}" in run.stderr) == (0, True), run.stderr
    with out.open(encoding="utf-8", newline="") as file:
        made = list(csv.DictReader(file))
    assert [line["owner"] for line in made] == ["ann", "bob"]
    assert all(line["link"].startswith("http://127.0.0.1:7780/sign-in#cutp_") for line in made)
    assert (await redeem(arena, made[1]["link"].partition("#")[2])).kept.owner == "bob"


async def test_an_admin_that_may_not_play_does_not(arena: RunningArena, admin: str) -> None:
    async with RawBot(arena.address, admin) as bot:
        with pytest.raises(Ended) as ended:
            await bot.read()
    assert (ended.value.code, ended.value.reason) == (grpc.StatusCode.PERMISSION_DENIED, "TOKEN_SCOPE")


async def test_what_no_command_would_send(arena: RunningArena, admin: str) -> None:
    metadata = (("authorization", f"Bearer {admin}"),)

    def create(*wanted: dict[str, Any]) -> bytes:
        return token_pb2.CreateTokensRequest(
            wanted=[token_pb2.TokenWanted(**one) for one in wanted]
        ).SerializeToString()

    too_long = token_pb2.RevokeTokenRequest(id="x" * 10_000).SerializeToString()
    bad = [
        ("CreateTokens", b"\xff\xff", grpc.StatusCode.INVALID_ARGUMENT),
        ("CreateTokens", create({"owner": "a\x1b[31m"}), grpc.StatusCode.INVALID_ARGUMENT),
        ("CreateTokens", create({"owner": "ann", "expires_ms": 2**64 - 1}), grpc.StatusCode.INVALID_ARGUMENT),
        ("CreateTokens", create({"owner": "ann"}, {"owner": "bob", "expires_ms": 1}), grpc.StatusCode.INVALID_ARGUMENT),
        ("RevokeToken", too_long, grpc.StatusCode.NOT_FOUND),
    ]
    async with grpc.aio.insecure_channel(arena.address) as channel:
        for method, request, code in bad:
            call: Any = channel.unary_unary(f"/cutpurse.v1.TokenService/{method}")
            with pytest.raises(grpc.aio.AioRpcError) as told:
                await call(request, metadata=metadata)
            assert told.value.code() is code, told.value.details()
            assert (told.value.details() or "").isprintable()
            assert len(told.value.details() or "") <= 300
        await token_pb2_grpc.TokenServiceStub(channel).ListTokens(token_pb2.ListTokensRequest(), metadata=metadata)
    assert [entry.owner for entry in arena.opened.store.run(queries.tokens)] == ["root"]


async def test_a_server_without_owners_has_no_such_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTPURSE_TOKEN", new_token().reveal())
    async with running_arena(tmp_path, LADDERS) as arena:
        run = await cutpurse("token", "create", "ann", "--scope", "admin", "--server", arena.address)
        assert (run.exit_code, "has no owners: it was started on a database without a token" in run.stderr) == (1, True)
        assert not arena.opened.store.run(queries.has_tokens)
    run = await cutpurse("token", "list", "--server", arena.address)
    assert run.exit_code == 5
    assert "Connection refused" in run.stderr
