"""Events as arguments or a TOML file describe them: tournaments, series of seasons and version tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cutpurse.cli.league_options import count
from cutpurse.cli.season_file import read_season
from cutpurse.engine.errors import UsageError
from cutpurse.lab.tournament.tournament_file import SERVER_FORMATS, ServerTournament, read_server_tournament
from cutpurse.v1 import event_pb2
from cutpurse.wire.league import bot_name
from cutpurse.wire.toml_file import read_toml

__all__ = ["FORMATS", "DescribedEvent", "described_event", "event_of_file"]

TEST: Final = "test"
FORMATS: Final = (*SERVER_FORMATS, TEST)


@dataclass(frozen=True, slots=True)
class DescribedEvent:
    """An event to plan or start.

    Attributes:
        request: What it is to be.
        rules: Game, seats and settings that a file states, which its ladder must have; empty if it states none.
    """

    request: event_pb2.EventRequest
    rules: Mapping[str, Any] = field(default_factory=dict)


def event_of_file(file: Path) -> DescribedEvent:
    """Return the event that a file describes: seasons, if it has divisions, else a tournament.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it describes no event.
    """
    if "division" in read_toml(file, f"no file {file} with an event"):
        return DescribedEvent(event_pb2.EventRequest(season=read_season(file)))
    return _tournament(read_server_tournament(file))


def described_event(
    ladder: str, bots: Sequence[str], top: int | None, form: str | None, best_of: int | None, max_boards: int | None
) -> DescribedEvent:
    """Return the event that arguments describe.  Raises UsageError."""
    form = form or FORMATS[0]
    if form not in FORMATS:
        raise UsageError(f"--format {form!r:.40}: it is one of: {', '.join(FORMATS)}")
    if form == TEST:
        if len(bots) != 2 or top is not None or best_of is not None:
            raise UsageError("a test compares two versions: name the ladder, the new version and the old one")
        new, old = map(bot_name, bots)
        boards = count("--max-boards", max_boards)
        test = event_pb2.VersionTestRequest(ladder=ladder, new=new, old=old, max_boards=boards)
        return DescribedEvent(event_pb2.EventRequest(test=test))
    if max_boards is not None:
        raise UsageError("--max-boards is for --format test; a tournament has --best-of")
    if bool(bots) == (top is not None):
        raise UsageError("name bots, or how many of the best with --top N: one of them")
    best_of, top = count("--best-of", best_of) or 1, count("--top", top)
    return _tournament(ServerTournament(ladder, form, best_of, tuple(bots), top))


def _tournament(described: ServerTournament) -> DescribedEvent:
    tournament = event_pb2.TournamentRequest(
        ladder=described.ladder,
        format=event_pb2.TournamentFormat.Value(f"TOURNAMENT_FORMAT_{described.form.upper()}"),
        best_of=described.best_of,
        bots=[bot_name(bot) for bot in described.bots],
        top=described.top,
    )
    return DescribedEvent(event_pb2.EventRequest(tournament=tournament), described.rules)
