"""Webhooks: only where a server may post to, signed, without redirects, and never for longer than the limit."""

from __future__ import annotations

import base64
import hashlib
import hmac
import ipaddress
import json
import re
import socket
import ssl
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trustme

from cutpurse.server.parts.notices import address_rule
from cutpurse.server.parts.notices.address_rule import AddressRule, Network, read_networks
from cutpurse.server.parts.notices.channels import Channels, DeliveryTerms, shown_address
from cutpurse.server.parts.notices.errors import AddressRefused, DeliveryFailed, UnsuitableAddress
from cutpurse.server.parts.notices.own_networks import own_networks
from cutpurse.server.parts.notices.receivers import WEBHOOK, ReceiverEntry
from cutpurse.server.parts.notices.refused_networks import REFUSED_NETWORKS
from cutpurse.server.parts.notices.signature import show_secret, signed_headers
from cutpurse.server.parts.notices.webhook import TIMEOUT_S, post, webhook_address
from tests.parts.notices.webhook_receiver import WebhookReceiver, webhook_receiver
from tests.roots import CHECKOUT

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
LOCAL = read_networks(["127.0.0.0/8"])
SECRET = bytes(range(32))


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with webhook_receiver() as running:
        yield running


def entry(address: str, kind: str = WEBHOOK) -> ReceiverEntry:
    return ReceiverEntry(7, "ann", kind, address, SECRET, (), (), False, NOW, 0, 0, 0, 0, "", None, None, None)


def channels(rule: AddressRule | None = None, page_url: str = "") -> Channels:
    return Channels(DeliveryTerms((WEBHOOK,), (), page_url), rule or AddressRule(LOCAL), lambda: NOW)


BODY = json.dumps({"id": "e1", "event": "test", "text": "Hello.", "link": "/me", "details": {}})


# -- where to
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0.0.0.0",
        "0",
        "[::]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fec0::1]",
        "[fd00::1]",
        "[ff02::1]",
        "10.0.0.1",
        "172.16.3.4",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.2.1",
        "192.88.99.1",
        "224.0.0.1",
        "255.255.255.255",
        # clouds
        "168.63.129.16",
        "[::ffff:168.63.129.16]",
        "100.100.100.200",
        "192.0.0.192",
        "192.0.0.9",
        "169.254.0.23",
        "169.254.42.42",
        "169.254.170.2",
        "161.26.0.10",
        "166.11.255.255",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "[fd00:c1::a9fe:a9fe]",
        "[fd00:42::42]",
        # embedded IPv4: mapped, translated, NAT64, 6to4, Teredo
        "[::ffff:a9fe:a9fe]",
        "[::ffff:0:a9fe:a9fe]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::a9fe:a9fe]",
        "[64:ff9b:1:7f00:0:100::]",
        "[2002:a9fe:a9fe::1]",
        "[2001:0:a9fe:a9fe::1]",
        # other special purposes
        "192.31.196.1",
        "192.52.193.1",
        "192.175.48.1",
        "198.19.255.255",
        "[2001:1ff:ffff::1]",
        "[2001:db8::1]",
        "[2620:4f:8000::1]",
        "[3fff:fff::1]",
        "[5f00::1]",
        "[100::1]",
        "[4000::1]",
    ],
)
def test_addresses_that_are_not_public_are_refused(host: str) -> None:
    with pytest.raises(AddressRefused, match="in a network that this server does not post to"):
        channels(AddressRule()).kind_of(f"http://{host}:8080/hook")


@pytest.mark.parametrize(
    "address",
    [
        *("1.1.1.1", "93.184.215.14", "168.63.129.15", "166.12.0.1", "192.0.1.1", "::ffff:1.1.1.1"),
        *("2001:200::1", "2001:4860:4860::8888", "2606:4700::1111", "2a00:1450::1", "3fff:1000::1"),
    ],
)
def test_addresses_of_the_internet_may_be_posted_to(address: str) -> None:
    assert AddressRule(resolved=lambda host, port: [address]).addresses("hook.example", 443) == [address]


@pytest.mark.parametrize("network", REFUSED_NETWORKS, ids=str)
def test_each_refused_network_is_refused_from_its_first_address_to_its_last(network: Network) -> None:
    first_and_last = [str(network[0]), str(network[-1])]
    rule = AddressRule(resolved=lambda host, port: [first_and_last[port]])
    for port in (0, 1):
        with pytest.raises(AddressRefused):
            rule.addresses("hook.example", port)
    rule = AddressRule([network], resolved=lambda host, port: first_and_last)
    assert rule.addresses("hook.example", 443) == first_and_last


@pytest.mark.parametrize(
    "found", [["127.0.0.1"], ["93.184.215.14", "10.0.0.1"], ["::ffff:10.0.0.1"], ["fe80::1%eth0"], ["no address"]]
)
def test_a_name_is_refused_for_what_it_resolves_to(found: list[str]) -> None:
    rule = AddressRule(resolved=lambda host, port: found)
    with pytest.raises(AddressRefused):
        channels(rule).kind_of("https://innocent.example/hook")
    with pytest.raises(AddressRefused):
        channels(rule).deliver(entry("https://innocent.example/hook"), "e1", BODY)


def test_a_name_that_resolves_to_this_machine_only_later_is_refused_then(receiver: WebhookReceiver) -> None:
    answers = [["93.184.215.14"], ["127.0.0.1"]]
    channel = channels(AddressRule(resolved=lambda host, port: answers.pop(0)))
    address = receiver.url.replace("127.0.0.1", "turns.example")
    assert channel.kind_of(address) == WEBHOOK
    with pytest.raises(AddressRefused):
        channel.deliver(entry(address), "e1", BODY)
    assert receiver.requests == []


def test_a_name_is_resolved_once_and_that_address_is_used(receiver: WebhookReceiver) -> None:
    asked: list[str] = []

    def resolved(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    address = receiver.url.replace("127.0.0.1", "pinned.example")
    channels(AddressRule(LOCAL, resolved=resolved)).deliver(entry(address), "e1", BODY)
    assert asked == ["pinned.example"]
    assert receiver.requests[0].headers["host"].startswith("pinned.example:")


@pytest.mark.parametrize("host", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_the_public_internet_and_allowed_networks_are_fine(host: str) -> None:
    assert AddressRule().addresses(host, 443) == [host]
    assert AddressRule(read_networks(["10.1.0.0/16"])).addresses("10.1.2.3", 443) == ["10.1.2.3"]
    with pytest.raises(AddressRefused):
        AddressRule(read_networks(["10.1.0.0/16"])).addresses("10.2.0.1", 443)


def test_neighbours_of_the_host_are_refused_even_if_they_are_public(tmp_path: Path) -> None:
    head = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
    default, near = "eth0 00000000 010200C0 3 0 0 0 00000000 0 0 0\n", "eth0 00D7B85D 00000000 1 0 0 0 00FFFFFF 0 0 0\n"
    tunnel = "tun0 00000000 00000000 1 0 0 0 00000080 0 0 0\n"
    (tmp_path / "route").write_text(head + default + near + tunnel)
    (tmp_path / "ipv6_route").write_text(f"{'26062800':0<32} 40 {'0' * 32} 00 {'0' * 32} 0 1 0 1 eth0\nbroken\n")
    (tmp_path / "fib_trie").write_text(
        "Local:\n  |-- 8.8.4.4\n     /32 host LOCAL\n  |-- 8.8.8.8\n     /32 link UNICAST\n"
    )
    own = own_networks(tmp_path)
    assert ipaddress.ip_network("8.8.4.4") in own
    assert ipaddress.ip_network("8.8.8.8") not in own
    assert ipaddress.ip_network("93.184.215.0/24") in own
    assert ipaddress.ip_network("2606:2800::/64") in own
    assert ipaddress.ip_network("0.0.0.0/1") not in own
    rule = AddressRule(own=lambda: own)
    for address in ("93.184.215.14", "2606:2800::5"):
        with pytest.raises(AddressRefused):
            rule.addresses(address, 443)
    assert rule.addresses("93.184.216.14", 443) == ["93.184.216.14"]


@pytest.mark.parametrize("problem", [OSError(), UnicodeError()])
def test_a_name_without_an_address_is_no_failure_of_the_server(problem: Exception) -> None:
    def resolved(host: str, port: int) -> list[str]:
        raise problem

    with pytest.raises(DeliveryFailed, match="cannot be resolved"):
        AddressRule(resolved=resolved).addresses("none.example", 443)
    with pytest.raises(DeliveryFailed, match="cannot be resolved"):
        AddressRule(resolved=lambda host, port: []).addresses("none.example", 443)


@pytest.mark.parametrize(
    "address",
    [
        "https://",
        "https:///path",
        "https://host:99999/",
        "https://host:0/",
        "https://[::1",
        "https://a b/",
        "https://host/\r\nX: 1",
        "https://höst/",
        "https://[fe80::1%25eth0]/",
        "https://ann:secret@host/",
    ],
)
def test_what_is_no_address_of_a_webhook_is_refused(address: str) -> None:
    with pytest.raises(UnsuitableAddress, match="the address of a webhook"):
        channels().kind_of(address)


@pytest.mark.parametrize("address", ["mailto://ann:pw@example.org", "file:///etc/passwd", "gopher://x", "json://x", ""])
def test_kinds_that_the_host_does_not_allow_are_refused(address: str) -> None:
    with pytest.raises(UnsuitableAddress, match="this server sends to: webhook; ask its host"):
        channels().kind_of(address)


# -- what is sent
def test_a_body_is_signed_as_standard_webhooks_describes(receiver: WebhookReceiver) -> None:
    channels(page_url="https://league.example/").deliver(entry(receiver.url), "e1", BODY)
    (request,) = receiver.requests
    assert request.path == "/hook?key=1"
    assert json.loads(request.body) == {**json.loads(BODY), "link": "https://league.example/me"}
    headers = request.headers
    assert (headers["content-type"], headers["webhook-id"]) == ("application/json", "e1")
    assert headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    signed = f"e1.{headers['webhook-timestamp']}.".encode() + request.body
    digest = hmac.new(SECRET, signed, hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
    assert base64.b64decode(show_secret(SECRET).removeprefix("whsec_")) == SECRET


def test_the_receiver_in_the_documentation_checks_signatures(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (CHECKOUT / "docs" / "how-to" / "notices.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.setenv("WEBHOOK_SECRET", show_secret(SECRET))
    program: dict[str, Any] = {"__name__": "receiver"}
    exec(code, program)
    monkeypatch.setattr(program["time"], "time", lambda: 1_000.0)

    def is_genuine(timestamp: int = 1_000, body: bytes = b"x", changed: tuple[str, str] | None = None) -> bool:
        headers = defaultdict(str, signed_headers(SECRET, "e1", timestamp, b"x"))
        headers.update([changed] if changed else [])
        return bool(program["is_genuine"](headers, body))

    assert is_genuine()
    assert is_genuine(timestamp=800)
    assert not is_genuine(timestamp=600), "somebody recorded it"
    assert not is_genuine(body=b"y")
    assert not is_genuine(changed=("webhook-id", "e2"))
    assert not is_genuine(changed=("webhook-timestamp", "999"))
    assert not is_genuine(changed=("webhook-signature", ""))


def test_a_signature_depends_on_everything() -> None:
    made = [
        signed_headers(secret, event_id, timestamp, body)["webhook-signature"]
        for secret, event_id, timestamp, body in (
            (SECRET, "e1", 1, b"x"),
            (SECRET[:-1], "e1", 1, b"x"),
            (SECRET, "e2", 1, b"x"),
            (SECRET, "e1", 2, b"x"),
            (SECRET, "e1", 1, b"y"),
        )
    ]
    assert len(set(made)) == 5


def test_without_a_page_there_is_no_link(receiver: WebhookReceiver) -> None:
    channels().deliver(entry(receiver.url), "e1", BODY)
    assert json.loads(receiver.requests[0].body)["link"] is None


# -- answers
@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"HTTP/1.1 500 Oh\r\n\r\n", "it answered 500"),
        (b"HTTP/1.1 410 Gone\r\n\r\n", "it answered 410"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", "it answered 302; redirects are not followed"),
        (b"", "cut the connection"),
        (b"SSH-2.0-OpenSSH\r\n", "its answer is no HTTP"),
        (b"x" * 40_000, "its answer is no HTTP"),
        (b"HTTP/1.1 100 Continue\r\n" + b"x: y\r\n" * 4_000, "its answer is no HTTP"),
    ],
)
def test_an_answer_that_is_no_success(receiver: WebhookReceiver, answer: bytes, problem: str) -> None:
    receiver.answer = lambda request: answer
    with pytest.raises(DeliveryFailed, match=problem):
        channels().deliver(entry(receiver.url), "e1", BODY)
    assert len(receiver.requests) == 1


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.0 200\n", b"HTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 202 Fine\r\n" + b"x" * 100_000]
)
def test_an_answer_that_is_a_success(receiver: WebhookReceiver, answer: bytes) -> None:
    receiver.answer = lambda request: answer
    channels().deliver(entry(receiver.url), "e1", BODY)
    assert len(receiver.requests) == 1


def test_an_answer_that_drips_is_cut_off_at_the_limit_of_the_whole_request() -> None:
    """Each byte comes in time, so only the limit of the whole request ends it; the clock jumps with each byte."""
    moments = iter(range(1_000))
    ready = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            link, _ = listening.accept()
            with link:
                link.sendall(b"HTTP")
                ready.wait(240)

        thread = threading.Thread(target=drip)
        thread.start()
        address = webhook_address(f"http://127.0.0.1:{listening.getsockname()[1]}/")
        with pytest.raises(DeliveryFailed, match="did not answer within 10 s"):
            post(address, AddressRule(LOCAL), {}, b"{}", ssl.create_default_context(), lambda: 3.0 * next(moments))
        ready.set()
        thread.join()
    assert TIMEOUT_S == 10


def test_a_port_where_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(DeliveryFailed, match="cannot be reached"):
        channels().deliver(entry(f"http://127.0.0.1:{port}/"), "e1", BODY)
    with pytest.raises(DeliveryFailed, match=r"cannot be reached|did not answer"):
        post(webhook_address(f"http://127.0.0.1:{port}/"), AddressRule(LOCAL), {}, b"", ssl.create_default_context())


def test_a_server_without_a_valid_certificate(receiver: WebhookReceiver) -> None:
    with pytest.raises(DeliveryFailed, match="certificate is not valid, or it does not speak TLS"):
        channels().deliver(entry(receiver.url.replace("http:", "https:")), "e1", BODY)
    assert receiver.requests == []


@pytest.mark.parametrize(("host", "is_fine"), [("pinned.example", True), ("other.example", False)])
def test_a_certificate_is_for_the_name_and_not_for_the_address(host: str, is_fine: bool) -> None:
    authority = trustme.CA()
    serving, trust = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=None)
    authority.issue_cert("pinned.example").configure_cert(serving)
    authority.configure_trust(trust)
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            link, _ = listening.accept()
            with suppress(ssl.SSLError), link, serving.wrap_socket(link, server_side=True) as secure:
                received.append(secure.recv(10_000))
                secure.sendall(b"HTTP/1.1 200 OK\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        address = webhook_address(f"https://{host}:{listening.getsockname()[1]}/hook")
        rule = AddressRule(LOCAL, resolved=lambda name, port: ["127.0.0.1"])
        if is_fine:
            post(address, rule, {}, b"{}", trust)
        else:
            with pytest.raises(DeliveryFailed, match="certificate is not valid"):
                post(address, rule, {}, b"{}", trust)
        thread.join()
    assert [request[:15] for request in received] == ([b"POST /hook HTTP"] if is_fine else [])


def test_a_kind_that_the_host_took_back_is_not_sent_to() -> None:
    with pytest.raises(DeliveryFailed, match="does not send to mailto any more"):
        channels().deliver(entry("mailto://ann:pw@example.org", "mailto"), "e1", BODY)


@pytest.mark.full
def test_apprise_really_sends_and_says_when_it_could_not(receiver: WebhookReceiver) -> None:
    """The library takes seconds to load; its JSON kind posts to a real server here."""
    terms = DeliveryTerms((WEBHOOK, "json"), (), "https://league.example")
    channel = Channels(terms, AddressRule(), lambda: NOW)
    address = receiver.url.replace("http://", "json://").partition("?")[0]
    assert channel.kind_of(address) == "json"
    channel.deliver(entry(address, "json"), "e1", BODY)
    sent = json.loads(receiver.requests[0].body)
    assert (sent["title"], sent["message"]) == ("Cutpurse: test", "Hello.\nhttps://league.example/me")
    receiver.answer = lambda request: b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(DeliveryFailed, match="the service did not accept it"):
        channel.deliver(entry(address, "json"), "e2", BODY)
    with pytest.raises(UnsuitableAddress, match="apprise cannot read this address"):
        channel.kind_of("json://")


def test_no_shown_address_has_what_may_be_secret() -> None:
    shown = {
        shown_address(one.kind, one.address)
        for one in (
            entry("https://example.org/hook/hidden?key=hidden"),
            entry("https://example.org?key=hidden"),
            replace(entry("mailto://ann:hidden@example.org"), kind="mailto"),
        )
    }
    assert shown == {"https://example.org/...", "https://example.org/", "mailto://..."}


def test_the_system_resolves_numbers_without_a_question() -> None:
    assert address_rule.resolve("2130706433", 80) == ["127.0.0.1"]
