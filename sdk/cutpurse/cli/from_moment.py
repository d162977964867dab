"""The options --from and --at: play on from a moment of a recorded match, for `play` and `compare`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_message
from cutpurse.wire.text import format_count

if TYPE_CHECKING:
    from cutpurse.lab.moment import RecordedMoment
    from cutpurse.sdk.local import LocalRun

__all__ = [
    "At",
    "FromRecord",
    "IsTrue",
    "OfMatch",
    "check_seats",
    "moment_as_json",
    "moment_at",
    "moment_line",
    "print_cost",
    "without_game",
]

FromRecord: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="FILE|MATCH", help="Play on from a decision of this record; GAME may then be left out."
    ),
]
At: TypeAlias = Annotated[int | None, typer.Option("--at", metavar="D", help="With --from: number of the decision.")]
OfMatch: TypeAlias = Annotated[
    int, typer.Option("--match", metavar="N", help="With --from: match in the file, counted from 0.")
]
IsTrue: TypeAlias = Annotated[
    bool, typer.Option("--true", help="With --from: the cards as they lay, instead of imagined worlds.")
]
DECIMALS: Final = 4


def moment_at(
    source: str | None,
    at: int | None,
    match: int,
    is_true: bool,
    refused: Mapping[str, object],
    times: int | None = None,
) -> RecordedMoment | None:
    """Return the moment that the options name; None without --from.

    Args:
        source: File or match ID of --from.
        at: Decision of --at.
        match: Match of --match.
        is_true: Whether --true was given.
        refused: Options that have no meaning with --from; a true value says that one was given.
        times: Number of --times, of commands that have it.

    Raises:
        UsageError: If there is no such moment, the record is of other rules, or options contradict each other.
        NotFound: If there is no such file or match.
    """
    if source is None:
        if at is not None or match or is_true or times is not None:
            raise UsageError("--at, --match, --true and --times are for a record to play on from: name it, --from FILE")
        return None
    if at is None:
        raise UsageError("--from needs --at D, the decision; `cutpurse match replay` numbers them")
    if given := [name for name, value in refused.items() if value]:
        raise UsageError(f"{given[0]} has no meaning with --from: seats and settings are those of the record")
    from cutpurse.cli.match_source import match_in, matches_of, record_of
    from cutpurse.lab.moment import moment_of

    filed = match_in(source, matches_of(source, None, None, None), match)
    return moment_of(record_of(source, filed), at, is_true)


def without_game(moment: RecordedMoment, words: Sequence[str | None]) -> list[str]:
    """Return the bots among the arguments: the game of the record may stand before them, or be left out."""
    bots = [word for word in words if word is not None]
    return bots[1:] if bots and bots[0] == moment.rules.words.game else bots


def check_seats(moment: RecordedMoment, bots: int) -> None:
    """Check that there is a bot for each seat of the record.  Raises UsageError."""
    if bots != len(moment.names):
        raise UsageError(f"the record has {len(moment.names)} seats, and not {bots}: name a bot for each, or none")


def print_cost(moment: RecordedMoment, what: str, number: int, jobs: int, trial: Callable[[], object]) -> None:
    """Play one trial, and print on stderr what all of them will take.

    Args:
        moment: The moment.
        what: Number and kind of the worlds: "200 worlds".
        number: Maximum number of trials.
        jobs: Number of processes.
        trial: Plays one.
    """
    began = perf_counter()
    trial()
    each_s = perf_counter() - began
    cost = f"{each_s:.3f} s each, about {number * each_s / max(1, jobs):,.1f} s for all"
    print_message(f"{moment.text()}: {what}; {cost} with {format_count(jobs, 'process', 'processes')}")


def moment_line(moment: RecordedMoment, played: LocalRun) -> str:
    """Describe how the seat that was asked fared."""
    mine = played.seats[moment.seat]
    low, high = mine.place_interval
    return f"{mine.bot} in seat {moment.seat}: mean place {mine.mean_place:.2f}, 95 % {low:.2f} to {high:.2f}"


def moment_as_json(moment: RecordedMoment, played: LocalRun) -> dict[str, object]:
    """Return the moment, and the mean place of the seat that was asked, for a JSON document."""
    low, high = (round(limit, DECIMALS) for limit in played.seats[moment.seat].place_interval)
    return {
        "from": {"at": moment.at, "seat": moment.seat, "is_true": moment.true is not None, "mean_place": [low, high]}
    }
