"""`cutpurse notify`, with a server that runs: owners manage their receivers, hosts all of them, and nobody else."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import threading
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest
from typer.testing import Result

from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.store import Store
from cutpurse.server.hosting.metrics import Metrics
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.notices.address_rule import read_networks
from cutpurse.server.parts.notices.channels import WEBHOOK, DeliveryTerms
from cutpurse.server.parts.notices.kind import NOTICES
from cutpurse.server.parts.notices.part import Notices
from cutpurse.server.parts.submissions import submissions
from cutpurse.server.parts.submissions.submissions import REFUSED, NewSubmission
from cutpurse.v1 import notify_pb2, notify_pb2_grpc
from tests.parts.notices.webhook_receiver import OK, Received, WebhookReceiver, webhook_receiver
from tests.server.arenas import RunningArena, running_arena
from tests.typed import run, run_beside

NOW = datetime(2026, 11, 26, tzinfo=UTC)
LADDERS = [Ladder("greed", "greed", 2)]
TERMS = DeliveryTerms((WEBHOOK, "mailto"), read_networks(["127.0.0.0/8"]), "https://league.example")


@pytest.fixture
def tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Tokens by owner; root is an admin, and ann's is in the environment."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    wanted = [NewToken("root", scopes=("admin",)), NewToken("ann"), NewToken("bob"), NewToken("lab", scopes=("place",))]
    with Store(tmp_path / "test.db") as store:
        made = {entry.owner: token.reveal() for token, entry in store.write(create_tokens, wanted, NOW)}
    monkeypatch.setenv("CUTPURSE_TOKEN", made["ann"])
    return made


@pytest.fixture
async def arena(tokens: dict[str, str], tmp_path: Path) -> AsyncIterator[RunningArena]:
    async with running_arena(tmp_path, LADDERS, parts=[PartWithSettings(NOTICES, TERMS)]) as running:
        yield running


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with webhook_receiver() as running:
        yield running


async def notify(arena: RunningArena, *arguments: object, stdin: str | None = None) -> Result:
    return await run_beside("notify", *arguments, "--server", arena.address, typed=stdin)


async def test_a_receiver_gets_what_happens_signed_with_its_secret(
    arena: RunningArena, receiver: WebhookReceiver, tokens: dict[str, str]
) -> None:
    arrived = threading.Event()

    def answer(request: Received) -> bytes:
        arrived.set()
        return OK

    receiver.answer = answer
    run = await notify(arena, "add", receiver.url)
    assert run.exit_code == 0, run.stderr
    secret = run.stdout.strip()
    assert "receiver 1, http://127.0.0.1:" in run.stderr
    assert "key=1" not in run.stderr
    store = arena.opened.store
    made = await asyncio.to_thread(
        store.write, submissions.hand_in, NewSubmission("ann", "sneak", "1", b"d" * 32, 9), NOW
    )
    await asyncio.to_thread(store.write, submissions.set_state, made.id, REFUSED, NOW, "it has no bot.toml")
    assert await asyncio.to_thread(arrived.wait, 60)
    request = receiver.requests[0]
    body = json.loads(request.body)
    assert body["text"] == "ann/sneak:1 was rejected: it has no bot.toml."
    assert body["link"] == "https://league.example/me/submissions/sneak/1"
    signed = f"{body['id']}.{request.headers['webhook-timestamp']}.".encode() + request.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert request.headers["webhook-signature"] == f"v1,{expected}"
    for hidden in (secret, secret.removeprefix("whsec_"), "key=1"):
        assert hidden not in arena.log


async def test_a_receiver_is_listed_tried_and_removed(arena: RunningArena, receiver: WebhookReceiver) -> None:
    added = await notify(arena, "add", receiver.url, "--event", "bot_paused", "--ladder", "greed", "--json")
    secret = json.loads(added.stdout)["secret"]
    listed = await notify(arena, "list", "--json")
    (row,) = json.loads(listed.stdout)
    assert (row["id"], row["owner"], row["events"], row["ladders"]) == (1, "ann", ["bot_paused"], ["greed"])
    assert row["address"] == receiver.url.replace("hook?key=1", "...")
    assert secret not in listed.stdout
    table = (await notify(arena, "list")).stdout
    assert "good" in table
    tried = await notify(arena, "list", "--test", 1)
    assert (tried.exit_code, "receiver 1 got the test" in tried.stderr) == (0, True), tried.stderr
    assert json.loads(receiver.requests[0].body)["event"] == "test"
    receiver.answer = lambda request: b"HTTP/1.1 500 No\r\n\r\n"
    tried = await notify(arena, "list", "--test", 1)
    assert (tried.exit_code, "receiver 1: it answered 500" in tried.stderr) == (1, True)
    removed = await notify(arena, "remove", 1)
    assert (removed.exit_code, "receiver 1 is removed" in removed.stderr) == (0, True)
    again = await notify(arena, "remove", 1)
    assert (again.exit_code, "there is no receiver 1" in again.stderr) == (4, True)


async def test_owners_do_not_see_each_others_and_a_host_sees_all(
    arena: RunningArena, receiver: WebhookReceiver, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await notify(arena, "add", receiver.url)).exit_code == 0
    refused = await notify(arena, "add", f"{receiver.url}2", "--every-owner")
    assert (refused.exit_code, "a token with the scope admin is needed" in refused.stderr) == (6, True)
    monkeypatch.setenv("CUTPURSE_TOKEN", tokens["bob"])
    assert json.loads((await notify(arena, "list", "--json")).stdout) == []
    for act in (("list", "--test"), ("remove",)):
        run = await notify(arena, *act, 1)
        assert (run.exit_code, "there is no receiver 1" in run.stderr) == (4, True)
    monkeypatch.setenv("CUTPURSE_TOKEN", tokens["root"])
    assert (await notify(arena, "add", receiver.url, "--every-owner")).exit_code == 0
    rows = json.loads((await notify(arena, "list", "--json")).stdout)
    assert [(row["owner"], row["every_owner"]) for row in rows] == [("ann", False), ("root", True)]
    assert (await notify(arena, "remove", 1)).exit_code == 0
    acts = (await run_beside("token", "list", "--acts", "--server", arena.address, "--json")).stdout
    assert [(act["by"], act["what"]) for act in json.loads(acts)] == [
        ("root", "receiver removed"),
        ("root", "receiver added"),
        ("ann", "receiver added"),
    ]
    monkeypatch.setenv("CUTPURSE_TOKEN", tokens["lab"])
    assert (await notify(arena, "list")).exit_code == 6
    monkeypatch.setenv("CUTPURSE_TOKEN", "")
    assert (await notify(arena, "list")).exit_code == 6


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "said"),
    [
        (["add", "http://10.0.0.1/"], None, 2, "in a network that this server does not post to"),
        (["add", "http://[::ffff:10.0.0.1]/"], None, 2, "in a network that this server does not post to"),
        (["add", "mailto://ann:hidden@example.org"], None, 2, "- reads any other from stdin"),
        (["add", "-"], "json://example.org", 2, "this server sends to: webhook, mailto; ask its host"),
        (["add", "-"], "mailto://", 2, "apprise cannot read this address"),
        (["add", "-"], "", 2, "this server sends to: webhook, mailto"),
        (["add", "http://127.0.0.1/", "--event", "rain"], None, 2, "there is no event 'rain'; there are: submission_"),
        (["add", "http://127.0.0.1/" + "x" * 3_000], None, 2, "the maximum is 2,000"),
        (["list", "--test", "7"], None, 4, "there is no receiver 7"),
        (["remove", str(2**63)], None, 4, f"there is no receiver {2**63}"),
    ],
)
async def test_what_is_wrong_is_said(
    arena: RunningArena, arguments: list[str], stdin: str | None, code: int, said: str
) -> None:
    run = await notify(arena, *arguments, stdin=stdin)
    assert (run.exit_code, said in run.stderr) == (code, True), run.stderr
    assert "hidden" not in arena.log


async def test_mail_is_sent_by_apprise_with_its_sentence(arena: RunningArena, monkeypatch: pytest.MonkeyPatch) -> None:
    from apprise.plugins.email import NotifyEmail

    sent: list[tuple[str, str, tuple[float, float]]] = []

    def send(self: Any, body: str, title: str = "", **more: Any) -> bool:
        sent.append((title, body, self.request_timeout))
        return len(sent) == 1

    monkeypatch.setattr(NotifyEmail, "notify", send)
    added = await notify(arena, "add", "-", stdin="mailto://ann:hidden@example.org?rto=9999&cto=9999\n")
    assert (added.exit_code, added.stdout) == (0, ""), added.stderr
    assert "mailto://..." in added.stderr
    assert (await notify(arena, "list", "--test", 1)).exit_code == 0
    assert sent == [("Cutpurse: test", "This is a test of receiver 1.\nhttps://league.example/me", (5.0, 10.0))]
    refused = await notify(arena, "list", "--test", 1)
    assert (refused.exit_code, "the service did not accept it" in refused.stderr) == (1, True)
    assert "hidden" not in arena.log


async def test_one_call_of_an_owner_waits_for_other_machines_at_a_time(
    arena: RunningArena, receiver: WebhookReceiver, tokens: dict[str, str]
) -> None:
    """A caller that fills the threads of the server with slow receivers would stop everybody's calls."""
    began, may_end = threading.Event(), threading.Event()

    def answer(request: Received) -> bytes:
        began.set()
        may_end.wait(240)
        return OK

    assert (await notify(arena, "add", receiver.url)).exit_code == 0
    receiver.answer = answer
    async with grpc.aio.insecure_channel(arena.address) as channel:
        stub: Any = notify_pb2_grpc.NotifyServiceStub(channel)
        own = (("authorization", f"Bearer {tokens['ann']}"),)
        first = asyncio.ensure_future(stub.TestReceiver(notify_pb2.TestReceiverRequest(id=1), metadata=own))
        assert await asyncio.to_thread(began.wait, 240)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await stub.TestReceiver(notify_pb2.TestReceiverRequest(id=1), metadata=own)
        assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        may_end.set()
        assert (await first).problem == ""


async def test_metrics_say_how_deliveries_go(arena: RunningArena, receiver: WebhookReceiver) -> None:
    assert (await notify(arena, "add", receiver.url)).exit_code == 0
    part = arena.opened.parts["notices"]
    assert isinstance(part, Notices)
    sender = part.sender
    sender.close()  # from here on the test drives it
    sender.look()
    metrics = Metrics(arena.opened)
    metrics.take()
    lines = metrics.text().decode().splitlines()
    assert 'cutpurse_receivers{state="working"} 1.0' in lines
    assert "cutpurse_notices_waiting 0.0" in lines
    assert "cutpurse_notices_delivered_total 0.0" in lines
    assert "cutpurse_notices_failed_total 0.0" in lines


async def test_hosts_see_what_waits(
    arena: RunningArena, receiver: WebhookReceiver, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await notify(arena, "add", receiver.url)).exit_code == 0
    part = arena.opened.parts["notices"]
    assert isinstance(part, Notices)
    part.sender.look()
    monkeypatch.setenv("CUTPURSE_TOKEN", tokens["root"])
    for more in ([], ["--json"]):
        run = await run_beside("status", "--server", arena.address, *more)
        assert "receivers of notices: 1, paused 0; 0 notices wait" in run.stdout


async def test_a_server_that_sends_none_says_so(tokens: dict[str, str], tmp_path: Path) -> None:
    async with running_arena(tmp_path, LADDERS, parts=[PartWithSettings(NOTICES, None)]) as running:
        run = await notify(running, "list")
    assert (run.exit_code, "sends no notices; ask its operator for --notify" in run.stderr) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--notify", "json://x"], "it is webhook, or a kind of apprise such as mailto"),
        (["--notify", "https"], "it is webhook, or a kind of apprise such as mailto"),
        (["--notify", "webhook", "--notify-network", "10.0.0.1/8"], "a network is written as 10.1.0.0/16"),
        (["--notify", "webhook", "--page-url", "league.example"], "it is an address such as https://league.example"),
        (["--page-url", "https://league.example"], "it is for notices; add --notify KIND"),
    ],
)
def test_settings_that_make_no_sense(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = run("serve", "--db", tmp_path / "x.db", *arguments)
    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "x.db").exists()
