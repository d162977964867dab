"""The conversion of `ladder.proto` messages to JSON, and the JSON schemas of the result.

Keys are the field names of the messages. 64-bit integers are numbers too, since none exceeds what a double holds
exactly. Bytes become hex, and enum values their names in lower case without the prefix. Absent fields are null; only
private fields are left out. This module knows no request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

__all__ = ["Plain", "enum_name", "plain", "schemas"]

Plain = dict[str, Any]

# Fields for the owner only. A server sends them to no stranger, but a database file that is served has them.
_PRIVATE: Final = frozenset({"cutpurse.v1.SeatFault.text", "cutpurse.v1.BotShown.paused_for"})
# Fields for matchmaking only; a ranking shows one number, the rating.
_PAIRING: Final = frozenset({"cutpurse.v1.Ranking.skill"})
_DESCRIPTIONS: Final = {
    "SkillShown": "The pairing skill, which matchmaking goes by and each rated board changes. It is not the rating.",
    "Ranking": "A bot with its rating, which is estimated from all results together. place 0: it is not placed yet. "
    "is_provisional: its rating is uncertain.",
}
_TEXTS: Final = frozenset({"cutpurse.v1.Opening.params"})  # bytes fields that hold UTF-8 text
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
    """Convert a message to JSON values, without private fields."""
    descriptor: Any = message.DESCRIPTOR  # Any, because the type stubs have two types named Descriptor
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
    """Convert an enum value to JSON: its name, None for 0 (unspecified), or its number if a newer server sent it."""
    if number == 0:
        return None
    found = enum.values_by_number.get(number)
    return str(number) if found is None else _short(enum, found.name)


def _short(enum: EnumDescriptor, name: str) -> str:
    """Convert the name of an enum value: BOARD_KIND_PLAIN of BoardKind becomes "plain"."""
    begin = "".join(f"_{sign}" if sign.isupper() else sign for sign in enum.name).lstrip("_").upper()
    return name.removeprefix(f"{begin}_").lower()


# -- JSON schemas
def schemas(*descriptors: Descriptor) -> Mapping[str, Plain]:
    """Return JSON schemas, by name, of these messages and all messages inside them, with OpenAPI references."""
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
