"""`cutpurse ladder create`, `change` and `delete`: the administration of ladders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from cutpurse.cli.arguments import AsJson, Seats, Setting, parse_settings
from cutpurse.cli.class_file import read_class
from cutpurse.cli.commands.ladder import BOARDS, Ladder, ladder_row
from cutpurse.cli.completion import complete_bot_lists, complete_games
from cutpurse.cli.league_options import Authority, Server, Written, count, ladder_named, local_time, open_league
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_json, print_message
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2

__all__ = ["change", "create", "delete"]

Owners: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--owner", metavar="OWNER", help="Owner whose bots may play (repeatable). [default: every owner]"),
]
ClassFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--class", metavar="FILE", help="Class file (CSV) whose owners may play, besides each --owner."),
]
MaxBots: TypeAlias = Annotated[
    int | None, typer.Option("--max-bots", metavar="N", help="Maximum simultaneous bots. [default: no limit]")
]
MaxPerOwner: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--max-per-owner", metavar="N", help="Maximum simultaneous bots per owner; 0 means no limit. [default: 0]"
    ),
]
PauseFailed: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--pause-failed",
        metavar="N",
        help="Pause a version after N takeovers in its last rated matches; 0 means never. [default: 3]",
    ),
]
PauseWindow: TypeAlias = Annotated[
    int | None,
    typer.Option("--pause-window", metavar="N", help="Number of rated matches for --pause-failed. [default: 8]"),
]
OnOutage: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--on-outage",
        metavar="WHAT",
        help="When a bot's language model is down: void the match, or play the safe option. [default: play]",
    ),
]
House: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--house",
        metavar="BOTS",
        help="House bots that fill empty seats, such as random,greedy (repeatable), of those that the server runs: see "
        "`cutpurse serve --house`. [default: none]",
        autocompletion=complete_bot_lists,
    ),
]

HiddenUntil: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--results-hidden-until",
        metavar="DATE",
        help="Show results only to hosts until this time, such as 2027-01-31T18:00, in UTC. [default: shown]",
    ),
]

NamesHiddenUntil: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--names-hidden-until",
        metavar="DATE",
        help="Show which bot plays in which seat, and so the results, only to hosts until this time, such as "
        "2027-01-31T18:00, in UTC. [default: shown]",
    ),
]

MemoryKib: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--memory-kib",
        metavar="KIB",
        help="Size of the folder that a submitted bot keeps from match to match, at most 1,024; 0 means none. "
        "[default: 0]",
    ),
]

ReplaysHiddenUntil: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--replays-hidden-until",
        metavar="DATE",
        help="Show how a match goes only to hosts and the owners of its bots until this time, such as "
        "2027-01-31T18:00, in UTC. [default: shown]",
    ),
]

Title: TypeAlias = Annotated[
    str | None, typer.Option("--title", metavar="TEXT", help="What pages call the ladder. [default: its name]")
]

_TRIES: Final = 20  # attempts to change a ladder while others change it too


def create(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Name: 1 to 32 of a-z, 0-9, _, - and ., beginning with a letter or digit."),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME", help="Game of the ladder; required without --from.", autocompletion=complete_games
        ),
    ] = None,
    seats: Seats = None,
    setting: Setting = None,
    base_ms: Annotated[
        int | None, typer.Option(metavar="MS", help="Time per decision, in ms. [default: 1,000; with --people 90,000]")
    ] = None,
    bank_ms: Annotated[
        int | None,
        typer.Option(metavar="MS", help="Time bank per match, in ms. [default: 10,000; with --people 900,000]"),
    ] = None,
    grace_ms: Annotated[
        int | None,
        typer.Option(metavar="MS", help="Network allowance per decision, in ms. [default: 150; with --people 1,000]"),
    ] = None,
    poll_floor_ms: Annotated[
        int | None, typer.Option(metavar="MS", help="Minimum duration of a simultaneous decision, in ms. [default: 25]")
    ] = None,
    boards: Annotated[
        str | None, typer.Option(metavar="KIND", help=f"Kind of boards: {', '.join(BOARDS)}. [default: plain]")
    ] = None,
    hosted: Annotated[
        bool, typer.Option("--hosted", help="For submitted and house bots only; workers play the matches.")
    ] = False,
    title: Title = None,
    owner: Owners = None,
    class_file: ClassFile = None,
    max_bots: MaxBots = None,
    max_per_owner: MaxPerOwner = None,
    pause_failed: PauseFailed = None,
    pause_window: PauseWindow = None,
    on_outage: OnOutage = None,
    private: Annotated[bool, typer.Option("--private", help="Show results only to owners who may play.")] = False,
    results_hidden_until: HiddenUntil = None,
    names_hidden_until: NamesHiddenUntil = None,
    memory_kib: MemoryKib = None,
    replays_hidden_until: ReplaysHiddenUntil = None,
    people: Annotated[
        bool, typer.Option("--people", help="Let owners also play in person, on the page; they are rated.")
    ] = False,
    house: House = None,
    freeze: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Start no match after this time, such as 2027-01-31T18:00. [default: never]"),
    ] = None,
    of: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="TOML file with one [[ladder]] table per ladder; creates all or none."
        ),
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Written = None,
    as_json: AsJson = False,
) -> None:
    """Create a ladder, or all ladders of a file; a running server plays it at once. Needs an admin's token.

    With --class, all owners in the file of `cutpurse token create --from` may play.

    Example: cutpurse ladder create class-greed --game greed --seats 4 --class class.csv --private
    """
    from cutpurse.cli.ladder_file import board_kind, moment_ms, read_ladders, voids_outages
    from cutpurse.v1 import game_pb2, ladder_pb2

    if (name is None) == (of is None):
        raise UsageError("name one ladder, or a file of them with --from FILE")
    if of is not None:
        if class_file is not None:
            raise UsageError("--class is for one ladder; the ladders of --from FILE have owners = [...]")
        ladders = read_ladders(of)
    else:
        if game is None:
            raise UsageError("--game GAME: a ladder is of one game")
        clock = {"base_ms": base_ms, "bank_ms": bank_ms, "grace_ms": grace_ms, "poll_floor_ms": poll_floor_ms}
        given = {key: _not_negative(f"--{key.replace('_', '-')}", ms) for key, ms in clock.items() if ms is not None}
        ladders = [
            ladder_pb2.LadderDefined(
                name=name or "",
                game=game,
                seats=count("--seats", seats),
                settings=[
                    game_pb2.Setting(name=key, value=str(value)) for key, value in parse_settings(setting).items()
                ],
                clock=ladder_pb2.LadderClock(**given) if given else None,
                boards=board_kind(boards, "--boards") if boards is not None else ladder_pb2.BOARD_KIND_UNSPECIFIED,
                hosted=hosted,
                terms=ladder_pb2.LadderTerms(
                    owners=_named_owners(owner, class_file),
                    most_bots=count("--max-bots", max_bots),
                    private=private,
                    frozen_ms=moment_ms(freeze, "--freeze") if freeze else 0,
                    house=_one_by_one(house),
                    most_per_owner=_not_negative("--max-per-owner", max_per_owner or 0),
                    pause_failed=None if pause_failed is None else _not_negative("--pause-failed", pause_failed),
                    pause_window=None if pause_window is None else _not_negative("--pause-window", pause_window),
                    voids_outages=on_outage is not None and voids_outages(on_outage, "--on-outage"),
                    results_hidden_until_ms=_hidden_until_ms("results", results_hidden_until) or 0,
                    title=title or "",
                    people=people,
                    names_hidden_until_ms=_hidden_until_ms("names", names_hidden_until) or 0,
                    memory_kib=_not_negative("--memory-kib", memory_kib or 0),
                    replays_hidden_until_ms=_hidden_until_ms("replays", replays_hidden_until) or 0,
                ),
            )
        ]
    with open_league(server, ca, db) as league:
        answer = league.CreateLadder(ladder_pb2.CreateLadderRequest(ladder=ladders[0], more=ladders[1:]))
    _tell([answer.ladder, *answer.more], "made", as_json, answer.house_away, is_list=of is not None)


def _named_owners(owners: Sequence[str] | None, class_file: Path | None) -> list[str]:
    """Return the owners named one by one and those of a class, each once."""
    lines = [] if class_file is None else list(read_class(class_file))
    for line in lines:
        if not line.owner:
            raise UsageError(f"{class_file}, line {line.number}: it names no owner")
    return [*dict.fromkeys([*(owners or ()), *[line.owner for line in lines]])]


def _hidden_until_ms(what: str, until: str | None, are_shown: bool = False) -> int | None:
    """Return until when this is hidden, in ms since 1970; None if it is not given.  Raises UsageError."""
    from cutpurse.cli.ladder_file import moment_ms

    if until is not None and are_shown:
        raise UsageError(f"--{what}-hidden-until and --show-{what}: name one of them")
    if are_shown:
        return 0
    return None if until is None else moment_ms(until, f"--{what}-hidden-until", UTC)


def _one_by_one(named: Sequence[str] | None) -> list[str]:
    """Split comma-separated names, as `serve --house` does."""
    return [name for words in named or () for name in words.split(",") if name]


def change(
    ladder: Ladder,
    title: Title = None,
    owner: Owners = None,
    class_file: ClassFile = None,
    add_owner: Annotated[list[str] | None, typer.Option(metavar="OWNER", help="Owner to add (repeatable).")] = None,
    remove_owner: Annotated[
        list[str] | None, typer.Option(metavar="OWNER", help="Owner to remove (repeatable).")
    ] = None,
    any_owner: Annotated[bool, typer.Option("--any-owner", help="Allow bots of every owner.")] = False,
    max_bots: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum simultaneous bots; 0 means no limit.")
    ] = None,
    max_per_owner: MaxPerOwner = None,
    pause_failed: PauseFailed = None,
    pause_window: PauseWindow = None,
    on_outage: OnOutage = None,
    private: Annotated[
        bool | None,
        typer.Option("--private/--public", help="Show results only to owners who may play, or to everyone."),
    ] = None,
    results_hidden_until: HiddenUntil = None,
    show_results: Annotated[bool, typer.Option("--show-results", help="Hide results no longer.")] = False,
    names_hidden_until: NamesHiddenUntil = None,
    show_names: Annotated[bool, typer.Option("--show-names", help="Hide names no longer.")] = False,
    memory_kib: MemoryKib = None,
    replays_hidden_until: ReplaysHiddenUntil = None,
    show_replays: Annotated[bool, typer.Option("--show-replays", help="Hide replays no longer.")] = False,
    people: Annotated[
        bool | None,
        typer.Option("--people/--no-people", help="Let owners also play in person, on the page, or programs only."),
    ] = None,
    house: House = None,
    no_house: Annotated[bool, typer.Option("--no-house", help="Remove all house bots.")] = False,
    freeze: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Start no more matches: from now on, or from a time such as 2027-01-31T18:00 in this machine's time "
            "zone. Open matches end and are rated.",
        ),
    ] = None,
    unfreeze: Annotated[bool, typer.Option("--unfreeze", help="Start matches again.")] = False,
    server: Server = None,
    ca: Authority = None,
    db: Written = None,
    as_json: AsJson = False,
) -> None:
    """Change the title of a ladder, who may play on it, how many, who may see it, or freeze it. Needs an admin's token.

    Options that are not given change nothing. --owner and --class replace the list of owners.

    Example: cutpurse ladder change class-greed --add-owner ann --public

    Example: cutpurse ladder change class-greed --freeze now
    """
    from cutpurse.cli.ladder_file import voids_outages

    owner = _named_owners(owner, class_file)
    if sum(map(bool, (owner, any_owner, add_owner or remove_owner))) > 1:
        raise UsageError("--owner or --class, --any-owner, or --add-owner and --remove-owner: one of them")
    if house and no_house:
        raise UsageError("--house and --no-house: name one of them")
    frozen_ms = _frozen_ms(freeze, unfreeze)
    replaced = {
        "title": title,
        "most_bots": max_bots if max_bots is None else _not_negative("--max-bots", max_bots),
        "most_per_owner": max_per_owner if max_per_owner is None else _not_negative("--max-per-owner", max_per_owner),
        "pause_failed": pause_failed if pause_failed is None else _not_negative("--pause-failed", pause_failed),
        "pause_window": pause_window if pause_window is None else _not_negative("--pause-window", pause_window),
        "voids_outages": None if on_outage is None else voids_outages(on_outage, "--on-outage"),
        "private": private,
        "results_hidden_until_ms": _hidden_until_ms("results", results_hidden_until, show_results),
        "names_hidden_until_ms": _hidden_until_ms("names", names_hidden_until, show_names),
        "memory_kib": memory_kib if memory_kib is None else _not_negative("--memory-kib", memory_kib),
        "replays_hidden_until_ms": _hidden_until_ms("replays", replays_hidden_until, show_replays),
        "people": people,
        "frozen_ms": frozen_ms,
    }
    asked_for = (owner or None, add_owner, remove_owner, house, *replaced.values())
    if all(term is None for term in asked_for) and not (any_owner or no_house):
        raise UsageError(
            "nothing is to be changed; name --title, --owner, --class, --any-owner, --max-bots, --max-per-owner, "
            "--pause-failed, --pause-window, --on-outage, --private, --results-hidden-until, --show-results, "
            "--names-hidden-until, --show-names, --replays-hidden-until, --show-replays, --memory-kib, --people, "
            "--house, --freeze or --unfreeze"
        )

    def changed(terms: ladder_pb2.LadderTerms) -> None:
        if owner or any_owner:
            terms.owners[:] = owner or ()
        if add_owner or remove_owner:
            terms.owners[:] = _owners(ladder, list(terms.owners), add_owner or [], remove_owner or [])
        if house or no_house:
            terms.house[:] = _one_by_one(house)
        for name, value in replaced.items():
            if value is not None:
                setattr(terms, name, value)

    answer = _changed(ladder, changed, server, ca, db)
    _tell([answer.ladder], _what_changed(frozen_ms), as_json, answer.house_away if house else ())


def _frozen_ms(freeze: str | None, unfreeze: bool) -> int | None:
    """Return when a ladder freezes, in ms since 1970: 0 means never, None that this stays.  Raises UsageError."""
    from cutpurse.cli.ladder_file import moment_ms

    if freeze is not None and unfreeze:
        raise UsageError("--freeze and --unfreeze: name one of them")
    if unfreeze:
        return 0
    if freeze == "now":
        return int(datetime.now(UTC).timestamp() * 1_000)
    return None if freeze is None else moment_ms(freeze, "--freeze")


def _what_changed(frozen_ms: int | None) -> str:
    if frozen_ms is None:
        return "changed"
    return f"frozen from {local_time(frozen_ms)} on" if frozen_ms else "open again"


def _owners(ladder: str, before: list[str], added: list[str], removed: list[str]) -> list[str]:
    """Return the owners with some added and removed.

    Raises:
        UsageError: If the ladder is open to all, or would become so because no owner is left.
        NotFound: If a removed owner is not in the list.
    """
    if not before:
        raise UsageError(f"every owner may play on {ladder}; use --owner to list those who may")
    for name in removed:
        if name not in before:
            raise NotFound(f"{ladder} is not open to {printable(name, 64)}; it is to {', '.join(before)}")
    left = [name for name in dict.fromkeys([*before, *added]) if name not in removed]
    if not left:
        raise UsageError(
            f"no owner would be left on {ladder}, which would open it to every owner; use --any-owner if you mean that"
        )
    return left


def delete(
    ladder: Ladder, server: Server = None, ca: Authority = None, db: Written = None, as_json: AsJson = False
) -> None:
    """Delete a ladder on which no match has begun. Needs an admin's token.

    A ladder with matches cannot be deleted: end it with `ladder change --freeze`. A ladder in the file of
    `serve --ladders` is created again at the next start.

    Example: cutpurse ladder delete clas-greed
    """
    from cutpurse.v1 import ladder_pb2

    with open_league(server, ca, db) as league:
        answer = league.DeleteLadder(ladder_pb2.DeleteLadderRequest(ladder=ladder))
    _tell([answer.ladder], "deleted", as_json)


def _changed(
    ladder: str,
    change: Callable[[ladder_pb2.LadderTerms], None],
    server: str | None,
    ca: Path | None,
    db: str | None,
) -> ladder_pb2.ChangeLadderResponse:
    """Change a ladder's terms and return the answer; keeps what others change at the same time."""
    from cutpurse.v1 import ladder_pb2

    with open_league(server, ca, db) as league:
        before = ladder_named(league, ladder).defined.terms
        for tries_left in reversed(range(_TRIES)):
            request = ladder_pb2.ChangeLadderRequest(ladder=ladder, terms=before, expected=before)
            change(request.terms)
            try:
                return league.ChangeLadder(request)
            except UsageError:
                now = ladder_named(league, ladder).defined.terms
                if now == before or not tries_left:
                    raise
                before = now
    raise AssertionError("the last try returns or raises")


def _tell(
    ladders: list[ladder_pb2.LadderShown],
    what: str,
    as_json: bool,
    house_away: Sequence[str] = (),
    is_list: bool = False,
) -> None:
    if as_json:
        rows = [ladder_row(entry) for entry in ladders]
        print_json(rows if is_list else rows[0])
    else:
        for entry in ladders:
            print_message(f"ladder {printable(entry.defined.name, 64)} is {what}")
    if house_away:
        names = ",".join(printable(name, 64) for name in house_away)
        print_message(f"the server does not run all of its house bots: start it with cutpurse serve --house {names}")


def _not_negative(flag: str, given: int) -> int:
    if not 0 <= given < 2**32:
        raise UsageError(f"{flag} {given}: it is a number from 0 to {2**32 - 1:,}")
    return given
