"""The bytes of a failed call's details as `docs/reference/protocol.md` shows them, field by field."""

from __future__ import annotations

import re
from typing import Any

from google.protobuf import any_pb2
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import code_pb2, error_details_pb2, status_pb2

from cutpurse.server.errors import CallStatus, call_status
from cutpurse.wire.wire_format import varint

__all__ = ["bytes_of", "moved", "shown_fields", "stopping"]

DETAILS = {
    f"type.googleapis.com/{kind.DESCRIPTOR.full_name}": kind
    for kind in (error_details_pb2.ErrorInfo, error_details_pb2.RetryInfo)
}


def stopping() -> status_pb2.Status:
    """Return the status with which a stopping server ends a stream."""
    return call_status("DRAINING", "the server is stopping", 1.5).status()


def moved() -> status_pb2.Status:
    """Return the status with which a server sends a bot to another server of the league."""
    text, address = "ladder duel is played elsewhere", "https://b.example:7777"
    return CallStatus(code_pb2.FAILED_PRECONDITION, "ELSEWHERE", text, address=address).status()


def shown_fields(message: Message, depth: int = 0) -> str:
    """Format a line for each field: its key and length or number in hexadecimal, text in quotes, and its name."""
    lines: list[str] = []
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            entry: Any = GetMessageClass(field.message_type)
            value = [entry(key=key, value=text) for key, text in value.items()]
        for item in value if field.is_repeated else [value]:
            inner = item
            if isinstance(message, any_pb2.Any) and isinstance(item, bytes):
                inner = DETAILS[message.type_url].FromString(item)
            body = b"" if isinstance(item, int) else item.encode() if isinstance(item, str) else _bytes(item)
            is_number = isinstance(item, int)
            head = bytes([field.number << 3 | (0 if is_number else 2)]) + varint(item if is_number else len(body))
            text = f' "{item}"' if isinstance(item, str) else ""
            line = f"{'   ' * depth}{head.hex(' ')}{text}"
            lines.append(f"{line:<58} {field.name}{f' = {item}' if is_number else ''}")
            if isinstance(inner, Message):
                lines.append(shown_fields(inner, depth + 1))
    return "\n".join(lines)


def _bytes(item: Message | bytes) -> bytes:
    return item if isinstance(item, bytes) else item.SerializeToString()


def bytes_of(shown: str) -> bytes:
    """Parse the bytes that a page shows."""
    parts = re.findall(r'^ *([0-9a-f]{2}(?: [0-9a-f]{2})*)(?: "(.*?)")?', shown, re.MULTILINE)
    return b"".join(bytes.fromhex(digits) + text.encode() for digits, text in parts)
