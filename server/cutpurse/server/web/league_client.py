"""The pages' client of a league, which caches answers for a second.

The league is opened without a token (see `league_at`), so all its answers are public. A thousand readers of a page
cost the server one call per second. All methods are thread-safe. Callers that ask the same question at the same time
share one answer, so no caller may change it. While the server does not answer, pages get its last answer
(`last_known.py`). This module knows no page.
"""

from __future__ import annotations

import copy
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Final, Self, TypeVar

from google.protobuf.message import Message

from cutpurse.engine.errors import CutpurseError
from cutpurse.server.people import is_people_ladder
from cutpurse.server.web.language.speaking import gettext
from cutpurse.server.web.last_known import LastKnown
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.league import Following, League, ranking_pages
from cutpurse.wire.match_file import FiledMatch, read_matches

__all__ = ["Asking"]

KEEP_S: Final = 1.0  # lifetime of a cached answer
SLOW: Final = 15  # factor on KEEP_S for pages that need many calls
MOST_KEPT: Final = 512  # maximum cached answers; the oldest is dropped
MOST_FILES: Final = 32  # maximum cached match files; these never change
AT_ONCE: Final = 8  # maximum questions of all callers of `together` that wait for the server at once

T = TypeVar("T")


class _Asked:
    """A question with its answer, or with callers that wait for the answer."""

    __slots__ = ("answer", "at", "is_answered", "problem")

    def __init__(self) -> None:
        self.is_answered = threading.Event()
        self.at = 0.0
        self.answer: Any = None
        self.problem: CutpurseError | None = None


class _AnswerCache:
    """The most recent answers, by question."""

    def __init__(self, most: int, keep_s: float, clock: Callable[[], float]) -> None:
        self._most, self._keep_s, self._clock = most, keep_s, clock
        self._asked: OrderedDict[object, _Asked] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, question: object, ask: Callable[[], T]) -> T:
        """Return the cached answer, or call `ask` for it. A CutpurseError of `ask` is cached and raised too."""
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
        """Return whether a current answer is cached, so that `get` does not wait."""
        asked = self._asked.get(question)
        return asked is not None and asked.is_answered.is_set() and not self._is_old(asked)

    def _let_go(self) -> None:
        """Drop expired answers, oldest first; an answer may have megabytes, and may never be needed again."""
        while self._asked and self._is_old(next(iter(self._asked.values()))):
            self._asked.popitem(last=False)

    def _is_old(self, asked: _Asked) -> bool:
        """Return whether an answer has expired. Errors always expire within KEEP_S."""
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
    """A caching client of a league, for pages.

    Methods raise the errors of `League`: NotFound, UsageError, ServerUnreachable and so on. A bot name without a
    version means all versions or the newest. With `slow`, an answer may be 15 s old.
    """

    def __init__(
        self,
        league: League,
        *,
        live: bool = True,
        keep_s: float = KEEP_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a client with an empty cache.

        Args:
            league: League to ask.
            live: Whether the league belongs to a server, not to a file, which has no open matches.
            keep_s: Seconds for which an answer is cached.
            clock: Returns monotonic seconds.
        """
        self.live: Final = live
        self._league = league
        self._answers = _AnswerCache(MOST_KEPT, keep_s, clock)
        self._slow_answers = _AnswerCache(MOST_KEPT, SLOW * keep_s, clock)
        self._files = _AnswerCache(MOST_FILES, float("inf"), clock)
        self._last = LastKnown(clock, lambda: time.time_ns() // 1_000_000)
        self._falls_back = live
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="together")

    @property
    def away_since_ms(self) -> int:
        """Timestamp of the last answer, in milliseconds since 1970, if the server does not answer now; else 0."""
        return self._last.away_since_ms

    def only_now(self) -> Self:
        """Return a client with the same cache that raises an error instead of returning the last known answer."""
        strict = copy.copy(self)
        strict._falls_back = False
        return strict

    def together(self, calls: Iterable[Callable[[], Any]]) -> list[Any]:
        """Make several calls at once, and return their answers in order.

        A page that needs many answers of a busy server then waits about as long as for one. The calls may not use
        `together` themselves. Raises the error of the first call that fails.
        """
        contexts = [copy_context() for _ in calls]  # the language of the request is in them
        return list(self._threads.map(lambda call, context: context.run(call), calls, contexts))

    def _ask(self, name: str, request: Message, slow: bool = False) -> Any:
        call = getattr(self._league, name)
        kept = self._slow_answers if slow else self._answers
        return self._told(kept, (name, request.SerializeToString(deterministic=True)), lambda: call(request))

    def _told(self, kept: _AnswerCache, question: object, ask: Callable[[], Message]) -> Any:
        """Return the cached answer, else the server's, else the last known one."""

        def asked() -> Message:
            return kept.get(question, lambda: self._last.call(ask))

        return asked() if kept.is_fresh(question) else self._last.get(question, asked, falls_back=self._falls_back)

    # -- ladders
    def ladders(self, game: str = "") -> Sequence[ladder_pb2.LadderShown]:
        """List the public ladders by name, optionally of one game."""
        told: ladder_pb2.ListLaddersResponse = self._ask("ListLadders", ladder_pb2.ListLaddersRequest(game=game))
        return told.ladders

    def rated_ladders(self) -> list[ladder_pb2.LadderShown]:
        """List the public ladders that have a ranking: all but those on which people play."""
        return [one for one in self.ladders() if not is_people_ladder(one.defined.name)]

    def ladder(self, name: str) -> ladder_pb2.LadderShown:
        """Return a public ladder.

        Raises:
            NotFound: If there is no such ladder.
        """
        for one in self.ladders():
            if one.defined.name == name:
                return one
        raise NotFound(gettext("there is no ladder %(name)s", name=f"{name!r:.80}"))

    def rankings(self, ladder: str, every_version: bool = False) -> Sequence[ladder_pb2.Ranking]:
        """List all rankings of a ladder, the best first."""
        return list(ranking_pages(lambda request: self._ask("ListRankings", request), ladder, every_version))

    def rankings_page(
        self, ladder: str, every_version: bool = False, limit: int = 0, after: int = 0
    ) -> ladder_pb2.ListRankingsResponse:
        """Return one page of the rankings of a ladder."""
        request = ladder_pb2.ListRankingsRequest(ladder=ladder, every_version=every_version, limit=limit, after=after)
        told: ladder_pb2.ListRankingsResponse = self._ask("ListRankings", request)
        return told

    def history(
        self, ladder: str, bot: ladder_pb2.BotName, limit: int = 0, before: int = 0, *, slow: bool = False
    ) -> Sequence[ladder_pb2.RatingStep]:
        """List the rating steps of a bot, the newest first."""
        request = ladder_pb2.ListHistoryRequest(ladder=ladder, bot=bot, limit=limit, before=before)
        told: ladder_pb2.ListHistoryResponse = self._ask("ListHistory", request, slow)
        return told.steps

    def ratings(self, ladder: str, bot: ladder_pb2.BotName, *, slow: bool = False) -> Sequence[ladder_pb2.RatingPoint]:
        """List past ratings of a bot, the newest first."""
        request = ladder_pb2.ListHistoryRequest(ladder=ladder, bot=bot, limit=1)
        told: ladder_pb2.ListHistoryResponse = self._ask("ListHistory", request, slow)
        return told.ratings

    def opponents(self, ladder: str, bot: ladder_pb2.BotName, *, slow: bool = False) -> Sequence[ladder_pb2.Opponent]:
        """List the opponents of a bot, the most frequent first."""
        request = ladder_pb2.ListOpponentsRequest(ladder=ladder, bot=bot)
        told: ladder_pb2.ListOpponentsResponse = self._ask("ListOpponents", request, slow)
        return told.opponents

    def bots(self, owner: str = "", ladder: str = "") -> Sequence[ladder_pb2.BotShown]:
        """List versions of bots by owner, name and age."""
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
        """Return one page of finished matches, the newest first."""
        request = ladder_pb2.ListMatchesRequest(
            ladder=ladder, bot=bot, faulted=faulted, since_ms=since_ms, until_ms=until_ms, limit=limit, before=before
        )
        told: ladder_pb2.ListMatchesResponse = self._ask("ListMatches", request)
        return told

    def match(self, name: str, *, slow: bool = False) -> ladder_pb2.GetMatchResponse:
        """Return a finished match, by its ID or its first 8 or more characters."""
        told: ladder_pb2.GetMatchResponse = self._ask("GetMatch", ladder_pb2.GetMatchRequest(match=name), slow)
        return told

    def match_or_open(self, name: str) -> ladder_pb2.GetMatchResponse | ladder_pb2.OpenMatch:
        """Return a finished match, or by its full ID one that is being played or stored.

        Raises:
            NotFound: If there is no such match.
        """
        try:
            return self.match(name)
        except NotFound:
            for one in self.open_matches(match=name).matches if name else ():
                if one.match == name:
                    return one
        # The match may have been stored between the two answers, so that both miss it: ask again, uncached.
        request = ladder_pb2.GetMatchRequest(match=name)
        told: ladder_pb2.GetMatchResponse = self._told(
            self._answers, ("again", name), lambda: self._league.GetMatch(request)
        )
        return told

    def open_matches(self, ladder: str = "", match: str = "") -> ladder_pb2.ListOpenMatchesResponse:
        """List open matches, or only `match`, which may be finished and not stored yet. A file has none."""
        if not self.live:
            return ladder_pb2.ListOpenMatchesResponse()
        request = ladder_pb2.ListOpenMatchesRequest(ladder=ladder, match=match)
        told: ladder_pb2.ListOpenMatchesResponse = self._ask("ListOpenMatches", request)
        return told

    def tournament(self, name: str) -> ladder_pb2.TournamentShown:
        """Return a tournament, by its ID."""
        request = ladder_pb2.GetTournamentRequest(tournament=name)
        told: ladder_pb2.GetTournamentResponse = self._ask("GetTournament", request)
        return told.tournament

    def season(self, series: str, number: int = 0) -> ladder_pb2.SeasonShown:
        """Return a season of a series, by default the newest."""
        request = ladder_pb2.GetSeasonRequest(series=series, number=number)
        told: ladder_pb2.GetSeasonResponse = self._ask("GetSeason", request)
        return told.season

    def record_bytes(self, name: str) -> bytes:
        """Return the match file of a finished match, for download."""
        return self._files.get(name, lambda: self._fetched(name))

    def record(self, name: str) -> FiledMatch:
        """Read the match file of a finished match.

        Raises:
            RecordError: If the file does not verify.
        """
        return next(read_matches(self.record_bytes(name)))

    def _fetched(self, name: str) -> bytes:
        request = ladder_pb2.GetRecordRequest(match=name)
        self._last.check()
        return self._last.call(lambda: b"".join([told.piece for told in self._league.GetRecord(request)]))

    def watch(self, match: str = "", ladder: str = "") -> Following:
        """Watch a match, or the matches of a ladder in turn, as a spectator. Nothing is cached.

        The stream ends, or raises, when the server ends it. Close it to stop watching.
        """
        return self._league.WatchMatch(ladder_pb2.WatchMatchRequest(match=match, ladder=ladder))
