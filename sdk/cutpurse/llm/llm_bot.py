"""A bot that asks a language model through a function of yours, so that no client library is needed here.

    def ask(messages):
        answer = client.chat(model="...", messages=messages)
        return Reply(answer.text, answer.input_tokens, answer.output_tokens)

    class Bot(LlmBot):
        def __init__(self) -> None:
            super().__init__(ask, budget=BUDGET)

Each decision is a prompt of its own: the rules, the model's last decisions, and what its seat sees. An answer that
cannot be used is sent back with what is wrong; after that the safe option is taken, and counted. This module knows no
provider and no server.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from inspect import iscoroutinefunction
from time import monotonic
from typing import Any, Final, TypeAlias

from cutpurse.engine.errors import UsageError
from cutpurse.llm.budget import Budget, Usage
from cutpurse.llm.decision_text import NAMES, decision_text, rules_text
from cutpurse.llm.model_answer import FORM, FallbackCause, ModelAnswer, read_answer
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision
from cutpurse.wire.text import printable

__all__ = ["CUT_OFF", "Call", "LlmBot", "Messages", "Outage", "Reply"]

CUT_OFF: Final = ("length", "max_tokens")  # values of `Reply.finish` that mean a reply was cut off
DECISIONS_SHOWN: Final = 10  # own last decisions in a prompt
MARGIN_S: Final = 0.25  # time before the end of the clock in which the safe option is sent
OUTAGE_MOST_S: Final = 300.0  # longest wait for a provider in a decision without a clock
BACKOFF_S: Final = (1.0, 30.0)  # first and longest wait after an outage
ECHO_MOST: Final = 2_000  # characters of an unusable reply that are sent back
LAST_COUNTS: Final = (
    'NUMBER is an option of the last message. Only the last JSON object with "option" in your reply counts.'
)
WHY_NOTED: Final = 80  # characters of a reason in a note: a match has room for about 16,000 bytes of notes

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
    """

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_micros: int = 0
    model: str = ""
    finish: str = "stop"


Call: TypeAlias = Callable[[Messages], "Reply | Awaitable[Reply]"]


class Outage(Exception):
    """Raised by your function if the provider cannot answer now, as with status 429 or 5xx: it is asked again."""

    def __init__(self, text: str = "", retry_after_s: float = 0.0) -> None:
        """Describe an outage.

        Args:
            text: What happened.
            retry_after_s: Least seconds to wait, if the provider says so. Else it is 1 s, doubled each time up to 30.
        """
        super().__init__(text)
        self.retry_after_s = retry_after_s


class LlmBot:
    """A bot for one match, which asks a language model. Make a subclass without arguments, or a function, for `play`.

    Attributes:
        usage: What the model has used in this match.
        model: Name of the model in its last reply.
    """

    def __init__(
        self,
        call: Call,
        *,
        retries: int = 2,
        budget: Budget | None = None,
        outages: tuple[type[Exception], ...] = (),
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """Create the bot of a match.

        Args:
            call: Asks the model; a function or coroutine function. A function runs in a thread of its own.
            retries: Calls after a first answer that cannot be used.
            budget: Limits. Default: none.
            outages: Your client's exceptions for 429, 5xx and time-outs, besides `Outage`, `TimeoutError` and
                `ConnectionError`. The bot waits and asks again. Any other exception is a fault of the bot.
            pause: Waits for some seconds.
            clock: Returns the time in seconds.

        Raises:
            UsageError: If `retries` is negative.
        """
        if retries < 0:
            raise UsageError(f"{retries} retries: it is a number of 0 or more")
        self.call = call
        self.retries = retries
        self.budget = budget or Budget()
        self.usage = Usage()
        self.model = ""
        self._outages: tuple[type[Exception], ...] = (Outage, TimeoutError, ConnectionError, *outages)
        self._pause = pause
        self._clock = clock
        self._decided: deque[str] = deque(maxlen=DECISIONS_SHOWN)

    def start(self, match: MatchInfo) -> None:
        """Write the part of the prompts that stays the same in this match."""
        self._names = match.seats
        self._system = "\n\n".join(
            [
                "You play one seat of a card game against other players. Win it. These are its rules:",
                rules_text(match.game, match.settings),
                f"# How to answer\n\nThink as you like, then answer with one JSON object, {FORM}. {LAST_COUNTS}",
                NAMES,
            ]
        )

    async def choose(self, view: Any, decision: Decision) -> int:
        """Ask the model, and take the safe option if it gives no answer that can be used."""
        asked = _ModelDecision(self, decision)
        try:
            answer = await asked.answer(self._messages(view, decision))
        finally:
            used = asked.usage
            used.fallbacks = int(asked.fallback is not None)
            self.usage.add(used)
            self.budget.used_today().add(used)
            decision.report_usage(
                used.input_tokens, used.output_tokens, used.cost_micros, self.model, asked.fallback or ""
            )
        option = decision.safe.index if asked.fallback is not None else answer.option
        self._remember(decision, option, answer, asked)
        return option

    def _messages(self, view: Any, decision: Decision) -> Messages:
        text = decision_text(view, decision, self._names)
        if self._decided:
            text = "\n".join(["Your last decisions:", *self._decided, "", text])
        return [{"role": "system", "content": self._system}, {"role": "user", "content": text}]

    def _remember(self, decision: Decision, option: int, answer: ModelAnswer, asked: _ModelDecision) -> None:
        """Keep the decision for the next prompts, and note how the model came to it."""
        chosen = f"- {decision.text or decision.ask} You chose: {decision.options[option].text}"
        if asked.fallback is not None:
            chosen += " (taken for you: you gave no answer that could be used)"
        elif answer.why:
            chosen += f" Why: {answer.why}"
        self._decided.append(chosen)
        lines = [f"model: {asked.usage.text()}"]
        if asked.detail:
            lines.append(f"fallback: {asked.detail}")
        if asked.fallback is None and answer.why:
            lines.append(f"why: {answer.why[:WHY_NOTED]}")
        decision.note("\n".join(lines))


class _ModelDecision:
    """One decision that a model is asked: its calls, its use and, if it fails, the cause."""

    def __init__(self, bot: LlmBot, decision: Decision) -> None:
        self.bot = bot
        self.decision = decision
        self.usage = Usage()
        self.fallback: FallbackCause | None = None
        self.detail = ""  # more about the fallback
        self._before = Usage()  # of the match before this decision
        self._before.add(bot.usage)

    async def answer(self, messages: Messages) -> ModelAnswer:
        """Return the first answer that can be used; else set `fallback`."""
        answer = ModelAnswer()
        for attempt in range(self.bot.retries + 1):
            reply = await self._reply(messages)
            if reply is None:
                return answer
            self.usage.retries += attempt > 0
            answer = read_answer(reply.text, reply.finish in CUT_OFF, self.decision.count)
            if answer.cause is None:
                return answer
            sent = reply.text[-ECHO_MOST:].strip() or "(nothing)"
            messages = [
                *messages,
                {"role": "assistant", "content": sent},
                {"role": "user", "content": answer.problem},
            ]
        self.fallback = answer.cause
        return answer

    async def _reply(self, messages: Messages) -> Reply | None:
        """Call the model, also after outages; return None and set `fallback` if it must not or cannot be called."""
        began, before, pause_s = self.bot._clock(), self.usage.seconds, BACKOFF_S[0]
        while True:
            if text := self._used_up():
                self._fall_back(FallbackCause.BUDGET, text)
                return None
            left_s = self._seconds_left()
            if left_s <= 0:
                self._fall_back(FallbackCause.TIME)
                return None
            self.usage.calls += 1
            try:
                reply = await _within(left_s, self.bot.call, messages)
            except self.bot._outages as outage:
                self.usage.seconds = before + self.bot._clock() - began
                wait_s = _wait_of(outage, pause_s)
                if wait_s >= min(self._seconds_left(), OUTAGE_MOST_S + began - self.bot._clock()):
                    self._fall_back(FallbackCause.OUTAGE, type(outage).__name__)
                    return None
                await self.bot._pause(wait_s)
                pause_s = min(2 * pause_s, BACKOFF_S[1])
                continue
            finally:
                self.usage.seconds = before + self.bot._clock() - began
            if reply is None:
                self._fall_back(FallbackCause.TIME)
                return None
            self.usage.input_tokens += reply.input_tokens
            self.usage.output_tokens += reply.output_tokens
            self.usage.reasoning_tokens += reply.reasoning_tokens
            self.usage.cost_micros += reply.cost_micros
            self.bot.model = reply.model or self.bot.model
            return reply

    def _fall_back(self, cause: FallbackCause, detail: str = "") -> None:
        self.fallback, self.detail = cause, printable(detail)

    def _match(self) -> Usage:
        """Return the use of the match, this decision included."""
        usage = Usage()
        usage.add(self._before)
        usage.add(self.usage)
        return usage

    def _used_up(self) -> str:
        return self.bot.budget.used_up(self.usage, self._match())

    def _seconds_left(self) -> float:
        """Return the seconds that the clock of the match and the budget leave."""
        clock = max(0.0, self.decision.base_left_s) + self.decision.bank_left_s - MARGIN_S
        return min(clock, self.bot.budget.seconds_left(self.usage, self._match()))


def _wait_of(outage: Exception, pause_s: float) -> float:
    """Return the seconds until the next attempt: `pause_s`, or longer if the provider has said so."""
    return max(pause_s, outage.retry_after_s) if isinstance(outage, Outage) else pause_s


async def _within(seconds: float, call: Call, messages: Messages) -> Reply | None:
    """Return the model's reply; None if it takes longer.  Raises what the call raises, and UsageError for no Reply."""
    is_coroutine = iscoroutinefunction(call) or iscoroutinefunction(getattr(call, "__call__", None))  # noqa: B004
    task = asyncio.ensure_future(_outcome(call, messages) if is_coroutine else _outcome(_in_thread, call, messages))
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


async def _in_thread(call: Call, messages: Messages) -> Any:
    """Call a function in a thread; unlike those of a pool, it never keeps the process from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def finish(value: Any, problem: BaseException | None) -> None:
        if not done.done():
            done.set_result((value, problem))

    def work() -> None:
        value: Any = None
        problem: BaseException | None = None
        try:
            value = call(messages)
        except BaseException as raised:
            problem = raised
        with suppress(RuntimeError):  # the loop is closed, so no result is needed
            loop.call_soon_threadsafe(finish, value, problem)

    threading.Thread(target=work, name="model", daemon=True).start()
    value, problem = await done
    if problem is not None:
        raise problem
    return value
