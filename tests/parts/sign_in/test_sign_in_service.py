"""The calls by which people sign in, and by which a host links an account: who may call them, and with what."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.store import Store
from cutpurse.server.act_log import act_log_beside, acts_in
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.parts.sign_in import openid_provider, sign_in_service
from cutpurse.server.parts.sign_in.accounts import ProviderAccount, link_account
from cutpurse.server.parts.sign_in.kind import SIGN_IN
from cutpurse.server.parts.sign_in.sign_in_settings import SignInSettings
from cutpurse.v1 import sign_in_pb2, sign_in_pb2_grpc
from tests.server.arenas import RunningArena, running_arena
from tests.typed import run_beside as cutpurse

ISSUER = "https://login.school.example"
SETTINGS = SignInSettings("School", ISSUER, "league", "https://league.example", token_days=30)
BEGIN = {"state": "s" * 43, "nonce": "n" * 43, "code_challenge": "c" * 43}
FINISH = {"code": "code", "code_verifier": "v" * 43, "nonce": "n" * 43}


class Believed:
    """A provider that believes every code."""

    def __init__(self, settings: SignInSettings, utc: object) -> None:
        self.settings = settings

    def address(self, state: str, nonce: str, challenge: str) -> str:
        return f"{self.settings.issuer}/authorize?state={state}"

    def identify(self, code: str, verifier: str, nonce: str) -> Mapping[str, Any]:
        return {"sub": f"subject of {code}", "preferred_username": code}

    def close(self) -> None:
        return None


@pytest.fixture
async def arena(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunningArena]:
    monkeypatch.setattr(openid_provider, "OpenIdProvider", Believed)
    with Store(tmp_path / "test.db") as store:
        made = store.write(create_tokens, [NewToken("root", scopes=("admin",)), NewToken("ann")], datetime.now(UTC))
    monkeypatch.setenv("CUTPURSE_TOKEN", made[0][0].reveal())
    monkeypatch.setenv("ANN", made[1][0].reveal())
    async with running_arena(tmp_path, parts=[PartWithSettings(SIGN_IN, SETTINGS)]) as running:
        yield running


async def ask(arena: RunningArena, method: str, **fields: str) -> Any:
    """Return the answer of a call without a token, or the code and text that it ends with."""
    async with grpc.aio.insecure_channel(arena.address) as channel:
        stub: Any = sign_in_pb2_grpc.SignInServiceStub(channel)
        try:
            return await getattr(stub, method)(getattr(sign_in_pb2, f"{method}Request")(**fields), timeout=240)
        except grpc.aio.AioRpcError as ended:
            return ended.code().name, ended.details()


async def test_strangers_learn_the_name_of_the_provider_and_nothing_else(arena: RunningArena) -> None:
    answer = await ask(arena, "GetSignIn")
    assert answer == sign_in_pb2.GetSignInResponse(name="School", page="https://league.example", token_days=30)
    begun = await ask(arena, "BeginSignIn", **BEGIN)
    assert begun.address == f"{ISSUER}/authorize?state={'s' * 43}"
    code, text = await ask(arena, "LinkAccount", owner="ann", subject="x")
    assert (code, "send one with the call" in text) == ("UNAUTHENTICATED", True)


@pytest.mark.parametrize(
    ("method", "field", "value"),
    [
        ("BeginSignIn", "state", ""),
        ("BeginSignIn", "state", "s" * 15),
        ("BeginSignIn", "state", "s" * 129),
        ("BeginSignIn", "nonce", "n" * 42 + "&"),
        ("BeginSignIn", "nonce", "n" * 42 + "\n"),
        ("BeginSignIn", "code_challenge", "c" * 42),
        ("FinishSignIn", "code", ""),
        ("FinishSignIn", "code", "c" * 4_097),
        ("FinishSignIn", "code", "a\r\nb"),
        ("FinishSignIn", "code_verifier", "v" * 42),
        ("FinishSignIn", "nonce", ""),
    ],
)
async def test_a_value_of_another_form_reaches_no_provider(
    arena: RunningArena, method: str, field: str, value: str
) -> None:
    given = BEGIN if method == "BeginSignIn" else FINISH
    answer = await ask(arena, method, **{**given, field: value})
    assert answer == ("INVALID_ARGUMENT", f"{field} is not of the form that sign_in.proto names")


async def test_a_session_counts_at_once_and_is_of_no_more_than_its_scopes(arena: RunningArena) -> None:
    made = (await ask(arena, "FinishSignIn", **{**FINISH, "code": "bob"})).made
    assert (made.kept.owner, [*made.kept.scopes]) == ("bob", ["play", "read", "session"])
    assert made.kept.label == "signed in with School"
    assert made.kept.expires_ms - made.kept.created_ms == 12 * 3_600_000
    listed = await cutpurse("token", "list", "--server", arena.address, "--json", CUTPURSE_TOKEN=made.token)
    assert [row["id"] for row in json.loads(listed.stdout)] == [made.kept.id]
    for scope in ("admin", "session"):
        words = ("token", "create", "bob", "--scope", scope, "--expires", "1h", "--server", arena.address)
        refused = await cutpurse(*words, CUTPURSE_TOKEN=made.token)
        assert refused.exit_code != 0


async def test_a_host_links_an_account_by_the_command_line(arena: RunningArena) -> None:
    said = await ask(arena, "FinishSignIn", **{**FINISH, "code": "ann"})
    command = "cutpurse token link ann 'subject of ann'"
    assert said == (
        "PERMISSION_DENIED",
        f"there is an owner ann already; if that is you, the host can link you with: {command}",
    )
    words = ("token", "link", "ann", "subject of ann", "--server", arena.address)
    linked = await cutpurse(*words)
    assert (linked.exit_code, linked.stderr) == (0, "subject of ann is linked with ann\n")
    assert (await ask(arena, "FinishSignIn", **{**FINISH, "code": "ann"})).made.kept.owner == "ann"
    moved = await cutpurse("token", "link", "bob", *words[3:], "--json")
    assert json.loads(moved.stdout) == {"owner": "bob", "subject": "subject of ann", "previous_owner": "ann"}
    sessions = [entry for entry in arena.opened.store.run(queries.tokens, "ann") if "session" in entry.scopes]
    assert [entry.revoked is not None for entry in sessions] == [True]
    store = arena.opened.store
    acts = [(act.by, act.what, act.about) for act in acts_in(act_log_beside(store.database.beside), 10)]
    assert acts[0] == ("root", "account linked", f"subject of ann of {ISSUER} with bob, before with ann")
    assert acts[1][:2] == ("ann", "signed in")


async def test_only_a_host_links_an_account(arena: RunningArena, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("token", "link", "ann", "x", "--server", arena.address)
    refused = await cutpurse(*words, CUTPURSE_TOKEN=os.environ["ANN"])
    assert (refused.exit_code != 0, "this token is good for play, read, not for admin" in refused.stderr) == (
        True,
        True,
    )


async def test_too_many_at_once_are_asked_to_come_again(arena: RunningArena, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_service, "BURST", 2)
    monkeypatch.setattr(sign_in_service, "PER_SECOND", 0.001)
    ended = [await ask(arena, "BeginSignIn", **BEGIN) for _ in range(4)]
    assert ended[-1] == ("RESOURCE_EXHAUSTED", "too many people are signing in; try again in a minute")
    assert isinstance(ended[0], sign_in_pb2.BeginSignInResponse)


async def test_a_server_without_a_provider_links_no_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path / "test.db") as store:
        ((token, _),) = store.write(create_tokens, [NewToken("root", scopes=("admin",))], datetime.now(UTC))
    async with running_arena(tmp_path) as arena:
        words = ("token", "link", "ann", "x", "--server", arena.address)
        refused = await cutpurse(*words, CUTPURSE_TOKEN=token.reveal())
    assert refused.exit_code == 1
    assert "lets nobody sign in at a provider: see `serve --sign-in`" in refused.stderr


async def test_an_account_is_linked_in_a_database_that_no_server_has_open(tmp_path: Path) -> None:
    file = tmp_path / "test.db"
    Store(file).close()
    refused = await cutpurse("token", "link", "ann", "x", "--db", file)
    assert (refused.exit_code, "a database knows no provider; name it with --issuer URL" in refused.stderr) == (2, True)
    linked = await cutpurse("token", "link", "ann", "x", "--db", file, "--issuer", ISSUER)
    assert (linked.exit_code, linked.stderr) == (0, "x is linked with ann\n")
    with Store(file) as store:
        assert store.write(link_account, ProviderAccount(ISSUER, "x"), "ann", datetime.now(UTC)) == "ann"
