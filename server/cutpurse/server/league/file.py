"""A league in a file: the answers of LadderService from a database, without a server.

It is the entry point `db` of the group `cutpurse.leagues`, where the command line finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from google.protobuf.message import Message

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard.errors import InUse
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.league import League, problem_of
from cutpurse.server.errors import CallRefused
from cutpurse.server.league.league_queries import ANYTHING, STRANGER, Answers, Caller
from cutpurse.server.league.presence import NOWHERE, Presence
from cutpurse.server.league.steering import LadderAdmin, wanted_ladders
from cutpurse.server.store_errors import plain_trouble
from cutpurse.v1 import ladder_pb2

__all__ = ["local"]


@contextmanager
def local(path: Path, as_stranger: bool = False) -> Iterator[League]:
    """Open the league of a database file.

    It can always be read, and written while no server has it open. Calls raise NotFound if the file does not exist, and
    CutpurseError if they need a running server or cannot write now.

    Args:
        path: The database; the creation of a ladder creates it.
        as_stranger: Show only what is public, and allow no writes.
    """
    caller = STRANGER if as_stranger else ANYTHING
    with ExitStack() as stack:
        opened: list[LeaderboardReader] = []  # opened at the first read

        def reads() -> Answers:
            if not opened:
                if not path.is_file():
                    raise NotFound(f"no database {path}: it does not exist")
                opened.append(stack.enter_context(LeaderboardReader(path)))
            return Answers(opened[0], _utc)

        def ask(name: str, request: Any) -> Any:
            with _told(path):
                if name in _WRITES and not as_stranger:
                    if name == "CreateLadder":
                        wanted_ladders(request)  # before the file is created
                    else:
                        reads()
                    with Store(path) as store:
                        return _WRITES[name](store, request)
                if name == "GetRecord":
                    return iter([ladder_pb2.GetRecordResponse(piece=reads().match_file(request, caller))])
                if name in _READS:
                    return _READS[name](reads(), request, caller, NOWHERE)
            raise CutpurseError(f"{path} is a file: that takes a server that runs; ask one with --server")

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


_WRITES: Final[dict[str, Callable[[Store, Any], Message]]] = {
    "CreateLadder": _create,
    "ChangeLadder": _change,
    "DeleteLadder": _delete,
    "LiftPause": _lift,
}


def _utc() -> datetime:
    return datetime.now(UTC)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn refusals into errors of the command line."""
    with plain_trouble():
        try:
            yield
        except CallRefused as refused:
            raise problem_of(refused.ending.reason, refused.ending.text) from None
        except InUse as problem:
            which = "a server" if problem.process is None else f"a server (process {problem.process})"
            raise CutpurseError(
                f"{which} has {path} open, and only one process may write it: ask it with --server"
            ) from None
