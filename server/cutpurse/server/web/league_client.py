"""What the pages ask of a league, and what is remembered of its answers for a second.

The league is one that was opened as a stranger (see `league_at`), so all that is told here is public. A thousand
readers of a page cost the server one call a second. Functions may be called on any thread; those who ask the same at
the same time share one answer, which nobody may change. While the server does not answer, pages are told what it said
last (`last_known.py`). This module knows no page.
"""

from __future__ import annotations

import copy
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final, Self, TypeVar

from google.protobuf.message import Message

from cutpurse.engine.errors import CutpurseError
from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.league import Following, League, ranking_pages
from cutpurse.sdk.match_file import FiledMatch, read_matches
from cutpurse.server.web.last_known import LastKnown
from cutpurse.v1 import ladder_pb2

__all__ = ["Asking"]

KEEP_S: Final = 1.0  # that an answer is good for
SLOW: Final = 15  # times as long, for what many calls are made for at once
MOST_KEPT: Final = 512  # answers; the oldest goes
MOST_FILES: Final = 32  # match files, which never change

T = TypeVar("T")


class _Asked:
    """A question that is being answered, or was: whoever comes meanwhile waits for the same answer."""

    __slots__ = ("answer", "at", "is_answered", "problem")

    def __init__(self) -> None:
        self.is_answered = threading.Event()
        self.at = 0.0
        self.answer: Any = None
        self.problem: CutpurseError | None = None


class _AnswerCache:
    """The last answers, by question."""

    def __init__(self, most: int, keep_s: float, clock: Callable[[], float]) -> None:
        self._most, self._keep_s, self._clock = most, keep_s, clock
        self._asked: OrderedDict[object, _Asked] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, question: object, ask: Callable[[], T]) -> T:
        """Return the cached answer, or what `ask` returns.  Raises what `ask` raises, which is cached as well."""
        with self._lock:
            self._let_go()
            asked = self._asked.get(question)
            is_mine = asked is None or self._is_old(asked)
            if asked is None or is_mine:
                asked = self._asked[question] = _Asked()
                self._asked.move_to_end(question)
                while len(self._asked) > self._most:
                    self._asked.popitem(last=False)
        if is_mine:
            self._answer(question, asked, ask)
        asked.is_answered.wait()
        if asked.problem is not None:
            raise asked.problem.with_traceback(None)
        answer: T = asked.answer
        return answer

    def is_fresh(self, question: object) -> bool:
        """Whether an answer is kept, so that nobody has to be waited for."""
        asked = self._asked.get(question)
        return asked is not None and asked.is_answered.is_set() and not self._is_old(asked)

    def _let_go(self) -> None:
        """Of what is good no more, from the oldest on: an answer may be megabytes, and nobody may ask for it again."""
        while self._asked and self._is_old(next(iter(self._asked.values()))):
            self._asked.popitem(last=False)

    def _is_old(self, asked: _Asked) -> bool:
        """Whether it is good no more. What went wrong is asked again soon, however long an answer is kept."""
        if not asked.is_answered.is_set():
            return False
        keep_s = self._keep_s if asked.problem is None else min(self._keep_s, KEEP_S)
        return self._clock() - asked.at >= keep_s

    def _answer(self, question: object, asked: _Asked, ask: Callable[[], Any]) -> None:
        try:
            asked.answer = ask()
        except CutpurseError as problem:
            asked.problem = problem
        except BaseException:
            asked.problem = CutpurseError("the league could not be asked")
            with self._lock:
                if self._asked.get(question) is asked:
                    del self._asked[question]
            raise
        finally:
            asked.at = self._clock()
            asked.is_answered.set()


class Asking:
    """A league, asked for pages.

    Each function raises as the calls of `League` do: NotFound, UsageError, ServerUnreachable and so on. Bots are named
    by messages; the version is empty where all or the newest are meant. slow: it may be 15 s old.
    """

    def __init__(
        self,
        league: League,
        *,
        live: bool = True,
        keep_s: float = KEEP_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """live: it is a server's league, and not a file's, in which nothing is being played."""
        self.live: Final = live
        self._league = league
        self._answers = _AnswerCache(MOST_KEPT, keep_s, clock)
        self._slow_answers = _AnswerCache(MOST_KEPT, SLOW * keep_s, clock)
        self._files = _AnswerCache(MOST_FILES, float("inf"), clock)
        self._last = LastKnown(clock, lambda: time.time_ns() // 1_000_000)
        self._falls_back = live

    @property
    def away_since_ms(self) -> int:
        """When the server answered last, in milliseconds since 1970, if it does not answer now; else 0."""
        return self._last.away_since_ms

    def only_now(self) -> Self:
        """Return a client that never falls back on earlier answers."""
        strict = copy.copy(self)
        strict._falls_back = False
        return strict

    def _ask(self, name: str, request: Message, slow: bool = False) -> Any:
        call = getattr(self._league, name)
        kept = self._slow_answers if slow else self._answers
        return self._told(kept, (name, request.SerializeToString(deterministic=True)), lambda: call(request))

    def _told(self, kept: _AnswerCache, question: object, ask: Callable[[], Message]) -> Any:
        """Return the cached answer, else what the server says, else what it said last."""

        def asked() -> Message:
            return kept.get(question, lambda: self._last.call(ask))

        return asked() if kept.is_fresh(question) else self._last.get(question, asked, falls_back=self._falls_back)

    # -- ladders
    def ladders(self, game: str = "") -> Sequence[ladder_pb2.LadderShown]:
        """All that are public, by name."""
        told: ladder_pb2.ListLaddersResponse = self._ask("ListLadders", ladder_pb2.ListLaddersRequest(game=game))
        return told.ladders

    def ladder(self, name: str) -> ladder_pb2.LadderShown:
        """One of them.  Raises NotFound."""
        for one in self.ladders():
            if one.defined.name == name:
                return one
        raise NotFound(f"there is no ladder {name!r:.80}")

    def rankings(self, ladder: str, every_version: bool = False) -> Sequence[ladder_pb2.Ranking]:
        """List the rankings, all pages, the best first."""
        return list(ranking_pages(lambda request: self._ask("ListRankings", request), ladder, every_version))

    def rankings_page(
        self, ladder: str, every_version: bool = False, limit: int = 0, after: int = 0
    ) -> ladder_pb2.ListRankingsResponse:
        """Return a page of the rankings."""
        request = ladder_pb2.ListRankingsRequest(ladder=ladder, every_version=every_version, limit=limit, after=after)
        told: ladder_pb2.ListRankingsResponse = self._ask("ListRankings", request)
        return told

    def history(
        self, ladder: str, bot: ladder_pb2.BotName, limit: int = 0, before: int = 0, *, slow: bool = False
    ) -> Sequence[ladder_pb2.RatingStep]:
        """List the history, the newest step first."""
        request = ladder_pb2.ListHistoryRequest(ladder=ladder, bot=bot, limit=limit, before=before)
        told: ladder_pb2.ListHistoryResponse = self._ask("ListHistory", request, slow)
        return told.steps

    def ratings(self, ladder: str, bot: ladder_pb2.BotName, *, slow: bool = False) -> Sequence[ladder_pb2.RatingPoint]:
        """List past ratings, the newest first."""
        request = ladder_pb2.ListHistoryRequest(ladder=ladder, bot=bot, limit=1)
        told: ladder_pb2.ListHistoryResponse = self._ask("ListHistory", request, slow)
        return told.ratings

    def opponents(self, ladder: str, bot: ladder_pb2.BotName, *, slow: bool = False) -> Sequence[ladder_pb2.Opponent]:
        """Those it met most often first."""
        request = ladder_pb2.ListOpponentsRequest(ladder=ladder, bot=bot)
        told: ladder_pb2.ListOpponentsResponse = self._ask("ListOpponents", request, slow)
        return told.opponents

    def bots(self, owner: str = "", ladder: str = "") -> Sequence[ladder_pb2.BotShown]:
        """Versions of bots, by owner, name and age."""
        request = ladder_pb2.ListBotsRequest(owner=owner, ladder=ladder)
        told: ladder_pb2.ListBotsResponse = self._ask("ListBots", request)
        return told.bots

    # -- matches
    def matches(
        self,
        ladder: str = "",
        bot: ladder_pb2.BotName | None = None,
        *,
        faulted: bool = False,
        since_ms: int = 0,
        until_ms: int = 0,
        limit: int = 0,
        before: int = 0,
    ) -> ladder_pb2.ListMatchesResponse:
        """Return a page of finished matches, the newest first."""
        request = ladder_pb2.ListMatchesRequest(
            ladder=ladder, bot=bot, faulted=faulted, since_ms=since_ms, until_ms=until_ms, limit=limit, before=before
        )
        told: ladder_pb2.ListMatchesResponse = self._ask("ListMatches", request)
        return told

    def match(self, name: str, *, slow: bool = False) -> ladder_pb2.GetMatchResponse:
        """One that is over, by its name or the first eight signs of it or more."""
        told: ladder_pb2.GetMatchResponse = self._ask("GetMatch", ladder_pb2.GetMatchRequest(match=name), slow)
        return told

    def match_or_open(self, name: str) -> ladder_pb2.GetMatchResponse | ladder_pb2.OpenMatch:
        """Return a finished match, or by whole name one that is played or stored.  Raises NotFound for any other."""
        try:
            return self.match(name)
        except NotFound:
            for one in self.open_matches(match=name).matches if name else ():
                if one.match == name:
                    return one
        # The first answer may be from when it was not stored, and the second from after that.
        request = ladder_pb2.GetMatchRequest(match=name)
        told: ladder_pb2.GetMatchResponse = self._told(
            self._answers, ("again", name), lambda: self._league.GetMatch(request)
        )
        return told

    def open_matches(self, ladder: str = "", match: str = "") -> ladder_pb2.ListOpenMatchesResponse:
        """List open matches, or only `match`, which may be over and not stored yet; a file has none."""
        if not self.live:
            return ladder_pb2.ListOpenMatchesResponse()
        request = ladder_pb2.ListOpenMatchesRequest(ladder=ladder, match=match)
        told: ladder_pb2.ListOpenMatchesResponse = self._ask("ListOpenMatches", request)
        return told

    def record_bytes(self, name: str) -> bytes:
        """Return the match file of a finished match, for download."""
        return self._files.get(name, lambda: self._fetched(name))

    def record(self, name: str) -> FiledMatch:
        """Read the match file of a finished match.  Raises RecordError if it does not verify."""
        return next(read_matches(self.record_bytes(name)))

    def _fetched(self, name: str) -> bytes:
        request = ladder_pb2.GetRecordRequest(match=name)
        self._last.check()
        return self._last.call(lambda: b"".join([told.piece for told in self._league.GetRecord(request)]))

    def watch(self, match: str = "", ladder: str = "") -> Following:
        """Watch a match, or those of a ladder one after the other, as a spectator; nothing is cached.

        Ends, or raises, when the server does; closing it lets go of it.
        """
        return self._league.WatchMatch(ladder_pb2.WatchMatchRequest(match=match, ladder=ladder))
