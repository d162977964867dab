"""The page for authors of bots in any language: its payloads are what is sent today, its tables those of the contract.

Renewed by `pytest tests/server/test_protocol_page.py --update-pages`.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.descriptor import EnumDescriptor
from google.rpc import code_pb2, error_details_pb2, status_pb2

from cutpurse.check.scenarios import LEAVE_S, RESTART_S
from cutpurse.engine.agenda import Question
from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.commitment import board_key
from cutpurse.games import GAMES
from cutpurse.process import child
from cutpurse.server.errors import call_status
from cutpurse.server.hosting.options import grpc_options
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches.deal_nonces import WAITS_S
from cutpurse.server.matches.seat_notes import NOTE_BYTES, NOTE_LEAST
from cutpurse.server.parts.submissions import hosted_bots
from cutpurse.v1 import arena_pb2, game_pb2, ladder_pb2
from cutpurse.wire.catalogue import catalogue_of
from cutpurse.wire.usage import MODEL_MOST, MOST_COST_MICROS, MOST_TOKENS
from tests.roots import CHECKOUT
from tests.server.conversation import conversation
from tests.server.status_bytes import bytes_of, moved, shown_fields, stopping

PAGE: Final = CHECKOUT / "docs" / "reference" / "protocol.md"
RENEW: Final = "pytest tests/server/test_protocol_page.py --update-pages"


def page() -> str:
    """The page as it is."""
    return PAGE.read_text(encoding="utf-8")


def block(marker: str) -> re.Pattern[str]:
    """A fenced block after its marker; what is in it is group 2."""
    return re.compile(rf"(<!-- {marker} -->\n```\w*\n)(.*?)(```\n)", re.DOTALL)


def shown(marker: str) -> str:
    """What the page shows after a marker."""
    found = block(marker).findall(page())
    assert len(found) == 1, f"{marker} is {len(found)} times in the page"
    return str(found[0][1])


def program(first_line: str) -> dict[str, Any]:
    """The names that a program of the page defines."""
    found = [
        source for source in re.findall(r"```python\n(.*?)```", page(), re.DOTALL) if f"\n{first_line}" in f"\n{source}"
    ]
    assert len(found) == 1
    names: dict[str, Any] = {}
    exec(compile(found[0], str(PAGE), "exec"), names)  # the page's own text
    return names


def told(decision: arena_pb2.Decision, catalogue: game_pb2.Catalogue, seat: int) -> str:
    """What the page's program says of a decision."""
    tell: Callable[..., None] = program("def tell(")["tell"]
    with contextlib.redirect_stdout(io.StringIO()) as said:
        tell(decision, catalogue, seat)
    return "".join(f"{line.rstrip()}\n" for line in said.getvalue().splitlines())


def response(text: str) -> arena_pb2.PlayResponse:
    """A payload of the page, parsed."""
    return text_format.Parse(text, arena_pb2.PlayResponse())


async def test_the_payloads_are_what_is_sent_today(pytestconfig: pytest.Config) -> None:
    said = {f"payload: {name}": f"{text}\n" for name, text in (await conversation()).items()}
    decision = response(said["payload: decisions"]).decisions[0]
    said["told"] = told(decision, catalogue_of(GAMES["greed"], 2), response(said["payload: starts"]).starts[0].seat)
    said["payload: status_fields"] = f"{shown_fields(stopping())}\n"
    said["payload: elsewhere_fields"] = f"{shown_fields(moved())}\n"
    if pytestconfig.getoption("--update-pages"):
        text = page()
        for marker, body in said.items():
            text = block(marker).sub(lambda match, body=body: match[1] + body + match[3], text)  # type: ignore[misc]
        PAGE.write_text(text, encoding="utf-8")
    assert {marker: shown(marker) for marker in said} == said, f"if it is meant: {RENEW}"
    assert len(re.findall("<!-- ", page())) == len(said)


def test_the_bytes_of_a_status_are_read_as_the_page_says() -> None:
    read = status_pb2.Status.FromString(bytes_of(shown("payload: status_fields")))
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    assert [detail.Unpack(into) for detail, into in zip(read.details, (info, retry), strict=True)] == [True, True]
    assert (read.code, info.reason, info.domain) == (code_pb2.UNAVAILABLE, "DRAINING", "cutpurse")
    assert retry.retry_delay.ToMilliseconds() == 1_500
    read = status_pb2.Status.FromString(bytes_of(shown("payload: elsewhere_fields")))
    (detail,) = read.details
    assert detail.Unpack(info)
    assert (info.reason, dict(info.metadata)) == ("ELSEWHERE", {"address": "https://b.example:7777"})


def test_an_optional_field_is_a_oneof_of_the_same_bytes() -> None:
    """The how-to page says so, for generators that refuse `optional`."""
    pool = descriptor_pool.DescriptorPool()
    changed = []
    for module in (game_pb2, arena_pb2):
        file = descriptor_pb2.FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
        for message in file.message_type:
            for field in message.field:
                changed += [f"{message.name}.{field.name}"] * field.proto3_optional
                field.proto3_optional = False  # the oneof that protoc has made for it becomes a plain one
        pool.Add(file)
    assert "Answer.option" in changed
    request = arena_pb2.PlayRequest(answers=[arena_pb2.Answer(table=3, decision=7, option=0)])
    other: Any = message_factory.GetMessageClass(pool.FindMessageTypeByName("cutpurse.v1.PlayRequest"))
    read = other.FromString(request.SerializeToString())
    assert read.answers[0].WhichOneof("_option") == "option"
    assert read.SerializeToString() == request.SerializeToString()
    assert len(arena_pb2.Answer(option=0).SerializeToString()) == 2  # sent, though it is 0


def rows(title: str, columns: int) -> dict[str, tuple[str, ...]]:
    """The rows of the table under this heading of its first column, by name; a name twice fails."""
    table = re.search(rf"^\| `{title}` \|.*?\n\|[-|]+\|\n((?:\|.*\n)+)", page(), re.MULTILINE)
    assert table is not None
    found: dict[str, tuple[str, ...]] = {}
    for line in table[1].splitlines():
        cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
        assert len(cells) == columns, line
        assert all(cells), line
        name = cells[0].strip("`")
        assert name not in found, name
        found[name] = cells[1:]
    return found


def values(enum: EnumDescriptor, prefix: str) -> set[str]:
    """The names of an enum without their prefix, but for the one that is not used."""
    return {value.name.removeprefix(prefix) for value in enum.values if value.number}


def test_every_reason_of_a_refusal_is_told_and_no_other() -> None:
    enum = arena_pb2.DESCRIPTOR.enum_types_by_name["RefusalReason"]
    assert rows("RefusalReason", 2).keys() == values(enum, "REFUSAL_REASON_")


def test_every_reason_of_an_error_is_told_with_what_the_server_sends() -> None:
    table = rows("ErrorReason", 4)
    enum = arena_pb2.DESCRIPTOR.enum_types_by_name["ErrorReason"]
    assert table.keys() == values(enum, "ERROR_REASON_")
    for reason, (status, retry, *_) in table.items():
        sent = call_status(reason, "")
        assert status == code_pb2.Code.Name(sent.code), reason
        assert retry == ("-" if sent.retry_s is None else f"{sent.retry_s:g} s"), reason


def test_the_comments_of_the_contract_name_the_same_status() -> None:
    proto = (CHECKOUT / "proto/cutpurse/v1/arena.proto").read_text(encoding="utf-8")
    found = re.findall(r"// ([A-Z_]+)\. [^\n]*\n  ERROR_REASON_([A-Z_]+) =", proto)
    assert {reason: status for status, reason in found} == {
        reason: status for reason, (status, *_) in rows("ErrorReason", 4).items()
    }


def test_the_limits_are_those_of_the_server() -> None:
    limits, text = ServerLimits(), page()
    options = dict(grpc_options(limits))
    for told_so in (
        f"within {limits.hello_s:g} seconds",
        f"{limits.usual_tables} unless Hello names a number, {limits.most_tables} at most",
        f"{limits.most_bytes:,} bytes",
        f"{limits.envelopes_per_second} a second of its own accord",
        f"{limits.most_unread:,}; each more is a strike",
        f"one strike of {({3: 'three'})[limits.strikes]}",
        f"| notes | {limits.note_bytes:,} bytes of a match, {NOTE_BYTES:,} of each |",
        f"of a single note {NOTE_BYTES:,} bytes; each counts for at least {NOTE_LEAST}",
        f"Tokens are {MOST_TOKENS:,} at most, the cost {MOST_COST_MICROS:,}.",
        f"| usage | {MOST_TOKENS:,} tokens read and as many written of a decision; {MODEL_MOST} characters",
        f"| calls on one connection | {limits.streams_per_connection} |",
        f"| a connection without a call | {limits.idle_s:g} s |",
        f"half an hour, and {limits.connection_age_grace_s:g} s more",
        f"[heartbeat](#envelopes) every {limits.heartbeat_ms // 1_000} seconds",
        f"less than {options['grpc.http2.min_ping_interval_without_data_ms'] // 1_000} seconds after the one before",
        f"the {({2: 'third'})[options['grpc.http2.max_ping_strikes']]}\nends the connection",
        f"at the latest `nonce_ms` ({WAITS_S * 1_000:,.0f}) after MatchStarted",
        f"within `poll_floor_ms` ({TimeControl().poll_floor_ms} ms)",
    ):
        assert told_so in text, told_so
    programs = (CHECKOUT / "docs" / "reference" / "bot_programs.md").read_text(encoding="utf-8")
    for told_so in (
        f"scenario `leaving`: no match is open | {LEAVE_S:g} |",
        f"after a scenario that failed | {RESTART_S:g} |",
        f"with `exec:`, at the end | {child.GRACE_S:g} |",
        f"a server that runs your bot | {hosted_bots.GRACE_S:g} |",
    ):
        assert told_so in programs, told_so
    assert (limits.envelope_bytes, limits.connection_age_s) == (2**19, 1_800)  # "half a MiB", "half an hour"


def test_the_check_of_the_promise_holds_for_the_match_of_the_page() -> None:
    check = program("def lp(")
    started = response(shown("payload: starts")).starts[0]
    opening = response(shown("payload: ends")).ends[0].opening
    assert check["holds"](started, opening) is True
    assert check["key"](opening) == board_key(opening.seed, opening.params)
    opening.nonces[:] = [bytes(range(32)), b""]
    assert check["key"](opening) == board_key(opening.seed, opening.params, opening.nonces)
    opening.params += b" "
    assert check["holds"](started, opening) is False


def test_every_field_and_message_that_the_page_names_exists() -> None:
    steps = [step for game in GAMES.values() for step in game.steps().values()]
    known = {"session", "secret", *[step.name for step in steps if issubclass(step, Question)]}
    for file in (arena_pb2.DESCRIPTOR, game_pb2.DESCRIPTOR, ladder_pb2.DESCRIPTOR):
        for message in file.message_types_by_name.values():
            known |= {message.name, *message.fields_by_name}
            known |= {f"{message.name}.{field}" for field in message.fields_by_name}
    text = re.sub(r"```.*?```", "", page(), flags=re.DOTALL)
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+|[A-Z][A-Za-z]+\.[a-z_]+)`", text))
    assert len(named) > 15
    assert named - known == set()
