"""What a bot reports that it used for a decision, such as the tokens of a language model: its bounds, and its text.

A report is the bot's own claim. Strangers read it once the match is over, so a model's name has few characters. This
module knows no match and no message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = [
    "FALLBACKS",
    "MODEL_MOST",
    "MOST_COST_MICROS",
    "MOST_TOKENS",
    "ReportedUsage",
    "clean_model",
    "fallback_of",
    "format_dollars",
    "format_usage",
    "usage_problem",
]

MOST_TOKENS: Final = 1_000_000_000  # of a decision
MOST_COST_MICROS: Final = 1_000_000_000_000  # of a decision: a million dollars
MODEL_MOST: Final = 64  # characters of a model's name
# The names of the protocol's `Fallback` by number; the first is empty: the model chose.
FALLBACKS: Final = ("", "other", "unreadable", "truncated", "illegal", "outage", "time", "budget", "left")
_UNCLEAN: Final = re.compile(r"[^A-Za-z0-9 ._:/@+-]")


@dataclass(frozen=True, slots=True)
class ReportedUsage:
    """What a bot used for one decision.

    Attributes:
        input_tokens: Tokens that the model read.
        output_tokens: Tokens that it wrote, reasoning included.
        cost_micros: Cost in millionths of a US dollar.
        model: Name of the model; characters other than `A-Za-z0-9 ._:/@+-` become "?".
        fallback: Why the model did not choose the option: one of `FALLBACKS`, empty if it did.

    Raises:
        UsageError: If a number or `fallback` is out of bounds.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    model: str = ""
    fallback: str = ""

    def __post_init__(self) -> None:
        if problem := usage_problem(self.input_tokens, self.output_tokens, self.cost_micros):
            raise UsageError(problem)
        if self.fallback not in FALLBACKS:
            raise UsageError(f"no fallback is called {self.fallback!r:.60}; there are: {', '.join(FALLBACKS[1:])}")
        object.__setattr__(self, "model", clean_model(str(self.model)))

    def __add__(self, other: ReportedUsage) -> ReportedUsage:
        """Return both together; model and fallback are those of `other`, unless it has none."""
        return ReportedUsage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_micros + other.cost_micros,
            other.model or self.model,
            other.fallback or self.fallback,
        )

    def text(self) -> str:
        """Format it in one line."""
        return format_usage(self.input_tokens, self.output_tokens, self.cost_micros, self.model, self.fallback)


def usage_problem(input_tokens: int, output_tokens: int, cost_micros: int) -> str:
    """Explain which number is out of bounds; return an empty text if none is."""
    for name, value, most in (
        ("input_tokens", input_tokens, MOST_TOKENS),
        ("output_tokens", output_tokens, MOST_TOKENS),
        ("cost_micros", cost_micros, MOST_COST_MICROS),
    ):
        if type(value) is not int or not 0 <= value <= most:
            return f"{name} of a usage is {value!r:.40}; it is a whole number from 0 to {most:,}"
    return ""


def clean_model(name: str) -> str:
    """Return the name of a model with harmless characters only, at most `MODEL_MOST`."""
    return _UNCLEAN.sub("?", name[:MODEL_MOST]).strip()


def fallback_of(number: int) -> str:
    """Return the name of a protocol's `Fallback`; "other" for an unknown number."""
    return FALLBACKS[number] if 0 <= number < len(FALLBACKS) else "other"


def format_dollars(micros: float) -> str:
    """Format millionths of a US dollar: "$0.00031", "$1.50"; two decimals at least."""
    text = f"{micros / 1_000_000:,.6f}"
    return f"${text[:-4]}{text[-4:].rstrip('0')}"


def format_usage(input_tokens: int, output_tokens: int, cost_micros: int, model: str = "", fallback: str = "") -> str:
    """Format a usage in one line: "2,704+61 tokens, $0.00031, llama3.2, fallback: outage"."""
    parts = [f"{input_tokens:,}+{output_tokens:,} tokens"]
    parts += [format_dollars(cost_micros)] if cost_micros else []
    parts += [model] if model else []
    parts += [f"fallback: {fallback}"] if fallback else []
    return ", ".join(parts)
