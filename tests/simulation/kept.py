"""The check of the disk at the end: it has the matches that were played and reported, and the ledger has no gap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.books import Books
from tests.simulation.disk import Kept
from tests.simulation.league import Rules

if TYPE_CHECKING:
    from tests.simulation.world import World

__all__ = ["conclude"]


def conclude(world: World, books: Books, rules: Rules) -> None:
    """Check at the end that everything reported is stored."""
    kept = world.disk.kept()
    _check_kept(world, books, rules, kept)
    for name, book in books.matches.items():
        if book.told is not None and not book.told.voided and name not in kept:
            world.fails(f"match {name} was told as rated, and is lost")
        if book.is_begun and name not in kept:
            world.fails(f"match {name} began and is not kept")
    for name in sorted(world.disk.announced()):
        world.fails(f"match {name} was announced, and is neither kept nor void")
    for problem in world.disk.problems():
        world.fails(f"the leaderboard: {problem}")


def _check_kept(world: World, books: Books, rules: Rules, kept: dict[str, Kept]) -> None:
    last: dict[str, dict[str, int]] = {}
    boards: dict[str, list[Kept]] = {}
    for match in kept.values():
        boards.setdefault(match.board, []).append(match)
    for name, match in kept.items():
        book = books.matches.get(name)
        mates = boards[match.board]
        counts = len(mates) == match.board_matches and not any(one.is_void for one in mates)
        if book is None and match.is_void:
            continue  # the match never began
        if book is None:
            world.fails(f"match {name} is on the disk and never was")
        elif match.is_rated is (name in rules.asked):
            world.fails(f"match {name} was {'asked for' if match.is_rated else 'a ladder of its own'}: {match}")
        elif (counts and match.is_rated) is (match.sequence is None):
            world.fails(f"match {name} or its board is void or asked for, and rated, or neither: {match}")
        elif book.told is not None and book.told.voided is not match.is_void:
            world.fails(f"match {name} was told as {'void' if book.told.voided else 'rated'} and is kept as {match}")
        elif not match.is_void and not book.table.over:
            world.fails(f"match {name} was never over, and is kept as {match}")
        elif not match.is_void and match.places != book.table.match.result().places:
            world.fails(f"match {name} is kept with places {match.places}")
        if match.sequence is not None:
            last.setdefault(match.ladder, {})[match.board] = match.sequence
    for ladder, numbers in last.items():
        sequences = list(numbers.values())
        if sorted(sequences) != list(range(1, len(sequences) + 1)):
            world.fails(f"the ledger of {ladder} has a gap or a number twice: {sorted(sequences)}")
