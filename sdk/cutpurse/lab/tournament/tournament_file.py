"""A tournament defined in a TOML file, whether `tournament run` plays it or a server, with `event start`.

    name = "spring cup"
    game = "greed"
    bots = ["random", "greedy", { name = "mine", bot = "my_bot.py" }]

    [format]
    kind = "round_robin"

On a server, `ladder = "class"` stands instead of the game. This module checks the form; the backend finds out whether
the bots can be loaded, and the server knows its ladders and bots.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.games import game_named
from cutpurse.leaderboard.formats.brackets import DOUBLE_ELIMINATION, ELIMINATION, KNOCKOUTS, MOST_BEST_OF
from cutpurse.leaderboard.formats.brackets import MOST_BOTS as MOST_IN_A_BRACKET
from cutpurse.wire.text import format_count
from cutpurse.wire.toml_file import FileKey, TomlTable, read_toml

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2

__all__ = [
    "BOARDS",
    "FORMATS",
    "KEYS",
    "SERVER_FORMATS",
    "Entrant",
    "Format",
    "ServerTournament",
    "Tournament",
    "check_rules",
    "read_server_tournament",
    "read_tournament",
]

BOARDS: Final = ("rotation", "plain")
MOST_BOTS: Final = 256
MOST: Final = 100_000  # largest number in a file
RUN: Final = "tournament run"
START: Final = "event start"
KEYS: Final = (
    FileKey("game", "game to play", "the game of `ladder`; required by `tournament run`"),
    FileKey(
        "bots",
        f"list of bots in order of seeding, at most {MOST_BOTS}, each with a unique name",
        "with `event start` the best `top` of the ranking",
    ),
    FileKey("ladder", "ladder of a server to play on; `event start` requires it", "none: play on this machine"),
    FileKey("top", "number of the best bots of the ranking, instead of `bots`", "the bots of `bots`", START),
    FileKey("name", "name of the tournament; a server gives it an ID", "the file's name"),
    FileKey("seats", "number of seats of each match; a ladder must have the same", "the game's default"),
    FileKey(
        "settings",
        "table of game settings: `{ NAME = VALUE }`; a ladder must have the same",
        "the game's defaults",
    ),
    FileKey("seed", "seed of deals and seats", '`"0"`', RUN),
    FileKey(
        "boards",
        "`rotation`: each deal once with every bot in every seat; `plain`: one match per deal",
        '`"rotation"`, on a ladder always `"plain"`',
    ),
    FileKey("deals", "boards per meeting", "1", RUN),
    FileKey(
        "luck_adjusted", "whether points without the luck of the cards are found too; not on a ladder", "`false`", RUN
    ),
    FileKey(
        "format.kind",
        "who meets: `round_robin`, `gauntlet`, `swiss`, `groups`, `elimination` or `double_elimination`; "
        "`event start` plays the first and the last two",
        '`"round_robin"`',
    ),
    FileKey("format.meetings", "`round_robin`, `gauntlet`, `groups`: how often bots meet at least", "1", RUN),
    FileKey("format.challenger", "`gauntlet`: name of the bot that meets all others", "the first bot", RUN),
    FileKey("format.rounds", "`swiss`: number of rounds", "5", RUN),
    FileKey("format.groups", "`groups`: number of groups", "2", RUN),
    FileKey("format.advance", "`groups`: bots of each group that play the final", "2", RUN),
    FileKey("format.final_meetings", "`groups`: how often finalists meet at least", "1", RUN),
    FileKey(
        "format.best_of",
        "maximum boards of a duel, an odd number: of `elimination`, `double_elimination` and a server's `round_robin`",
        "1",
    ),
    FileKey(
        "format.fill",
        "`elimination`, `double_elimination`: names of the bots that take all other seats and do not compete",
        "none, with 2 seats",
        RUN,
    ),
)
_NAMES: Final = tuple(dict.fromkeys(key.name.partition(".")[0] for key in KEYS))
# The keys of each format, with their defaults.
FORMATS: Final[Mapping[str, Mapping[str, int | str]]] = {
    "round_robin": {"meetings": 1},
    "gauntlet": {"challenger": "", "meetings": 1},
    "swiss": {"rounds": 5},
    "groups": {"groups": 2, "advance": 2, "meetings": 1, "final_meetings": 1},
    ELIMINATION: {"best_of": 1, "fill": ""},
    DOUBLE_ELIMINATION: {"best_of": 1, "fill": ""},
}
SERVER_FORMATS: Final = (ELIMINATION, "round_robin", DOUBLE_ELIMINATION)  # in the order of their numbers on the wire
_NAME: Final = re.compile(r"[^\x00-\x1f\x7f]{1,64}")


@dataclass(frozen=True, slots=True)
class Entrant:
    """A bot that takes part: its name in the table, and the bot to play."""

    name: str
    bot: str


@dataclass(frozen=True, slots=True)
class Format:
    """The rule that decides who meets whom.

    Attributes:
        kind: "round_robin" (all meet all others at least `meetings` times). "gauntlet" (one challenger meets all
            others). "swiss" (bots with similar points meet, `rounds` times). "groups" (round robins in groups, then one
            with the first `advance` of each). "elimination" and "double_elimination" (duels; see
            `cutpurse.leaderboard.formats.brackets`).
        numbers: The numbers of the format, by key.
        challenger: Index of the challenger in the list of bots.
        fill: Indexes of the bots that take the other seats in the duels of a knock-out.
    """

    kind: str
    numbers: Mapping[str, int]
    challenger: int = 0
    fill: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Tournament:
    """The definition of a tournament.

    Attributes:
        boards: "rotation" (each deal is played once with each bot in each seat in turn) or "plain" (one match per
            deal).
        deals: Number of boards for each meeting of a field.
        luck_adjusted: Whether the luck of the cards is found, and shown beside the points.
        ladder: Ladder of a server whose bots play; empty for a tournament on this machine.
    """

    name: str
    game: str
    seats: int
    settings: Mapping[str, str]
    seed: str
    boards: str
    deals: int
    bots: tuple[Entrant, ...]
    format: Format
    luck_adjusted: bool = False
    ladder: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "name": self.name,
            "game": self.game,
            "seats": self.seats,
            "settings": dict(self.settings),
            "seed": self.seed,
            "boards": self.boards,
            "deals": self.deals,
            "bots": [{"name": entrant.name, "bot": entrant.bot} for entrant in self.bots],
            "format": {"kind": self.format.kind, **self.format.numbers}
            | ({"challenger": self.bots[self.format.challenger].name} if self.format.kind == "gauntlet" else {})
            | ({"fill": [self.bots[bot].name for bot in self.format.fill]} if self.format.fill else {}),
            **({"luck_adjusted": True} if self.luck_adjusted else {}),
        }


@dataclass(frozen=True, slots=True)
class ServerTournament:
    """What a tournament that a server plays is to be; either `bots` or `top` is set.

    Attributes:
        rules: What the ladder must have, by name: "game", "seats" and "settings"; empty if anything will do.
    """

    ladder: str
    form: str
    best_of: int
    bots: tuple[str, ...]
    top: int
    rules: Mapping[str, Any] = field(default_factory=dict)


def read_tournament(path: str | os.PathLike[str], ladder: str | None = None, boards: str | None = None) -> Tournament:
    """Read the tournament of a file for `tournament run`; bots' paths are relative to its folder.

    Args:
        path: The file.
        ladder: Ladder to play on, instead of that of the file.
        boards: Kind of boards if the file has none. Default: "plain" on a ladder, else "rotation".

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it defines no valid tournament.
        UnknownGame: If the game is not installed.
        SettingsError: If a setting is invalid.
    """
    file = Path(path)
    written = _read(file, RUN)
    ladder = ladder or written.text("ladder", "")
    if "game" not in written and ladder:
        raise UsageError(f"{file} has no game; `tournament run` needs it on a ladder too")
    game, seats, settings = _rules(written)
    bots = _bots(written.content.get("bots"), file, None if ladder else file.parent)
    boards = written.choice("boards", BOARDS, boards or BOARDS[bool(ladder)])
    if len(bots) < seats:
        raise UsageError(
            f"{file} has {format_count(len(bots), 'bot')} for {seats} seats: name more of them, or set fewer seats"
        )
    deals = written.number("deals", 1, 1, MOST)
    form = _format(written.table("format"), bots, seats)
    if form.kind in KNOCKOUTS and deals > 1:
        raise UsageError(f"{file}: deals is {deals}; in a knock-out, format.best_of sets the boards of a duel")
    name = written.text("name", file.stem) or file.stem
    seed = str(written.content.get("seed", "0"))
    is_adjusted = written.switch("luck_adjusted")
    return Tournament(name, game, seats, settings, seed, boards, deals, bots, form, is_adjusted, ladder)


def read_server_tournament(path: str | os.PathLike[str]) -> ServerTournament:
    """Read the tournament of a file for `event start`.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it defines no valid tournament, or has a key that only `tournament run` reads.
        UnknownGame: If the game is not installed.
        SettingsError: If a setting is invalid.
    """
    file = Path(path)
    written = _read(file, START)
    if "ladder" not in written:
        raise UsageError(f"{file} has no ladder, where a server plays; without one, cutpurse tournament run plays it")
    ladder = written.text("ladder")
    if bool(written.content.get("bots")) == ("top" in written):
        raise UsageError(f"{file} is to have bots = ['ann/sneak', 'bob/thug'] or top = 8: one of them")
    bots = () if "top" in written else _bots(written.content["bots"], file, None)
    for number, bot in enumerate(bots, 1):
        if bot.name != bot.bot:
            raise UsageError(f"{file}, bot {number}: only `tournament run` renames bots; write {bot.bot!r:.80}")
    if written.content.get("boards", "plain") != "plain":
        raise UsageError(f"{file}: boards is {written.content['boards']!r:.80}; on a ladder they are 'plain'")
    form = written.table("format")
    form.check_keys(("kind", "best_of"))
    kind = form.content.get("kind", "round_robin")
    if kind not in SERVER_FORMATS:
        raise UsageError(
            f"{file}, format: kind is {kind!r:.80}; a server plays {', '.join(SERVER_FORMATS)}, and "
            "`tournament run` on a ladder all others"
        )
    game, seats, settings = _rules(written) if "game" in written else ("", 0, {})
    if not game and (names := [name for name in ("seats", "settings") if name in written]):
        raise UsageError(f"{file} has {names[0]} but no game; leave it out, or name the game too")
    rules = {"game": game, "seats": seats, "settings": settings} if game else {}
    top = written.number("top", 0, 1, MOST) if "top" in written else 0
    best_of = form.number("best_of", 1, 1, MOST)
    return ServerTournament(ladder, kind, best_of, tuple(bot.bot for bot in bots), top, rules)


def check_rules(rules: Mapping[str, Any], ladder: ladder_pb2.LadderDefined) -> None:
    """Check that a ladder has the game, seats and settings of a file.  Raises UsageError."""
    settings = {setting.name: setting.value for setting in ladder.settings}
    theirs = {"game": ladder.game, "seats": ladder.seats, "settings": settings}
    for what, mine in rules.items():
        if mine != theirs[what]:
            raise UsageError(f"{what} is {mine!r:.200}, and ladder {ladder.name} has {theirs[what]!r:.200}")


def _read(file: Path, command: str) -> TomlTable:
    """Return the content of a file; the command reads all its keys."""
    written = TomlTable(read_toml(file, f"no tournament {file}"), str(file))
    written.check_keys(_NAMES)
    for key in KEYS:
        table, _, name = key.name.rpartition(".")
        if key.command not in ("", command) and name in (written.table(table) if table else written):
            raise UsageError(f"{file}: only `cutpurse {key.command}` reads {key.name}; remove it")
    return written


def _rules(written: TomlTable) -> tuple[str, int, Mapping[str, str]]:
    """Return game, seats and the settings that are not the defaults."""
    game = game_named(written.text("game"))
    seats = written.number("seats", game.usual_seats, 2, MOST)
    return game.words.game, seats, game.set_up(seats, written.settings()).changed()


def _bots(given: object, file: Path, folder: Path | None) -> tuple[Entrant, ...]:
    """Return the bots; paths start at `folder`, or are none."""
    if not isinstance(given, list) or not given:
        raise UsageError(f"{file} has no bots; it is to have: bots = ['random', 'my_bot.py']")
    if len(given) > MOST_BOTS:
        raise UsageError(f"{file} has {len(given):,} bots; the maximum is {MOST_BOTS:,}")
    entrants: list[Entrant] = []
    for number, entry in enumerate(given, 1):
        where = f"{file}, bot {number}"
        if isinstance(entry, dict):
            table = TomlTable(entry, where)
            table.check_keys(("name", "bot"))
            bot = table.text("bot")
            name = table.text("name", bot)
        elif isinstance(entry, str):
            name = bot = entry
        else:
            raise UsageError(f"{where} is {entry!r:.80}; it is a text, or {{ name = 'mine', bot = 'my_bot.py' }}")
        if not _NAME.fullmatch(name):
            raise UsageError(f"{where} is called {name!r:.80}; a name has 1 to 64 characters and no control characters")
        if any(name == other.name for other in entrants):
            raise UsageError(
                f"{where}: {name!r} is there twice; give one another name: {{ name = 'x', bot = {bot!r} }}"
            )
        entrants.append(Entrant(name, bot if folder is None else _seen_from(bot, folder)))
    return tuple(entrants)


def _seen_from(bot: str, folder: Path) -> str:
    """Return a bot's file relative to the current folder, or any other bot unchanged."""
    path, colon, name = bot.partition(".py")
    if not colon or bot.startswith("exec:") or Path(path).is_absolute():
        return bot
    return f"{folder / path}.py{name}"


def _format(table: TomlTable, bots: tuple[Entrant, ...], seats: int) -> Format:
    where, kind = f"{table.where}, format", table.choice("kind", FORMATS, "round_robin")
    usual = FORMATS[kind]
    if "best_of" in table and "best_of" not in usual:
        raise UsageError(f"{where}: best_of is for duels, which {kind} has on a server only; set meetings and deals")
    table.check_keys(("kind", *usual))
    numbers = {name: table.number(name, value, 1, MOST) for name, value in usual.items() if isinstance(value, int)}
    challenger = 0
    if kind == "gauntlet":
        names = [entrant.name for entrant in bots]
        challenger_name = table.content.get("challenger", names[0])
        if challenger_name not in names:
            raise UsageError(
                f"{where}: challenger is {challenger_name!r:.80}, which is none of the bots: {', '.join(names[:20])}"
            )
        challenger = names.index(challenger_name)
    if kind == "groups":
        _check_groups(numbers, len(bots), seats, where)
    fill: tuple[int, ...] = ()
    if kind in KNOCKOUTS:
        fill = _fill(table, bots, seats)
        _check_knockout(numbers["best_of"], len(bots) - len(fill), where)
    return Format(kind, numbers, challenger, fill)


def _fill(table: TomlTable, bots: tuple[Entrant, ...], seats: int) -> tuple[int, ...]:
    """Return the bots that take the seats beside the two of a duel."""
    where, names = f"{table.where}, format", [bot.name for bot in bots]
    fill = table.content.get("fill", [])
    if not isinstance(fill, list) or len(fill) != seats - 2:
        raise UsageError(
            f"{where}: fill is {fill!r:.80}; two bots play a duel, and fill is a list of the bots in the other "
            f"seats, {seats - 2} here"
        )
    for name in fill:
        if name not in names or fill.count(name) > 1:
            raise UsageError(f"{where}: fill has {name!r:.80}; it has bots of the list, each once")
    return tuple(names.index(name) for name in fill)


def _check_knockout(best_of: int, bots: int, where: str) -> None:
    if best_of % 2 == 0 or best_of > MOST_BEST_OF:
        raise UsageError(f"{where}: best_of is {best_of}; it is an odd number from 1 to {MOST_BEST_OF}")
    if not 2 <= bots <= MOST_IN_A_BRACKET:
        raise UsageError(f"{where}: {format_count(bots, 'bot')} for a bracket; it has 2 to {MOST_IN_A_BRACKET}")


def _check_groups(numbers: Mapping[str, int], bots: int, seats: int, where: str) -> None:
    smallest = bots // numbers["groups"]
    if smallest < seats:
        raise UsageError(
            f"{where}: {bots} bots in {numbers['groups']} groups leave {smallest} in one, and a match has {seats}"
        )
    if numbers["advance"] > smallest:
        raise UsageError(f"{where}: advance is {numbers['advance']}, and a group has only {smallest} bots")
    if numbers["advance"] * numbers["groups"] < seats:
        raise UsageError(
            f"{where}: {numbers['advance']} of each of {numbers['groups']} groups are too few for {seats} seats"
        )
