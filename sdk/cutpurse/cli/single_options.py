"""Commands that refuse an option given twice, since only the last value would count, and list options under titles.

This module knows no command.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand

from cutpurse.engine.errors import UsageError

__all__ = ["SingleOptionsCommand"]


class SingleOptionsCommand(TyperCommand):
    """A command whose options may be given once each, except repeatable ones. A flag may be repeated."""

    def make_parser(self, ctx: Any) -> Any:
        """Return typer's parser, which then checks how often each option is given.  Parsing raises UsageError."""
        parser: Any = super().make_parser(ctx)  # Any: a method of it is replaced
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            given = list(args)
            values, rest, order = parse(args)
            if not ctx.resilient_parsing:  # of shell completion
                _check(order, given)
            return values, rest, order

        parser.parse_args = parse_once
        return parser

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options, those with a `rich_help_panel` under its title, and the others last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                title = "Arguments" if param.param_type_name == "argument" else "Options"
                sections.setdefault(getattr(param, "rich_help_panel", None) or title, []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _check(order: list[Any], words: list[str]) -> None:
    """Check the parameters of a command line, in which each stands as often as it is given.  Raises UsageError."""
    for param, count in Counter(order).items():
        if count < 2 or param.param_type_name != "option" or param.multiple:
            continue
        if not param.is_flag:
            raise UsageError(f"{param.opts[0]} is given {_times(count)}; give it once")
        if not {*param.opts}.isdisjoint(words) and not {*param.secondary_opts}.isdisjoint(words):
            raise UsageError(f"{param.opts[0]} and {param.secondary_opts[0]}: name one of them")


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"
