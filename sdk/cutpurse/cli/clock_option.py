"""The option --clock: the clock of a ladder for local matches, and what is printed about slow decisions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from cutpurse.cli.completion import complete_ladders
from cutpurse.engine.errors import CutpurseError, SettingsError, UsageError

if TYPE_CHECKING:
    from cutpurse.sdk.playing.match_clock import MatchClock, SlowDecision
    from cutpurse.v1 import ladder_pb2

__all__ = ["Clock", "clock_as_json", "read_clock", "slowest_lines"]

Clock: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--clock",
        metavar="TERMS",
        help="Clock that the bots play by: a ladder's name, FILE.toml or FILE.toml:LADDER, or BASE+BANK as 1s+10s.",
        autocompletion=complete_ladders,
    ),
]
SLOW: Final = 0.1  # share of the base time from which a decision is worth a line
_AMOUNT: Final = r"(\d{1,9}(?:\.\d{1,3})?)(ms|s|m)"
_TERMS: Final = re.compile(rf"{_AMOUNT}\+{_AMOUNT}", re.ASCII)
_MS: Final = {"ms": 1, "s": 1_000, "m": 60_000}
_FORMS: Final = "a ladder of the server, FILE.toml or FILE.toml:LADDER with ladders, or BASE+BANK as 1s+10s"


def read_clock(terms: str | None, server: str | None = None, ca: Path | None = None) -> MatchClock | None:
    """Return the clock that --clock names; None without the option.

    Args:
        terms: The value of the option.
        server: Server with the ladder. Default: as for other commands.
        ca: Certificates to trust.

    Raises:
        UsageError: If there is no such clock.
        NotFound: If there is no such file or ladder.
        CutpurseError: If the server cannot be asked.
    """
    if terms is None:
        return None
    from cutpurse.engine.clocks import TimeControl
    from cutpurse.sdk.playing.match_clock import MatchClock

    if terms_match := _TERMS.fullmatch(terms):
        base_ms, bank_ms = (round(float(terms_match[at]) * _MS[terms_match[at + 1]]) for at in (1, 3))
        try:
            return MatchClock(terms, TimeControl(base_ms, bank_ms))
        except SettingsError as problem:
            raise UsageError(f"--clock {terms}: {problem}") from None
    file, colon, name = terms.partition(".toml")
    if colon:
        ladder = _in_file(terms, Path(file + colon), name.removeprefix(":"))
    else:
        ladder = _on_server(terms, server, ca)
    from cutpurse.wire.ladder_clock import control_of

    try:
        return MatchClock(ladder.name, control_of(ladder))
    except SettingsError as problem:
        raise UsageError(f"--clock {terms}: {problem}") from None


def _in_file(terms: str, file: Path, name: str) -> ladder_pb2.LadderDefined:
    """Return a ladder of a file, which may be left unnamed if there is only one."""
    from cutpurse.cli.ladder_file import read_ladders

    ladders = {ladder.name: ladder for ladder in read_ladders(file)}
    if not name and len(ladders) == 1:
        return next(iter(ladders.values()))
    if name not in ladders:
        which = f"{file} has no ladder {name!r:.80}" if name else f"{file} has {len(ladders)} ladders"
        raise UsageError(f"--clock {terms}: {which}; name one of them: {file}:{f', {file}:'.join(ladders)}")
    return ladders[name]


def _on_server(terms: str, server: str | None, ca: Path | None) -> ladder_pb2.LadderDefined:
    from cutpurse.cli.league_options import ladder_named, open_league

    try:
        with open_league(server, ca, None) as league:
            return ladder_named(league, terms).defined
    except CutpurseError as problem:
        raise type(problem)(f"--clock {terms}: {problem}; a clock is {_FORMS}") from None


def clock_as_json(clock: MatchClock | None, slowest: Iterable[SlowDecision], names: Sequence[str]) -> dict[str, object]:
    """Return the clock and the slowest decisions for a JSON document; nothing without a clock."""
    if clock is None:
        return {}
    return {"clock": clock.as_json(), "slowest": [decision.as_json(names[decision.bot]) for decision in slowest]}


def slowest_lines(
    clock: MatchClock | None, slowest: Iterable[SlowDecision], names: Sequence[str], unit: str = "match"
) -> list[str]:
    """Describe the slowest decision of the slowest bot, and of each other that was slow; nothing without a clock."""
    if clock is None:
        return []
    ordered = sorted(slowest, reverse=True)
    listed = [
        decision
        for at, decision in enumerate(ordered)
        if not at or decision.seconds >= SLOW * clock.control.base_ms / 1_000
    ]
    return [decision.text(names[decision.bot], clock, unit) for decision in listed]
