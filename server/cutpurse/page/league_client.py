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
from cutpurse.page.language.speaking import gettext
from cutpurse.page.last_known import LastKnown
from cutpurse.sdk.matches.match_file import FiledMatch, read_matches
from cutpurse.v1 import event_pb2, ladder_pb2
from cutpurse.wire.errors import NotFound
from cutpurse.wire.league import Following, League, ranking_pages

__all__ = ["AnswerCache", "Asking"]

KEEP_S: Final = 1.0  # lifetime of a cached answer
SLOW: Final = 15  # factor on KEEP_S for pages that need many calls
MOST_KEPT: Final = 512  # maximum cached answers; the oldest is dropped
MOST_FILES: Final = 32  # maximum cached match files; these never change
AT_ONCE: Final = 8  # maximum questions of all callers of `together` that wait for the server at once

T = TypeVar("T")
Question = TypeVar("Question", bound=Message)
Answer = TypeVar("Answer", bound=Message)


class _Asked:
    """A question with its answer, or with callers that wait for the answer."""

    __slots__ = ("answer", "at", "is_answered", "problem")

    def __init__(self) -> None:
        self.is_answered = threading.Event()
        self.at = 0.0
        self.answer: Any = None
        self.problem: CutpurseError | None = None


class AnswerCache:
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
        answer = self._asked.get(question)
        return answer is not None and answer.is_answered.is_set() and not self._is_old(answer)

    def _let_go(self) -> None:
        """Drop expired answers, oldest first; an answer may have megabytes, and may never be needed again."""
        while self._asked and self._is_old(next(iter(self._asked.values()))):
            self._asked.popitem(last=False)

    def _is_old(self, answer: _Asked) -> bool:
        """Return whether an answer has expired. Errors always expire within KEEP_S."""
        if not answer.is_answered.is_set():
            return False
        keep_s = self._keep_s if answer.problem is None else min(self._keep_s, KEEP_S)
        return self._clock() - answer.at >= keep_s

    def _answer(self, question: object, answer: _Asked, ask: Callable[[], Any]) -> None:
        try:
            answer.answer = ask()
        except CutpurseError as problem:
            answer.problem = problem
        except BaseException:
            answer.problem = CutpurseError("the league could not be asked")
            with self._lock:
                if self._asked.get(question) is answer:
                    del self._asked[question]
            raise
        finally:
            answer.at = self._clock()
            answer.is_answered.set()


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
        self._answers = AnswerCache(MOST_KEPT, keep_s, clock)
        self._slow_answers = AnswerCache(MOST_KEPT, SLOW * keep_s, clock)
        self._files = AnswerCache(MOST_FILES, float("inf"), clock)
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

    def _ask(self, call: Callable[[Question], Answer], request: Question, slow: bool = False) -> Answer:
        kept = self._slow_answers if slow else self._answers
        question = type(request), request.SerializeToString(deterministic=True)
        return self._told(kept, question, lambda: call(request))

    def _told(self, kept: AnswerCache, question: object, ask: Callable[[], Answer]) -> Answer:
        """Return the cached answer, else the server's, else the last known one."""

        def asked() -> Answer:
            return kept.get(question, lambda: self._last.call(ask))

        return asked() if kept.is_fresh(question) else self._last.get(question, asked, falls_back=self._falls_back)

    # -- ladders
    def ladders(self, game: str = "", with_inner: bool = False) -> Sequence[ladder_pb2.LadderShown]:
        """List the public ladders by name, optionally of one game, or with those on which only people play."""
        request = ladder_pb2.ListLaddersRequest(game=game, with_inner=with_inner)
        return self._ask(self._league.ListLadders, request).ladders

    def ladder(self, name: str) -> ladder_pb2.LadderShown:
        """Return a public ladder.

        Raises:
            NotFound: If there is no such ladder.
        """
        for with_inner in (False, True):
            for entry in self.ladders(with_inner=with_inner):
                if entry.defined.name == name:
                    return entry
        raise NotFound(gettext("there is no ladder %(name)s", name=f"{name!r:.80}"))

    def rankings(self, ladder: str, every_version: bool = False) -> Sequence[ladder_pb2.Ranking]:
        """List all rankings of a ladder, the best first."""
        return list(ranking_pages(lambda request: self._ask(self._league.ListRankings, request), ladder, every_version))

    def rankings_page(
        self, ladder: str, every_version: bool = False, limit: int = 0, after: int = 0
    ) -> ladder_pb2.ListRankingsResponse:
        """Return one page of the rankings of a ladder."""
        request = ladder_pb2.ListRankingsRequest(ladder=ladder, every_version=every_version, limit=limit, after=after)
        return self._ask(self._league.ListRankings, request)

    def history(
        self, ladder: str, bot: ladder_pb2.BotName, limit: int = 0, before: int = 0, *, slow: bool = False
    ) -> Sequence[ladder_pb2.RatingStep]:
        """List the rating steps of a bot, the newest first."""
        request = ladder_pb2.ListHistoryRequest(ladder=ladder, bot=bot, limit=limit, before=before)
        return self._ask(self._league.ListHistory, request, slow).steps

    def ratings(self, ladder: str, bot: ladder_pb2.BotName, *, slow: bool = False) -> Sequence[ladder_pb2.RatingPoint]:
        """List past ratings of a bot, the newest first."""
        request = ladder_pb2.ListHistoryRequest(ladder=ladder, bot=bot, limit=1)
        return self._ask(self._league.ListHistory, request, slow).ratings

    def opponents(self, ladder: str, bot: ladder_pb2.BotName, *, slow: bool = False) -> Sequence[ladder_pb2.Opponent]:
        """List the opponents of a bot, the most frequent first."""
        request = ladder_pb2.ListOpponentsRequest(ladder=ladder, bot=bot)
        return self._ask(self._league.ListOpponents, request, slow).opponents

    def bots(self, owner: str = "", ladder: str = "") -> Sequence[ladder_pb2.BotShown]:
        """List versions of bots by owner, name and age."""
        request = ladder_pb2.ListBotsRequest(owner=owner, ladder=ladder)
        return self._ask(self._league.ListBots, request).bots

    # -- matches
    def matches(
        self,
        ladder: str = "",
        bots: Sequence[ladder_pb2.BotName] = (),
        *,
        faulted: bool = False,
        since_ms: int = 0,
        until_ms: int = 0,
        limit: int = 0,
        before: int = 0,
        event: str = "",
    ) -> ladder_pb2.ListMatchesResponse:
        """Return one page of finished matches, in which all of these bots sat, the newest first."""
        request = ladder_pb2.ListMatchesRequest(
            ladder=ladder,
            bots=bots,
            faulted=faulted,
            since_ms=since_ms,
            until_ms=until_ms,
            limit=limit,
            before=before,
            event=event,
        )
        return self._ask(self._league.ListMatches, request)

    def match(self, name: str, *, slow: bool = False) -> ladder_pb2.GetMatchResponse:
        """Return a finished match, by its ID or its first 8 or more characters."""
        return self._ask(self._league.GetMatch, ladder_pb2.GetMatchRequest(match=name), slow)

    def match_or_open(self, name: str) -> ladder_pb2.GetMatchResponse | ladder_pb2.OpenMatch:
        """Return a finished match, or by its full ID one that is being played or stored.

        Raises:
            NotFound: If there is no such match.
        """
        try:
            return self.match(name)
        except NotFound:
            for entry in self.open_matches(match=name).matches if name else ():
                if entry.match == name:
                    return entry
        # The match may have been stored between the two answers, so that both miss it: ask again, uncached.
        request = ladder_pb2.GetMatchRequest(match=name)
        return self._told(self._answers, ("again", name), lambda: self._league.GetMatch(request))

    def open_matches(self, ladder: str = "", match: str = "") -> ladder_pb2.ListOpenMatchesResponse:
        """List open matches, or only `match`, which may be finished and not stored yet. A file has none."""
        if not self.live:
            return ladder_pb2.ListOpenMatchesResponse()
        request = ladder_pb2.ListOpenMatchesRequest(ladder=ladder, match=match)
        return self._ask(self._league.ListOpenMatches, request)

    def events(self) -> list[event_pb2.EventShown]:
        """List tournaments and seasons, the newest first."""
        return [*self._ask(self._league.ListEvents, event_pb2.ListEventsRequest()).events]

    def event(self, event: str, number: int = 0) -> event_pb2.EventShown:
        """Return an event, by its ID; of a series the season of this number, by default the newest."""
        request = event_pb2.GetEventRequest(event=event, season=number)
        return self._ask(self._league.GetEvent, request).event

    def record_bytes(self, name: str) -> bytes:
        """Return the match file of a finished match, for download.  Raises NotAuthorised if its replay is hidden."""
        if self.match(name).replay_hidden_until_ms:  # by now; the server refuses it
            return self._fetched(name)
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
        return self._last.call(lambda: b"".join([part.piece for part in self._league.GetRecord(request)]))

    def watch(self, match: str = "", ladder: str = "") -> Following:
        """Watch a match, or the matches of a ladder in turn, as a spectator. Nothing is cached.

        The stream ends, or raises, when the server ends it. Close it to stop watching.
        """
        return self._league.WatchMatch(ladder_pb2.WatchMatchRequest(match=match, ladder=ladder))
