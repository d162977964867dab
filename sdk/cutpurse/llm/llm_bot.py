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
import sys
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Any, Final
from weakref import WeakKeyDictionary

from cutpurse.engine.errors import UsageError
from cutpurse.llm.budget import Budget, Charge, Usage, estimate_tokens
from cutpurse.llm.decision_text import NAMES, decision_text, rules_text
from cutpurse.llm.model_answer import FORM, FallbackCause, ModelAnswer, read_answer
from cutpurse.llm.model_call import Call, Messages, Outage, Reply, call_within
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision
from cutpurse.wire.text import printable
from cutpurse.wire.usage import MOST_COST_MICROS, MOST_TOKENS

__all__ = ["CUT_OFF", "LlmBot"]

CUT_OFF: Final = ("length", "max_tokens")  # values of `Reply.finish` that mean a reply was cut off
DECISIONS_SHOWN: Final = 10  # own last decisions in a prompt
MARGIN_S: Final = 0.25  # time before the end of the clock in which the safe option is sent
OUTAGE_MOST_S: Final = 300.0  # longest wait for a provider in a decision
LOCAL_OUTAGE_S: Final = 10.0  # the same where no clock runs, if the provider asks for no wait: somebody is watching
BACKOFF_S: Final = (1.0, 30.0)  # first and longest wait after an outage
CUT_OFFS_MOST: Final = 3  # calls in a row that the clock cuts off before the model is asked no more in a match
ECHO_MOST: Final = 2_000  # characters of an unusable reply that are sent back
LAST_COUNTS: Final = (
    'NUMBER is an option of the last message. Only the last JSON object with "option" in your reply counts.'
)
WHY_NOTED: Final = 80  # characters of a reason in a note: a match has room for about 16,000 bytes of notes


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
        self._provider = _Provider.of(call)
        self._cut_offs = 0  # calls in a row

    def start(self, match: MatchInfo) -> None:
        """Write the part of the prompts that stays the same in this match."""
        self._names = match.seats
        self._name = match.seats[match.seat]
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
        model_decision = _ModelDecision(self, decision)
        try:
            answer = await model_decision.answer(self._messages(view, decision))
        finally:
            used = model_decision.usage
            decision.report_usage(
                min(used.input_tokens, MOST_TOKENS),
                min(used.output_tokens, MOST_TOKENS),
                min(used.cost_micros, MOST_COST_MICROS),
                self.model,
                model_decision.fallback or "",
            )
        option = decision.safe.index if model_decision.fallback is not None else answer.option
        self._remember(decision, option, answer, model_decision)
        return option

    def _messages(self, view: Any, decision: Decision) -> Messages:
        text = decision_text(view, decision, self._names)
        if self._decided:
            text = "\n".join(["Your last decisions:", *self._decided, "", text])
        return [{"role": "system", "content": self._system}, {"role": "user", "content": text}]

    def _remember(self, decision: Decision, option: int, answer: ModelAnswer, model_decision: _ModelDecision) -> None:
        """Keep the decision for the next prompts, and note how the model came to it."""
        chosen = f"- {decision.text or decision.ask} You chose: {decision.options[option].text}"
        if model_decision.fallback is not None:
            chosen += " (taken for you: you gave no answer that could be used)"
        elif answer.why:
            chosen += f" Why: {answer.why}"
        self._decided.append(chosen)
        lines = [f"model: {model_decision.usage.text()}"]
        if model_decision.detail:
            lines.append(f"fallback: {model_decision.detail}")
        if model_decision.fallback is None and answer.why:
            lines.append(f"why: {answer.why[:WHY_NOTED]}")
        decision.note("\n".join(lines))


@dataclass(slots=True)
class _Provider:
    """Whether the model that a function asks has answered lately; common to all matches with this function."""

    down_since: float | None = None  # when the first call since its last reply began that was an outage
    asked_again_at: float = -math.inf  # without a clock, it is not asked before

    @staticmethod
    def of(call: Call) -> _Provider:
        """Return what is known of a function; nothing, if it cannot be recognised in the next match."""
        try:
            return _PROVIDERS.setdefault(call, _Provider())
        except TypeError:  # it cannot be hashed, or not be referred to weakly
            return _Provider()


_PROVIDERS: Final[WeakKeyDictionary[Call, _Provider]] = WeakKeyDictionary()


class _ModelDecision:
    """One decision that a model is asked: its calls, its use and, if it fails, the cause."""

    def __init__(self, bot: LlmBot, decision: Decision) -> None:
        self.bot = bot
        self.decision = decision
        self.usage = Usage()
        self.fallback: FallbackCause | None = None
        self.detail = ""  # more about the fallback
        self._has_clock = not math.isinf(decision.bank_left_s)

    async def answer(self, messages: Messages) -> ModelAnswer:
        """Return the first answer that can be used; else set `fallback`."""
        answer = ModelAnswer()
        for attempt in range(self.bot.retries + 1):
            reply = await self._reply(messages)
            if reply is None:
                return answer
            self._count(Usage(retries=int(attempt > 0)))
            answer = read_answer(reply.text, reply.finish in CUT_OFF, self.decision.count)
            if answer.cause is None:
                return answer
            sent = reply.text[-ECHO_MOST:].strip() or "(nothing)"
            messages = [
                *messages,
                {"role": "assistant", "content": sent},
                {"role": "user", "content": answer.problem},
            ]
        self._fall_back(answer.cause)
        return answer

    async def _reply(self, messages: Messages) -> Reply | None:
        """Call the model, also after outages; return None and set `fallback` if it must not or cannot be called."""
        bot, began, pause_s = self.bot, self.bot._clock(), BACKOFF_S[0]
        if self._is_hopeless():
            return None
        while (reserved := await self._reserve(messages)) is not None:
            charge, left_s = reserved
            called = bot._clock()
            reply = outage = None
            try:
                reply = await call_within(left_s, bot.call, messages, partial(_count_reply, charge, messages))
            except bot._outages as problem:
                outage = problem
            finally:
                if reply is None:
                    charge.end(bot._clock() - called, has_failed=outage is not None)
            if reply is not None:
                _count_reply(charge, messages, reply, bot._clock() - called)
                bot._cut_offs, bot._provider.down_since = 0, None
                bot.model = reply.model or bot.model
                return reply
            if outage is None:
                self._cut_off()
                return None
            if not await self._wait(outage, pause_s, began, called):
                return None
            pause_s = min(2 * pause_s, BACKOFF_S[1])
        return None

    def _is_hopeless(self) -> bool:
        """Return whether the model is not worth a call now; then set `fallback`."""
        if self.bot._cut_offs >= CUT_OFFS_MOST:
            self._fall_back(FallbackCause.TIME, f"{CUT_OFFS_MOST} calls in a row were cut off")
        elif not self._has_clock and self.bot._clock() < self.bot._provider.asked_again_at:
            self._fall_back(FallbackCause.OUTAGE, "the model did not answer shortly before")
        return self.fallback is not None

    async def _reserve(self, messages: Messages) -> tuple[Charge, float] | None:
        """Reserve a call, and return its charge and the most seconds that it may take; else set `fallback`."""
        budget, usage, match = self.bot.budget, self.usage, self.bot.usage
        room = asyncio.Event()
        wake = partial(asyncio.get_running_loop().call_soon_threadsafe, room.set)
        while (clock_s := self._clock_s()) > 0:
            room.clear()
            left_s = min(clock_s, budget.seconds_left(usage, match))
            charge = budget.reserve(usage, match, _characters(messages), left_s, wake)
            if isinstance(charge, Charge):
                return charge, left_s
            if charge:
                self._fall_back(FallbackCause.BUDGET, charge)
                return None
            with suppress(TimeoutError):
                await asyncio.wait_for(room.wait(), None if math.isinf(clock_s) else clock_s)
        self._fall_back(FallbackCause.TIME)
        return None

    async def _wait(self, outage: Exception, pause_s: float, began: float, called: float) -> bool:
        """Wait after an outage, and return whether to call again; else set `fallback`.

        Args:
            outage: What the function raised.
            pause_s: Seconds to wait, unless the provider asks for more.
            began: When the first call began.
            called: When the last call began.
        """
        bot, provider, now = self.bot, self.bot._provider, self.bot._clock()
        if provider.down_since is None:
            provider.down_since = called
            again = "while the clock allows" if self._has_clock else f"for {LOCAL_OUTAGE_S:.0f} s"
            what = printable(f"{outage}") or type(outage).__name__
            self._print(f"no answer from the model ({what}); asked again {again}, then safe options")
        asked_s = outage.retry_after_s if isinstance(outage, Outage) else 0.0
        wait_s = max(pause_s, asked_s)
        left_s = min(self._clock_s(), bot.budget.seconds_left(self.usage, bot.usage), began + OUTAGE_MOST_S - now)
        if not self._has_clock and not asked_s:
            left_s = min(left_s, provider.down_since + LOCAL_OUTAGE_S - now)
        if wait_s >= left_s:
            provider.asked_again_at = now + BACKOFF_S[1]
            self._fall_back(FallbackCause.OUTAGE, type(outage).__name__)
            return False
        await bot._pause(wait_s)
        self._count(Usage(seconds=bot._clock() - now))
        return True

    def _cut_off(self) -> None:
        """Take the safe option after a call that took too long."""
        self.bot._cut_offs += 1
        if self.bot._cut_offs == CUT_OFFS_MOST:
            self._print(f"{CUT_OFFS_MOST} calls of the model in a row took too long: safe options until the match ends")
        self._fall_back(FallbackCause.TIME)

    def _fall_back(self, cause: FallbackCause | None, detail: str = "") -> None:
        self.fallback, self.detail = cause, printable(detail)
        self._count(Usage(fallbacks=1))

    def _print(self, text: str) -> None:
        """Print a line at once for the bot's owner; notes are read later."""
        with suppress(OSError):  # stderr is closed
            sys.stderr.write(f"{self.bot._name}: {text}\n")
            sys.stderr.flush()

    def _count(self, used: Usage) -> None:
        self.bot.budget.count(self.usage, self.bot.usage, used)

    def _clock_s(self) -> float:
        """Return the seconds that the clock of the match leaves."""
        return max(0.0, self.decision.base_left_s) + self.decision.bank_left_s - MARGIN_S


def _characters(messages: Messages) -> int:
    return sum(len(message["content"]) for message in messages)


def _count_reply(charge: Charge, messages: Messages, reply: Reply, seconds: float | None = None) -> None:
    """Count the use of a reply; `seconds` is None for one that comes too late, whose time is counted."""
    used = Usage(
        reply.input_tokens or estimate_tokens(_characters(messages)),
        reply.output_tokens or estimate_tokens(len(reply.text)),
        reply.reasoning_tokens,
        reply.cost_micros,
        charge.counted.seconds if seconds is None else seconds,
        calls=1,
    )
    charge.reply(used)
