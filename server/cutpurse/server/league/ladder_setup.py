"""The ladders that a server plays: those of its database, after missing ones of a file and defaults were created there.

This module knows no lobby and no command line.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from cutpurse.engine.errors import UnknownGame, UsageError
from cutpurse.games import GAMES, game_named
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.ladders import change_ladder, ensure_ladder
from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.store import Store
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.inner_ladders import is_inner
from cutpurse.server.ladder_config import Ladder, default_ladders, ladder_defined, ladder_of
from cutpurse.server.league.hosted_ladders import why_not_hosted
from cutpurse.server.logs import Logger
from cutpurse.v1 import ladder_pb2

__all__ = ["LadderSelection", "played"]


@dataclass(frozen=True, slots=True)
class LadderSelection:
    """The ladders and house bots that an operator selected.

    Args:
        games: Play only ladders of these games, and create one for each game without. If empty, create one per game in
            a database without ladders.
        defined: Ladders to create if missing.
        file: Where `defined` is written.
        house: House bots to run. They may play on ladders named after their game that are not in the file and name no
            house bots.
    """

    games: Sequence[str] = ()
    defined: Sequence[ladder_pb2.LadderDefined] = ()
    file: str = ""
    house: Sequence[str] = ()


def played(store: Store, wanted: LadderSelection, now: datetime, log: Logger) -> list[Ladder]:
    """List the ladders to be played, by name, and store those that were created.

    A ladder whose game is not available is left out with a warning.

    Raises:
        StoreError: If the database cannot be read or written.
        UsageError: If a ladder has invalid settings, a defined ladder differs from the stored one, or no ladder can be
            played.
    """
    stored_games = {entry.game for entry in store.run(queries.ladders) if not is_inner(entry.terms)}
    there = {entry.name: _playable(entry) for entry in _entries(store, log)}
    defined = [_defined(one, wanted.file, there.get(one.name)) for one in wanted.defined]
    for ladder in defined:
        _compare(ladder, there.get(ladder.name), wanted.file, log)
    made = [ladder for ladder in defined if ladder.name not in there]
    has_any = stored_games | {ladder.game for ladder in made}
    missing = set(wanted.games or (() if has_any else GAMES)) - has_any
    made += [ladder for ladder in default_ladders() if ladder.game in missing]
    for ladder in made:
        if ladder.is_hosted and (why := why_not_hosted(store.database.address)):
            raise UsageError(f"{wanted.file}, ladder {ladder.name}: {why}")
        store.write(ensure_ladder, ladder.kept, now)  # another server that starts may have made it meanwhile
        log.info("ladder made", ladder=ladder.name, game=ladder.game)
    if wanted.house:
        _let_in(store, wanted.house, {ladder.name for ladder in defined})
    ladders = [_playable(entry) for entry in store.run(queries.ladders) if entry.game in GAMES]
    ladders = [ladder for ladder in ladders if not wanted.games or ladder.game in wanted.games]
    if not ladders:
        raise UsageError("no ladder of the database can be played; install its game, or name another with --game")
    for ladder in ladders:
        _compare_rules(store, ladder, log)
        if ladder.is_for_people or ladder.is_hosted:
            continue
        if away := [bot for bot in ladder.terms.house if bot not in wanted.house]:
            log.warning("house bots are not run", ladder=ladder.name, bots=away)
        if wanted.house and not ladder.terms.house and not ladder.is_frozen(now):
            text = "its bots wait until there are enough of them; cutpurse ladder change --house gives it some"
            log.warning("ladder without house bots", ladder=ladder.name, text=text)
        run = [bot for bot in ladder.terms.house if bot in wanted.house]
        if 0 < len(run) < ladder.seats - 1 and not ladder.is_frozen(now):
            text = f"with {', '.join(run)} a bot that is alone gets no match of {ladder.seats}; "
            text += f"cutpurse ladder change {ladder.name} --house gives it more, of those that serve --house runs"
            log.warning("too few house bots", ladder=ladder.name, text=text)
    return ladders


def _defined(defined: ladder_pb2.LadderDefined, file: str, kept: Ladder | None) -> Ladder:
    try:
        return ladder_defined(defined, kept)
    except CallRefused as refused:
        raise UsageError(f"{file}, ladder '{legible(defined.name, 40)}': {refused.ending.text}") from None


def _entries(store: Store, log: Logger) -> list[LadderEntry]:
    """List the stored ladders whose game can be played; warn about each of the others."""
    found = []
    for entry in store.run(queries.ladders):
        try:
            game_named(entry.game)
        except UnknownGame as problem:
            log.warning("ladder left out", ladder=entry.name, text=legible(str(problem), 1_000))
        else:
            found.append(entry)
    return found


def _playable(entry: LadderEntry) -> Ladder:
    try:
        return ladder_of(entry)
    except (TypeError, UsageError) as problem:
        raise UsageError(f"ladder {entry.name} cannot be played by this version: {problem}") from None


def _compare(ladder: Ladder, there: Ladder | None, file: str, log: Logger) -> None:
    """Check that a ladder of the file equals the stored one; warn if the terms differ, since the stored ones count.

    Raises:
        UsageError: If more than the terms differ.
    """
    if there is None:
        return
    for what, wanted, found in (
        ("the game", ladder.game, there.game),
        ("seats", ladder.seats, there.seats),
        ("settings", dict(ladder.settings), dict(there.settings)),
        ("boards", ladder.boards, there.boards),
        ("hosted", ladder.is_hosted, there.is_hosted),
        ("the clock", asdict(ladder.control), asdict(there.control)),
    ):
        if wanted != found:
            raise UsageError(
                f"{file}: ladder {ladder.name} has {what} {wanted}, and {found} in the database; a ladder never "
                "changes, so give the new one another name"
            )
    if ladder.terms != there.terms:
        log.warning("ladder terms differ", ladder=ladder.name, text="those in the database count, not the file's")


def _compare_rules(store: Store, ladder: Ladder, log: Logger) -> None:
    """Warn if the latest match of the ladder was played under another rules version."""
    newest = store.run(queries.matches, ladder.name, limit=1)
    version = ladder.rules.words.version
    if newest and newest[0].rules != version:
        text = "the next matches are played and rated under the new version, and earlier ratings stay as they are; "
        text += "make another ladder for a ranking under the new rules alone"
        log.warning("rules version changed", ladder=ladder.name, was=newest[0].rules, version=version, text=text)


def _let_in(store: Store, house: Sequence[str], defined: Collection[str]) -> None:
    for entry in store.run(queries.ladders):
        if entry.name == entry.game and not entry.terms.house and entry.name not in defined:
            store.write(change_ladder, entry.name, replace(entry.terms, house=tuple(house)))
