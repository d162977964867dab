"""The check of match ends sent to bots: rated results are stored, and all bots of a match get the same end.

No bot learns a deal while a match is played with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutpurse.engine.match import EndCause
from cutpurse.v1 import arena_pb2
from tests.simulation.books import Books, MatchBook, SessionBook, StreamBook
from tests.simulation.league import Rules

if TYPE_CHECKING:
    from tests.simulation.world import World

__all__ = ["Ends"]


class Ends:
    """The check of match ends."""

    def __init__(self, world: World, books: Books, rules: Rules) -> None:
        self._world = world
        self._books = books
        self._rules = rules

    def _wrong(self, what: str) -> None:
        self._world.fails(what)

    def ended(self, stream: StreamBook, session: SessionBook, name: str, ended: arena_pb2.MatchEnded) -> None:
        """Check the end of a match sent to a bot."""
        match = session.tables.get(ended.table, "")
        book = self._books.matches.get(match)
        if book is None:
            self._wrong(f"{name} is told the end of table {ended.table}, of which it was told nothing")
            return
        if ended.table in session.heard:
            self._wrong(f"{name} is told the end of table {ended.table} though it has heard of it")
        if any(ended.table in tables for tables in stream.ends.values()):
            self._wrong(f"{name} is told the end of table {ended.table} twice on one stream")
        stream.ends.setdefault(stream.sent, []).append(ended.table)
        session.sits.discard(ended.table)
        self._check_result(name, book, ended)
        kept = self._world.disk.kept().get(match)
        if ended.rated and (kept is None or kept.sequence is None):
            self._wrong(f"{name} is told that match {match} is rated; on the disk is {kept}")
        if not ended.voided and kept is None:
            self._wrong(f"{name} is told the end and the seed of match {match}, which is not stored")
        is_asked = match in self._rules.asked
        if book.table.board_matches == 1 and ended.rated is (ended.voided or is_asked):
            self._wrong(f"match {match} is told to be both or neither of rated and void, or on request")
        if book.table.board_matches > 1 and ended.rated and not ended.HasField("opening"):
            self._wrong(f"match {match} is told to be rated before its board is over")
        if ended.HasField("opening"):
            self._unseal(name, book, ended.opening, ended.rated)
        elif book.table.board_matches == 1:
            self._wrong(f"{name} is told the end of match {match}, and not what was dealt")

    def opened(self, session: SessionBook, name: str, opened: arena_pb2.BoardOpened) -> None:
        """Check an opened board sent to a bot, which must know the end of its match."""
        book = self._books.matches.get(opened.match)
        if book is None or opened.match not in session.tables.values() or book.told is None:
            self._wrong(f"{name} is told what was dealt in match {opened.match}, of whose end it was not told")
        elif opened.board != book.table.deal.board:
            self._wrong(f"{name} is told of board {opened.board}, and played on {book.table.deal.board}")
        else:
            self._unseal(name, book, opened.opening, opened.rated)

    def _unseal(self, name: str, book: MatchBook, opening: arena_pb2.Opening, is_rated: bool) -> None:
        """Check a revealed deal: all matches with it must be over, and stored unless void."""
        table = book.table
        if opening.seed != table.deal.seed or opening.params != table.deal.params:
            self._wrong(f"match {table.name} was opened with another seed than it was dealt from")
        kept = self._world.disk.kept()
        mates = [
            other
            for other in self._books.matches.values()
            if other.table.deal.seed == opening.seed and table.board_matches > 1
        ]
        for other in mates:
            if not other.table.over:
                self._wrong(f"{name} is told what was dealt while match {other.table.name} is played with it")
            self._books.sealed.pop(other.table.name, None)
        voids = [one.is_void for one in kept.values() if one.board == table.deal.board]
        if table.board_matches > 1 and is_rated and (any(voids) or len(voids) < table.board_matches):
            self._wrong(f"{name} is told that board {table.deal.board} is rated, and of its matches void are {voids}")
        self._books.sealed.pop(table.name, None)

    def _check_result(self, name: str, book: MatchBook, ended: arena_pb2.MatchEnded) -> None:
        table = book.table
        if not table.over:
            self._wrong(f"{name} is told that match {table.name} is over, and it is not")
            return
        if not ended.voided:
            result = table.match.result()
            told = [(seat.place, seat.score) for seat in ended.seats]
            if told != list(zip(result.places, result.scores, strict=True)):
                self._wrong(f"{name} is told that match {table.name} ended {told}, and it ended {result}")
            names = {cause: number for number, cause in enumerate(EndCause, 1)}
            if [seat.end_cause for seat in ended.seats] != [names[cause] for cause in result.end_causes]:
                self._wrong(f"{name} is told other end causes of match {table.name} than {result.end_causes}")
        first = book.told
        if first is None:
            book.told = ended
        elif (first.voided, list(first.seats)) != (ended.voided, list(ended.seats)):
            self._wrong(f"match {table.name} ends differently for {name} than for others")
