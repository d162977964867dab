"""JSON from outside, and the bounds of every document from outside: how deep it is, and how long its numbers are.

What passes can be compared, stored and shown in an error without another thought.
"""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["TOO_DEEP", "TOO_LONG", "check_document", "parse_json"]

MAX_DEPTH: Final = 64  # ours have at most 8
TOO_DEEP: Final = "nested too deeply"
TOO_LONG: Final = "a number is too long"


def parse_json(text: str | bytes | bytearray) -> Any:
    """Parse JSON that anybody may have written, in UTF-8.

    Raises:
        ValueError: If it is no JSON, not within the bounds of `check_document`, or has half a surrogate pair; in one
            line.
    """
    if not isinstance(text, str):
        text = text.decode("utf-8-sig")
    try:
        document = json.loads(text)
    except json.JSONDecodeError as problem:
        raise ValueError(f"no JSON: {problem}") from None
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
    except ValueError:  # Python converts no number of more than 4,300 digits
        raise ValueError(TOO_LONG) from None
    check_document(document)
    if "\\ud" in text or "\\uD" in text:
        json.dumps(document, ensure_ascii=False).encode()
    return document


def check_document(document: object) -> None:
    """Check that lists and tables are not nested too deeply, and that no whole number has more than 64 bits.

    Raises:
        ValueError: If one of both is not so.
    """
    level = [document]
    for _ in range(MAX_DEPTH):
        values: list[object] = []
        for container in level:
            if isinstance(container, dict):
                values += container.values()
            elif isinstance(container, list):
                values += container
        if any(type(value) is int and not -(2**63) <= value < 2**64 for value in values):
            raise ValueError(TOO_LONG)
        level = [value for value in values if isinstance(value, dict | list)]
        if not level:
            return
    raise ValueError(TOO_DEEP)
