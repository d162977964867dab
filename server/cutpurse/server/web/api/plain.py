"""Messages of `ladder.proto` as JSON, and the schema of what they become.

Names are those of the messages. Numbers are numbers, of 64 bits too: none of ours is beyond what a double holds. Bytes
are hex; a value of an enum is its name in lower case, without the enum's; what is absent is null, and nothing is left
out. This module knows no request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

__all__ = ["Plain", "enum_name", "plain", "schemas"]

Plain = dict[str, Any]

# What is an owner's alone. A stranger is told none of it; whoever serves a file might be.
_PRIVATE: Final = frozenset({"cutpurse.v1.SeatFault.text", "cutpurse.v1.BotShown.paused_for"})
# What matchmaking goes by; a ranking shows one number, the rating.
_PAIRING: Final = frozenset({"cutpurse.v1.Ranking.skill"})
_DESCRIPTIONS: Final = {
    "SkillShown": "The pairing skill, which matchmaking goes by and each rated board changes. It is not the rating.",
    "Ranking": "A bot with its rating, which is estimated from all results together. place 0: it is not placed yet.",
}
_TEXTS: Final = frozenset({"cutpurse.v1.Opening.params"})  # bytes that are text
_INTEGERS: Final = frozenset(
    {
        FieldDescriptor.TYPE_INT32,
        FieldDescriptor.TYPE_INT64,
        FieldDescriptor.TYPE_UINT32,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_SINT32,
        FieldDescriptor.TYPE_SINT64,
    }
)


def plain(message: Message) -> Plain:
    """Convert a message to JSON values."""
    descriptor: Any = message.DESCRIPTOR  # the types have two of that name
    return {field.name: _field(message, field) for field in _shown(descriptor)}


def _shown(descriptor: Descriptor) -> list[FieldDescriptor]:
    return [field for field in descriptor.fields if field.full_name not in _PRIVATE | _PAIRING]


def _field(message: Message, field: FieldDescriptor) -> Any:
    value = getattr(message, field.name)
    if field.is_repeated:
        return [_value(field, one) for one in value]
    if field.has_presence and not message.HasField(field.name):
        return None
    return _value(field, value)


def _value(field: FieldDescriptor, value: Any) -> Any:
    if field.message_type is not None:
        return plain(value)
    if field.enum_type is not None:
        return enum_name(field.enum_type, value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return value.decode("utf-8", "replace") if field.full_name in _TEXTS else value.hex()
    return value


def enum_name(enum: EnumDescriptor, number: int) -> str | None:
    """Convert an enum value to JSON; None for 0, which says nothing, and the number of a value of a newer server."""
    if number == 0:
        return None
    found = enum.values_by_number.get(number)
    return str(number) if found is None else _short(enum, found.name)


def _short(enum: EnumDescriptor, name: str) -> str:
    """BOARD_KIND_PLAIN of BoardKind as "plain"."""
    begin = "".join(f"_{sign}" if sign.isupper() else sign for sign in enum.name).lstrip("_").upper()
    return name.removeprefix(f"{begin}_").lower()


# -- what it becomes
def schemas(*descriptors: Descriptor) -> Mapping[str, Plain]:
    """JSON schemas of these messages and of all within, by name; each refers to the others as OpenAPI does."""
    found: dict[str, Plain] = {}
    waiting = list(descriptors)
    while waiting:
        descriptor = waiting.pop()
        if descriptor.name in found:
            continue
        fields = _shown(descriptor)
        found[descriptor.name] = {
            "type": "object",
            "properties": {field.name: _schema(field) for field in fields},
            "required": [field.name for field in fields],
            "additionalProperties": False,
        }
        if text := _DESCRIPTIONS.get(descriptor.name):
            found[descriptor.name]["description"] = text
        waiting += [field.message_type for field in fields if field.message_type is not None]
    return dict(sorted(found.items()))


def _schema(field: FieldDescriptor) -> Plain:
    one = _schema_of_one(field)
    if field.is_repeated:
        return {"type": "array", "items": one}
    if field.has_presence and field.enum_type is None:
        return {"anyOf": [one, {"type": "null"}]}
    return one


def _schema_of_one(field: FieldDescriptor) -> Plain:
    if field.message_type is not None:
        return {"$ref": f"#/components/schemas/{field.message_type.name}"}
    if field.enum_type is not None:
        named = [enum_name(field.enum_type, value.number) for value in field.enum_type.values]
        return {"type": ["string", "null"], "enum": named}
    if field.type in _INTEGERS:
        described: Plain = {"type": "integer"}
        if field.name.endswith("_ms"):
            described["description"] = "milliseconds; of a moment, since 1970 (UTC), 0 where there is none"
        return described
    if field.type == FieldDescriptor.TYPE_BYTES:
        return {"type": "string"} if field.full_name in _TEXTS else {"type": "string", "pattern": "^([0-9a-f]{2})*$"}
    return {
        "type": {FieldDescriptor.TYPE_BOOL: "boolean", FieldDescriptor.TYPE_DOUBLE: "number"}.get(field.type, "string")
    }
