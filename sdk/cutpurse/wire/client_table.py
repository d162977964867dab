"""A match of a session, as the client knows it: what the server says at its start, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cutpurse.engine.errors import SettingsError
from cutpurse.engine.match import EndCause, MatchResult
from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2
from cutpurse.wire.catalogue import catalogue_of
from cutpurse.wire.decode import TableInfo
from cutpurse.wire.errors import ServerRefused
from cutpurse.wire.text import printable

__all__ = ["NOBODY", "ClientTable", "result_of", "table_of"]

NOBODY: Final = "local"  # the owner of bots without a token


@dataclass(slots=True)
class ClientTable:
    """A match of this bot in the session."""

    number: int
    match: str
    info: TableInfo
    names: tuple[str, ...]  # bot names by seat
    ladder: str
    base_s: float
    commitment: bytes
    board: str
    asked: int = 0  # number of the last decision, as on the wire; 0: none
    answer: bytes = b""  # to that decision, with its notes and usage, as fields of PlayRequest; empty: none yet
    over: bool = False
    before: str = ""  # notes from before the first decision, sent with its answer
    first: arena_pb2.Decision | None = None  # the first decision, with all events from the deal on; None: without
    nonce: bytes = b""  # added to the deal; empty: none, or the server refused it
    nonce_may_be_lost: bool = False  # a stream was lost before the first decision, perhaps with the nonce

    def is_open(self, decision: int) -> bool:
        """Return whether this is the last decision, and the match goes on."""
        return self.asked == decision and not self.over

    @property
    def game(self) -> str:
        """The name of the game."""
        return self.info.rules.words.game

    @property
    def seat(self) -> int:
        """The bot's seat."""
        return self.info.seat


def _named(seat: arena_pb2.SeatTaken) -> str:
    """Return the name of the bot in a seat: "ann/sneak". Owners may use the same names."""
    return seat.bot if seat.owner in ("", NOBODY) else f"{seat.owner}/{seat.bot}"


def table_of(started: arena_pb2.MatchStarted) -> ClientTable:
    """Return the match that begins for a bot or spectator.  Raises ServerRefused if it cannot be played here."""
    what = f"the server deals {printable(started.game)}, rules version {printable(started.rules_version)}"
    rules = GAMES.get(started.game)
    if rules is None:
        raise ServerRefused(f"{what}; here there are {', '.join(GAMES)}: name the games to play, or upgrade cutpurse")
    if rules.words.version != started.rules_version:
        raise ServerRefused(f"{what}; here it is version {rules.words.version}: both sides need the same cutpurse")
    seats = len(started.seats)
    given = {setting.name: setting.value for setting in started.settings}
    try:
        settings = rules.check(seats, given)
        digest = catalogue_of(rules, seats, given).digest
    except SettingsError as problem:
        raise ServerRefused(f"{what}, in a way that is not known here: {problem}") from None
    if started.catalogue_digest != digest:
        raise ServerRefused(f"{what}, with other numbers than here: both sides need the same cutpurse")
    if not started.seat < seats:
        raise ServerRefused(f"{what}, and puts this bot on seat {started.seat} of {seats}")
    return ClientTable(
        started.table,
        printable(started.match),
        TableInfo(rules, settings, seats, started.seat),
        tuple([_named(seat) for seat in started.seats]),
        started.ladder,
        started.clock.base_ms / 1000,
        started.commitment,
        started.board,
    )


def result_of(table: ClientTable, ended: arena_pb2.MatchEnded) -> MatchResult:
    """Return the result of a match.  Raises ServerRefused if it is impossible."""
    if len(ended.seats) != table.info.seats:
        raise ServerRefused(f"match {table.match} of {table.info.seats} seats ended with {len(ended.seats)}")
    causes = tuple([_end_cause(seat.end_cause) for seat in ended.seats])
    if ended.voided:
        return MatchResult((), (), causes)
    return MatchResult(tuple([seat.score for seat in ended.seats]), tuple([seat.place for seat in ended.seats]), causes)


_CAUSES: Final[dict[int, EndCause]] = {
    number: EndCause[name.removeprefix("END_CAUSE_")]
    for name, number in arena_pb2.EndCause.items()
    if name.removeprefix("END_CAUSE_") in EndCause.__members__
}


def _end_cause(number: int) -> EndCause:
    try:
        return _CAUSES[number]
    except KeyError:
        raise ServerRefused(f"a match ended for cause {number}, which is not known here: upgrade cutpurse") from None
