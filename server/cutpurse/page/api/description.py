"""The OpenAPI document of the API, generated from the calls and their response messages."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from cutpurse.page.api.endpoints import CALLS, PREFIX, Call
from cutpurse.page.api.plain import schemas
from cutpurse.wire.version import VERSION

__all__ = ["FILE_PATH", "PROBLEM", "openapi"]

PROBLEM: Final = "application/problem+json"
FILE_PATH: Final = "/matches/{match}/record"
_STATUSES: Final = {
    "400": "A parameter is unknown or has an invalid value; `detail` says what is valid.",
    "403": "The server shows this only to some owners.",
    "404": "It does not exist, or is not public.",
    "503": "The server cannot be reached, or too many are asking.",
}


@cache
def openapi() -> dict[str, Any]:
    """Return the OpenAPI document."""
    paths = {PREFIX + call.path: {"get": _operation(call)} for call in CALLS}
    (match,) = [call for call in CALLS if call.name == "match"]
    paths[PREFIX + FILE_PATH] = {"get": _file_operation(match)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Cutpurse",
            "version": VERSION,
            "description": (
                "The public data of a league as JSON. Timestamps are milliseconds since 1970, or 0 if there is none. "
                "Long lists come in pages; `next` is the address of the next one."
            ),
        },
        "paths": paths,
        "components": {
            "schemas": {**schemas(*(call.answer for call in CALLS)), "Problem": _PROBLEM_SCHEMA, **_pages()}
        },
    }


def _operation(call: Call) -> dict[str, Any]:
    name = f"{call.answer.name}Page" if call.next_page is not None else call.answer.name
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    return _described(call, call.name, call.text, content)


def _file_operation(match: Call) -> dict[str, Any]:
    text = "Download the file of a match, which `cutpurse match replay` and `verify` read."
    return _described(match, "record", text, {"application/jsonl": {"schema": {"type": "string"}}})


def _described(call: Call, name: str, text: str, content: dict[str, Any]) -> dict[str, Any]:
    refused = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        "operationId": name,
        "summary": text,
        "parameters": [
            {
                "name": one.name,
                "in": "path" if one.name in call.in_path else "query",
                "required": one.name in call.in_path,
                "description": one.text,
                "schema": one.schema,
            }
            for one in call.parameters
        ],
        "responses": {
            "200": {"description": "The answer.", "content": content},
            **{status: {"description": said, "content": refused} for status, said in _STATUSES.items()},
        },
    }


def _pages() -> dict[str, Any]:
    """Return the schemas of paged responses, which have the address of the next page."""
    found = schemas(*(call.answer for call in CALLS))
    after = {"type": ["string", "null"], "description": "the address of the next page; null: this was the last"}
    return {
        f"{call.answer.name}Page": {
            **found[call.answer.name],
            "properties": {**found[call.answer.name]["properties"], "next": after},
            "required": list(dict.fromkeys([*found[call.answer.name]["required"], "next"])),
        }
        for call in CALLS
        if call.next_page is not None
    }


_PROBLEM_SCHEMA: Final = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
    "required": ["type", "title", "status"],
}
