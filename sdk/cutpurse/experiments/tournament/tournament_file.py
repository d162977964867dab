"""A tournament defined in a TOML file.

    name = "spring cup"
    game = "greed"
    bots = ["random", "greedy", { name = "mine", bot = "my_bot.py" }]

    [format]
    kind = "round_robin"

This module checks the form; the backend finds out whether the bots can be loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.experiments.brackets import DOUBLE_ELIMINATION, ELIMINATION, KNOCKOUTS, MOST_BEST_OF
from cutpurse.experiments.brackets import MOST_BOTS as MOST_IN_A_BRACKET
from cutpurse.games import game_named
from cutpurse.wire.toml_file import FileKey, check_keys, read_toml, setting_text

__all__ = ["BOARDS", "FORMATS", "KEYS", "Entrant", "Format", "Tournament", "read_tournament"]

BOARDS: Final = ("rotation", "plain")
MOST_BOTS: Final = 256
MOST: Final = 100_000  # largest number in a file
KEYS: Final = (
    FileKey("game", "game to play"),
    FileKey("bots", f"list of bots in order of seeding, at most {MOST_BOTS}, each with a unique name"),
    FileKey("name", "name of the tournament", "the file's name"),
    FileKey("seats", "number of seats of each match", "the game's default"),
    FileKey("settings", "table of game settings: `{ NAME = VALUE }`", "the game's defaults"),
    FileKey("seed", "seed of deals and seats", '`"0"`'),
    FileKey(
        "boards",
        "`rotation`: each deal once with every bot in every seat; `plain`: one match per deal",
        '`"rotation"`, on a server `"plain"`',
    ),
    FileKey("deals", "boards per meeting", "1"),
    FileKey("luck_adjusted", "whether points without the luck of the cards are found too; not on a server", "`false`"),
    FileKey(
        "format.kind",
        "who meets: `round_robin`, `gauntlet`, `swiss`, `groups`, `elimination` or `double_elimination`",
        '`"round_robin"`',
    ),
    FileKey("format.meetings", "`round_robin`, `gauntlet`, `groups`: how often bots meet at least", "1"),
    FileKey("format.challenger", "`gauntlet`: name of the bot that meets all others", "the first bot"),
    FileKey("format.rounds", "`swiss`: number of rounds", "5"),
    FileKey("format.groups", "`groups`: number of groups", "2"),
    FileKey("format.advance", "`groups`: bots of each group that play the final", "2"),
    FileKey("format.final_meetings", "`groups`: how often finalists meet at least", "1"),
    FileKey("format.best_of", "`elimination`, `double_elimination`: maximum boards of a duel, an odd number", "1"),
    FileKey(
        "format.fill",
        "`elimination`, `double_elimination`: names of the bots that take all other seats and do not compete",
        "none, with 2 seats",
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
            `cutpurse.experiments.brackets`).
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
            "bots": [{"name": one.name, "bot": one.bot} for one in self.bots],
            "format": {"kind": self.format.kind, **self.format.numbers}
            | ({"challenger": self.bots[self.format.challenger].name} if self.format.kind == "gauntlet" else {})
            | ({"fill": [self.bots[bot].name for bot in self.format.fill]} if self.format.fill else {}),
            **({"luck_adjusted": True} if self.luck_adjusted else {}),
        }


def read_tournament(path: str | os.PathLike[str], usual_boards: str = BOARDS[0]) -> Tournament:
    """Read the tournament of a file; bots' paths are relative to its folder.

    Args:
        path: The file.
        usual_boards: Kind of boards if the file has none.

    Raises:
        NotFound: If the file does not exist.
        UsageError: If it defines no valid tournament.
        UnknownGame: If the game is not installed.
        SettingsError: If a setting is invalid.
    """
    file = Path(path)
    written = read_toml(file, f"no tournament {file}")
    check_keys(written, _NAMES, f"{file}")
    game = game_named(_text(written, "game", file))
    seats = _number(written, "seats", game.usual_seats, 2, f"{file}")
    settings = {
        name: setting_text(value, f"{file}: settings.{name:.80}")
        for name, value in _table(written, "settings", file).items()
    }
    changed = game.set_up(seats, settings).changed()
    bots = _bots(written.get("bots"), file)
    boards = _text(written, "boards", file, usual_boards)
    if boards not in BOARDS:
        raise UsageError(f"{file}: boards is {boards!r:.80}; there are: {', '.join(BOARDS)}")
    if len(bots) < seats:
        raise UsageError(f"{file} has {len(bots)} bots for {seats} seats: name more of them, or set fewer seats")
    deals = _number(written, "deals", 1, 1, f"{file}")
    form = _format(_table(written, "format", file), bots, seats, f"{file}, format")
    if form.kind in KNOCKOUTS and deals > 1:
        raise UsageError(f"{file}: deals is {deals}; in a knock-out, format.best_of sets the boards of a duel")
    name = _text(written, "name", file, file.stem)
    seed = str(written.get("seed", "0"))
    luck_adjusted = _luck_adjusted(written, file)
    return Tournament(name, game.words.game, seats, changed, seed, boards, deals, bots, form, luck_adjusted)


def _luck_adjusted(written: Mapping[str, Any], file: Path) -> bool:
    value = written.get("luck_adjusted", False)
    if not isinstance(value, bool):
        raise UsageError(f"{file}: luck_adjusted is {value!r:.80}; it is true or false")
    return value


def _bots(given: object, file: Path) -> tuple[Entrant, ...]:
    if not isinstance(given, list) or not given:
        raise UsageError(f"{file} has no bots; it is to have: bots = ['random', 'my_bot.py']")
    if len(given) > MOST_BOTS:
        raise UsageError(f"{file} has {len(given):,} bots; the maximum is {MOST_BOTS:,}")
    entrants: list[Entrant] = []
    for number, one in enumerate(given, 1):
        where = f"{file}, bot {number}"
        if isinstance(one, dict):
            check_keys(one, ("name", "bot"), where)
            bot = _text(one, "bot", where)
            name = _text(one, "name", where, bot)
        elif isinstance(one, str):
            name = bot = one
        else:
            raise UsageError(f"{where} is {one!r:.80}; it is a text, or {{ name = 'mine', bot = 'my_bot.py' }}")
        if not _NAME.fullmatch(name):
            raise UsageError(f"{where} is called {name!r:.80}; a name has 1 to 64 characters and no control characters")
        if any(name == other.name for other in entrants):
            raise UsageError(
                f"{where}: {name!r} is there twice; give one another name: {{ name = 'x', bot = {bot!r} }}"
            )
        entrants.append(Entrant(name, _seen_from(bot, file.parent)))
    return tuple(entrants)


def _seen_from(bot: str, folder: Path) -> str:
    """Return a bot's file relative to the current folder, or any other bot unchanged."""
    path, colon, name = bot.partition(".py")
    if not colon or bot.startswith("exec:") or Path(path).is_absolute():
        return bot
    return f"{folder / path}.py{name}"


def _format(table: Mapping[str, Any], bots: tuple[Entrant, ...], seats: int, where: str) -> Format:
    kind = table.get("kind", "round_robin")
    if kind not in FORMATS:
        raise UsageError(f"{where}: kind is {kind!r:.80}; there are: {', '.join(FORMATS)}")
    usual = FORMATS[kind]
    check_keys(table, ("kind", *usual), where)
    numbers = {name: _number(table, name, value, 1, where) for name, value in usual.items() if isinstance(value, int)}
    challenger = 0
    if kind == "gauntlet":
        names = [one.name for one in bots]
        wanted = table.get("challenger", names[0])
        if wanted not in names:
            raise UsageError(
                f"{where}: challenger is {wanted!r:.80}, which is none of the bots: {', '.join(names[:20])}"
            )
        challenger = names.index(wanted)
    if kind == "groups":
        _check_groups(numbers, len(bots), seats, where)
    fill: tuple[int, ...] = ()
    if kind in KNOCKOUTS:
        fill = _fill(table, bots, seats, where)
        _check_knockout(numbers["best_of"], len(bots) - len(fill), where)
    return Format(kind, numbers, challenger, fill)


def _fill(table: Mapping[str, Any], bots: tuple[Entrant, ...], seats: int, where: str) -> tuple[int, ...]:
    """Return the bots that take the seats beside the two of a duel."""
    names = [one.name for one in bots]
    wanted = table.get("fill", [])
    if not isinstance(wanted, list) or len(wanted) != seats - 2:
        raise UsageError(
            f"{where}: fill is {wanted!r:.80}; two bots play a duel, and fill is a list of the bots in the other "
            f"seats, {seats - 2} here"
        )
    for name in wanted:
        if name not in names or wanted.count(name) > 1:
            raise UsageError(f"{where}: fill has {name!r:.80}; it has bots of the list, each once")
    return tuple(names.index(name) for name in wanted)


def _check_knockout(best_of: int, bots: int, where: str) -> None:
    if best_of % 2 == 0 or best_of > MOST_BEST_OF:
        raise UsageError(f"{where}: best_of is {best_of}; it is an odd number from 1 to {MOST_BEST_OF}")
    if not 2 <= bots <= MOST_IN_A_BRACKET:
        raise UsageError(f"{where}: {bots} bots compete; a bracket has 2 to {MOST_IN_A_BRACKET}")


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


def _text(table: Mapping[str, Any], key: str, where: object, usual: str | None = None) -> str:
    value = table.get(key, usual)
    if value is None:
        raise UsageError(f"{where} has no {key}")
    if not isinstance(value, str) or not value:
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a text")
    return value


def _number(table: Mapping[str, Any], key: str, usual: int, least: int, where: str) -> int:
    value = table.get(key, usual)
    if type(value) is not int or not least <= value <= MOST:
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a number from {least} to {MOST:,}")
    return value


def _table(table: Mapping[str, Any], key: str, where: object) -> Mapping[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise UsageError(f"{where}: {key} is {value!r:.80}; it is a table")
    return value
