"""A league in a database: the answers of LadderService without a server.

It is the entry point `db` of the group `cutpurse.leagues`, where the command line finds it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from google.protobuf.message import Message

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard.database import Database
from cutpurse.leaderboard.databases import find_database
from cutpurse.leaderboard.errors import InUse
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.store import Store
from cutpurse.server.errors import CallRefused
from cutpurse.server.installed_parts import hooks_of_parts, installed_parts
from cutpurse.server.league.league_queries import ANYTHING, STRANGER, Answers, Caller
from cutpurse.server.league.presence import NOWHERE, Presence
from cutpurse.server.league.steering import LadderAdmin, wanted_ladders
from cutpurse.server.store_errors import plain_trouble
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.league import League, problem_of

__all__ = ["local"]


@contextmanager
def local(address: str | os.PathLike[str], as_stranger: bool = False) -> Iterator[League]:
    """Open the league of a database.

    It can always be read, and written while no server has it open. Calls raise NotFound if there is no such file, and
    CutpurseError if they need a running server or cannot write now.

    Args:
        address: The database, as for `find_database`; the creation of a ladder creates a missing file.
        as_stranger: Show only what is public, and allow no writes.
    """
    caller = STRANGER if as_stranger else ANYTHING
    with plain_trouble():
        database = find_database(address)
    with ExitStack() as stack:
        opened: list[LeaderboardReader] = []  # opened at the first read

        def reads() -> Answers:
            if not opened:
                if not database.exists():
                    raise NotFound(f"no database {database}: it does not exist")
                opened.append(stack.enter_context(LeaderboardReader(database)))
            return Answers(opened[0], _utc)

        def of_part(name: str) -> Callable[[Any, Caller, Presence], Any] | None:
            """Return how an installed part answers a call."""
            for kind in installed_parts().kinds:
                answers = reads()
                if (answer := kind.reads(opened[0], answers).get(name)) is not None:
                    call: Callable[[Any, Caller, Presence], Any] = answer
                    return call
            return None

        def ask(name: str, request: Any) -> Any:
            with _told(database):
                if name in _WRITES and not as_stranger:
                    if name == "CreateLadder":
                        wanted_ladders(request, _utc())  # before the file is created
                    else:
                        reads()
                    with Store(database, hooks=hooks_of_parts()) as store:
                        return _WRITES[name](store, request)
                if name == "GetRecord":
                    return iter([ladder_pb2.GetRecordResponse(piece=reads().match_file(request, caller))])
                if name in _READS:
                    answers = reads()
                    if name == "ListMatches" and request.event:
                        answers.get_event = of_part("GetEvent")
                    return _READS[name](answers, request, caller, NOWHERE)
                if (answer := of_part(name)) is not None:
                    return answer(request, caller, NOWHERE)
            raise CutpurseError(f"{database} is a database: that takes a server that runs; ask one with --server")

        yield League(ask)


_READS: Final[dict[str, Callable[[Answers, Any, Caller, Presence], Message]]] = {
    "ListLadders": Answers.list_ladders,
    "ListRankings": Answers.list_rankings,
    "ListHistory": Answers.list_history,
    "ListOpponents": Answers.list_opponents,
    "ListMatches": Answers.list_matches,
    "GetMatch": Answers.get_match,
    "ListBots": Answers.list_bots,
    "ListLogs": Answers.list_logs,
}


def _create(store: Store, asked: ladder_pb2.CreateLadderRequest) -> Message:
    answers = Answers(store, _utc)
    first, *more = [answers.shown(entry, NOWHERE) for entry in LadderAdmin(store, answers, _utc).create(asked)]
    return ladder_pb2.CreateLadderResponse(ladder=first, more=more)


def _change(store: Store, asked: ladder_pb2.ChangeLadderRequest) -> Message:
    answers = Answers(store, _utc)
    entry = LadderAdmin(store, answers, _utc).change(asked, ANYTHING)
    return ladder_pb2.ChangeLadderResponse(ladder=answers.shown(entry, NOWHERE))


def _delete(store: Store, asked: ladder_pb2.DeleteLadderRequest) -> Message:
    answers = Answers(store, _utc)
    steering = LadderAdmin(store, answers, _utc)
    entry = steering.deletable(asked, ANYTHING)
    steering.delete(entry)
    return ladder_pb2.DeleteLadderResponse(ladder=answers.shown(entry, NOWHERE))


def _lift(store: Store, asked: ladder_pb2.LiftPauseRequest) -> Message:
    answers = Answers(store, _utc)
    lifted = LadderAdmin(store, answers, _utc).lift(asked, ANYTHING)
    return ladder_pb2.LiftPauseResponse(bot=answers.bot(lifted, ANYTHING, NOWHERE))


def _change_bot(store: Store, request: ladder_pb2.ChangeBotRequest) -> Message:
    answers = Answers(store, _utc)
    changed = LadderAdmin(store, answers, _utc).change_bot(request, ANYTHING)
    return ladder_pb2.ChangeBotResponse(bot=answers.bot(changed, ANYTHING, NOWHERE))


_WRITES: Final[dict[str, Callable[[Store, Any], Message]]] = {
    "CreateLadder": _create,
    "ChangeLadder": _change,
    "DeleteLadder": _delete,
    "LiftPause": _lift,
    "ChangeBot": _change_bot,
}


def _utc() -> datetime:
    return datetime.now(UTC)


@contextmanager
def _told(database: Database) -> Iterator[None]:
    """Turn refusals into errors of the command line."""
    with plain_trouble():
        try:
            yield
        except CallRefused as refused:
            raise problem_of(refused.ending.reason, refused.ending.text) from None
        except InUse as problem:
            raise CutpurseError(
                f"a server ({problem.holder}) has {database} open, and only one process may write it: "
                "ask it with --server"
            ) from None
