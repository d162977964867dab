"""Comebacks and steals of finished matches for the page: worked out in a thread, match by match, and cached.

A match that is over never changes. Its record is read as any visitor may read it, and only for matches that were listed
to the reader, so a cached remark tells nothing that is hidden. This module knows no page.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Final

from cutpurse.engine.errors import CutpurseError
from cutpurse.page.league_client import Asking
from cutpurse.sdk.matches.remark import OF_RECORD, Remark, RemarkKind
from cutpurse.sdk.matches.remarkable import ranked, record_remarks, result_remark
from cutpurse.v1 import ladder_pb2

__all__ = ["NEWEST_RECORDS", "RecordRemarks"]

NEWEST_RECORDS: Final = 100  # matches whose records are read for one list; each takes some hundredths of a second
MAX_CACHED: Final = 5_000  # matches


class RecordRemarks:
    """The remarks of matches. All methods can be called on any thread."""

    def __init__(self) -> None:
        self._cached: OrderedDict[str, Mapping[RemarkKind, Remark]] = OrderedDict()
        self._lock = threading.Lock()
        self._is_working = False

    def best(
        self, kind: RemarkKind, matches: Sequence[ladder_pb2.MatchShown], ask: Asking
    ) -> tuple[list[tuple[ladder_pb2.MatchShown, Remark]], int]:
        """Return the matches with a remark of a kind, the greatest first, and how many are still to be looked at.

        Args:
            kind: What is remarkable.
            matches: Matches that the reader may see, the newest first; of records only the first ones are read.
            ask: Reads the records.
        """
        if kind not in OF_RECORD:
            pairs = [(match, remark) for match in matches if (remark := result_remark(kind, match)) is not None]
            return ranked(pairs), 0
        newest = [match for match in matches if not match.void_cause][:NEWEST_RECORDS]
        with self._lock:
            remarks = {match.match: self._cached.get(match.match) for match in newest}
            missing = [name for name, of_match in remarks.items() if of_match is None]
            is_mine = bool(missing) and not self._is_working
            self._is_working |= is_mine
        if is_mine:
            threading.Thread(target=self._work, args=(missing, ask.only_now()), name="remarks", daemon=True).start()
        pairs = [(match, of[kind]) for match in newest if (of := remarks[match.match]) and kind in of]
        return ranked(pairs), len(missing)

    def _work(self, names: Sequence[str], ask: Asking) -> None:
        try:
            for name in names:
                answer = ask.match(name)
                remarks = record_remarks(answer, ask.record_bytes(name) if answer.has_record else b"")
                with self._lock:
                    self._cached[name] = remarks
                    while len(self._cached) > MAX_CACHED:
                        self._cached.popitem(last=False)
        except CutpurseError:  # the server is away, or results are hidden by now: the next reader begins again
            pass
        finally:
            with self._lock:
                self._is_working = False
