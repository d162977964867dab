"""A league in a file: the answers of LadderService from a database, without a server, for whoever can read the file.

It is the entry point `db` of the group `cutpurse.leagues`, by which the command line finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from google.protobuf.message import Message

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard import errors
from cutpurse.leaderboard.reader import Reader
from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.league import League, problem_of
from cutpurse.server.errors import Refused
from cutpurse.server.league import ANYTHING, NOWHERE, Answers, Caller, Presence
from cutpurse.v1 import ladder_pb2

__all__ = ["local"]


@contextmanager
def local(path: Path) -> Iterator[League]:
    """The league of a database file, also while a server has it open.

    Its calls raise as those of a `League` do: NotFound if the file is not there, CutpurseError for what takes a server
    that runs.
    """
    if not path.is_file():
        raise NotFound(f"no database {path}: it does not exist")
    with _told(), Reader(path) as reader:
        answers = Answers(reader, lambda: datetime.now(UTC))
        reads: dict[str, Callable[[Any, Caller, Presence], Message]] = {
            "ListLadders": answers.list_ladders,
            "ListRankings": answers.list_rankings,
            "ListHistory": answers.list_history,
            "ListOpponents": answers.list_opponents,
            "ListMatches": answers.list_matches,
            "GetMatch": answers.get_match,
            "ListBots": answers.list_bots,
            "ListLogs": answers.list_logs,
        }

        def ask(name: str, request: Any) -> Any:
            if name == "GetRecord":
                with _told():
                    return iter([ladder_pb2.GetRecordResponse(piece=answers.match_file(request, ANYTHING))])
            if name not in reads:
                raise CutpurseError(f"{path} is a file: that takes a server that runs; ask one with --server")
            with _told():
                return reads[name](request, ANYTHING, NOWHERE)

        yield League(ask)


@contextmanager
def _told() -> Iterator[None]:
    """What is refused, as an error of the command line."""
    try:
        yield
    except Refused as refused:
        raise problem_of(refused.ending.reason, refused.ending.text) from None
    except errors.NotFound as problem:
        raise NotFound(str(problem)) from None
    except errors.LeaderboardError as problem:
        raise CutpurseError(str(problem)) from None
