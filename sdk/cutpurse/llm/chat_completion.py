"""The reply in a response of the chat completions protocol, as servers of many makers send it.

Only the reply itself must be there. Every other field may be missing, null or of any type. This module knows no
network.
"""

from __future__ import annotations

import json
from typing import Any

from cutpurse.llm.model_call import Outage, Reply
from cutpurse.wire.text import printable

__all__ = ["read_completion"]


def read_completion(body: bytes) -> Reply:
    """Read the body of a response.

    Args:
        body: What the server sent with status 200.

    Raises:
        Outage: If it is no chat completion: empty, cut off, a page of a proxy, or an error of the provider.
    """
    text = body.decode("utf-8-sig", "replace")
    try:
        completion = _Field(json.loads(text, strict=False))
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, or values nested too deeply
        completion = _Field(None)
    choice = completion["choices"][0]
    if not isinstance(choice.value, dict):
        raise Outage(f"no chat completion: {printable(text, 100) or 'an empty response'}")
    usage = completion["usage"]
    return Reply(
        _content(choice["message"]["content"].value) or _content(choice["text"].value),
        usage["prompt_tokens"].value,
        usage["completion_tokens"].value,
        usage["completion_tokens_details"]["reasoning_tokens"].value,
        model=completion["model"].value,
        finish=choice["finish_reason"].value,
    )


class _Field:
    """A value of JSON in which every key and index leads somewhere: to None where there is nothing."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __getitem__(self, key: str | int) -> _Field:
        try:
            return _Field(self.value[key])
        except (LookupError, TypeError):
            return _Field(None)


def _content(content: Any) -> str:
    """Return the text of a message, which some servers send in parts."""
    parts = [_Field(part)["text"].value for part in content] if isinstance(content, list) else [content]
    return "".join(part for part in parts if isinstance(part, str))
