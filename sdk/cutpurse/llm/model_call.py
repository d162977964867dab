"""One call of a language model: the function that asks it, its reply, and how long it may take.

This module knows no provider, no match and no budget.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any, TypeAlias

from cutpurse.engine.errors import UsageError
from cutpurse.wire.usage import MOST_COST_MICROS, MOST_TOKENS

__all__ = ["Call", "Messages", "Outage", "Reply", "call_within"]

Messages: TypeAlias = "list[dict[str, str]]"  # role (system, user or assistant) and content


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model has replied, and what it used.

    Attributes:
        text: The reply, without reasoning.
        input_tokens: Tokens of the prompt.
        output_tokens: Tokens of the reply, reasoning included.
        reasoning_tokens: Those of the output tokens that were reasoning.
        cost_micros: Cost in millionths of a US dollar.
        model: Name of the model, for the ladder's pages.
        finish: The provider's word for why the reply ended; "length" or "max_tokens" means it was cut off.

    A provider may leave out or garble what it reports: a value of a wrong type counts as 0 or as an empty text. Where
    tokens are 0, they are estimated from the length of the texts.
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_micros: int = 0
    model: str = ""
    finish: str = "stop"

    def __post_init__(self) -> None:
        for name in ("text", "model", "finish"):
            text = getattr(self, name)
            clean = text.encode("utf-8", "replace").decode() if isinstance(text, str) else ""  # lone surrogates
            object.__setattr__(self, name, clean)
        for name in ("input_tokens", "output_tokens", "reasoning_tokens", "cost_micros"):
            most = MOST_COST_MICROS if name == "cost_micros" else MOST_TOKENS
            object.__setattr__(self, name, int(min(_number(getattr(self, name)), most)))


Call: TypeAlias = Callable[[Messages], "Reply | Awaitable[Reply]"]


class Outage(Exception):
    """Raised by your function if the provider cannot answer now, as with status 429 or 5xx: it is asked again."""

    def __init__(self, text: str = "", retry_after_s: float | str | None = None) -> None:
        """Describe an outage.

        Args:
            text: What happened.
            retry_after_s: Least seconds to wait, if the provider says so, as in its header `Retry-After`; a date or
                anything else that is no number counts as none. Else it is 1 s, doubled each time up to 30.
        """
        super().__init__(text)
        self.retry_after_s = _number(retry_after_s)


def _number(value: object) -> float:
    """Return a foreign value that is a number of 0 or more, or the text of one; else 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return 0.0
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return 0.0
    return number if math.isfinite(number) and number > 0 else 0.0


async def call_within(
    seconds: float, call: Call, messages: Messages, count_late: Callable[[Reply], None]
) -> Reply | None:
    """Return the model's reply; None if it takes longer.

    A coroutine is cancelled then. A function cannot be ended: `count_late` gets its reply, in any thread.

    Raises:
        BaseException: What the call raises.
        UsageError: If it returns no reply.
    """
    is_coroutine = iscoroutinefunction(call) or iscoroutinefunction(getattr(call, "__call__", None))  # noqa: B004
    arguments = (call, messages) if is_coroutine else (_in_thread, call, messages, count_late)
    task = asyncio.ensure_future(_outcome(*arguments))
    try:
        await asyncio.wait([task], timeout=None if math.isinf(seconds) else seconds)
    finally:
        task.cancel()
    if not task.done() or task.cancelled():
        return None
    reply, problem = task.result()
    if problem is not None:
        raise problem
    if not isinstance(reply, Reply):
        raise UsageError(f"the function that asks the model returned {reply!r:.60}; it returns a cutpurse.llm.Reply")
    return reply


async def _outcome(call: Callable[..., Any], *arguments: Any) -> tuple[Any, BaseException | None]:
    """Return what a call returns or raises. A SystemExit that got out of a task would end the loop of other bots."""
    try:
        reply = await call(*arguments)
        return await reply if hasattr(reply, "__await__") else reply, None
    except asyncio.CancelledError:
        raise
    except BaseException as problem:
        return None, problem


async def _in_thread(call: Call, messages: Messages, count_late: Callable[[Reply], None]) -> Any:
    """Call a function in a thread; unlike those of a pool, it never keeps the process from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def finish(value: Any, problem: BaseException | None) -> None:
        if not done.done():
            done.set_result((value, problem))
        elif isinstance(value, Reply):
            count_late(value)

    def work() -> None:
        value: Any = None
        problem: BaseException | None = None
        try:
            value = call(messages)
        except BaseException as raised:
            problem = raised
        try:
            loop.call_soon_threadsafe(finish, value, problem)
        except RuntimeError:  # the loop is closed, so nobody waits for a result
            if isinstance(value, Reply):
                count_late(value)

    threading.Thread(target=work, name="model", daemon=True).start()
    value, problem = await done
    if problem is not None:
        raise problem
    return value
