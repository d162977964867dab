"""The page of messages, made from the comments of the contract between server and bots."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from scripts.reference.page_parts import anchor, code, table

__all__ = ["page"]

PROTO: Final = Path(__file__).resolve().parents[2] / "proto" / "cutpurse" / "v1"
_FIELD: Final = re.compile(r"(?:(optional|repeated) )?([\w.]+|map<[^>]*>) (\w+) = \d+;")
_VALUE: Final = re.compile(r"(\w+) = \d+;")
_PAGE: Final = """# Messages

Look up a message that a bot sends or receives: `arena.proto` first, then `game.proto`, as their comments say it.
[The protocol](protocol.md) shows them in use.

{contents}

{messages}"""


class Field(NamedTuple):
    """A field of a message, or a value of an enum, with its comment."""

    name: str
    kind: str
    text: str


class Message(NamedTuple):
    """A message or an enum, with its comment and its fields in the order of the file."""

    name: str
    text: str
    is_enum: bool
    fields: list[Field]


def page() -> str:
    """Return the text of the page."""
    messages = [
        message for file in ("arena", "game") for message in _read((PROTO / f"{file}.proto").read_text("utf-8"))
    ]
    known = {message.name for message in messages}
    return _PAGE.format(
        contents=", ".join(f"[{message.name}](#{anchor(message.name)})" for message in messages),
        messages="\n".join(_section(message, known) for message in messages),
    )


def _read(text: str) -> Iterator[Message]:
    """Read the messages and enums of a .proto file; services are left out."""
    comment: list[str] = []
    message: Message | None = None
    for whole in text.splitlines():
        line = whole.strip()
        if line.startswith("//"):
            comment.append(line.removeprefix("//").strip())
            continue
        words = " ".join(comment)
        if begun := re.fullmatch(r"(message|enum) (\w+) \{(\})?", line):
            message = Message(begun[2], words, begun[1] == "enum", [])
            if begun[3]:
                yield message
                message = None
        elif message and (field := _FIELD.fullmatch(line)):
            kind = f"{field[1]} {field[2]}" if field[1] else field[2]
            message.fields.append(Field(field[3], kind, words))
        elif message and message.is_enum and (value := _VALUE.fullmatch(line)):
            message.fields.append(Field(value[1], "", words))
        elif message and whole == "}":
            yield message
            message = None
        comment = []


def _section(message: Message, known: set[str]) -> str:
    head = ("value" if message.is_enum else "field", "type", "meaning")
    rows = [(code(field.name), _kind(field.kind, known) if field.kind else "", field.text) for field in message.fields]
    fields = table(head, rows) if rows else "No fields.\n"
    return f"## {message.name}\n\n{message.text}\n\n{fields}"


def _kind(kind: str, known: set[str]) -> str:
    """Format the type of a field, with a link to the message that it is."""
    label, _, name = kind.rpartition(" ")
    linked = f"[{name}](#{anchor(name)})" if name in known else code(name)
    return f"{label} {linked}".strip()
