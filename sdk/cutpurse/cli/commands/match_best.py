"""The most remarkable matches, for `cutpurse match list --best`."""

from __future__ import annotations

from typing import Final

from cutpurse.cli.progress import Progress
from cutpurse.sdk.matches.remark import OF_RECORD, Remark, RemarkKind
from cutpurse.sdk.matches.remarkable import ranked, record_remarks, result_remark
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import League
from cutpurse.wire.text import format_count

__all__ = ["best_matches", "remark_text"]

NEWEST_RESULTS: Final = 500  # matches among which it looks for what a result tells
NEWEST_RECORDS: Final = 100  # and for what only a record does
BEST: Final = 20  # matches that are listed


def best_matches(
    league: League, request: ladder_pb2.ListMatchesRequest, kind: RemarkKind
) -> tuple[ladder_pb2.ListMatchesResponse, dict[str, Remark]]:
    """Return the most remarkable of the newest matches, the greatest first, and what is remarkable about each."""
    most = request.limit or BEST
    request.limit = NEWEST_RECORDS if kind in OF_RECORD else NEWEST_RESULTS
    pairs = []
    matches = league.ListMatches(request).matches
    with Progress("matches") as progress:
        for number, match in enumerate(matches, 1):
            if kind in OF_RECORD:
                answer = league.GetMatch(ladder_pb2.GetMatchRequest(match=match.match))
                pieces = league.GetRecord(ladder_pb2.GetRecordRequest(match=match.match)) if answer.has_record else ()
                remark = record_remarks(answer, b"".join(message.piece for message in pieces)).get(kind)
                progress(number, len(matches))
            else:
                remark = result_remark(kind, match)
            if remark is not None:
                pairs.append((match, remark))
    best = ranked(pairs)[:most]
    return (
        ladder_pb2.ListMatchesResponse(matches=[match for match, _ in best]),
        {match.match: remark for match, remark in best},
    )


def remark_text(remark: Remark | None) -> str:
    """Describe what is remarkable, in one line; empty for nothing."""
    if remark is None:
        return ""
    at = f" (--at {remark.at})" if remark.at else ""
    match remark.kind:
        case RemarkKind.UPSET:
            return f"upset: the winner's chance was {remark.value:.0%}"
        case RemarkKind.CLOSE:
            return f"close: {remark.value:,.0f} between the first two"
        case RemarkKind.COMEBACK:
            return f"comeback: last for {remark.value:.0%} of the match{at}"
        case RemarkKind.STEAL:
            taken = f"${remark.value:,.0f}" if remark.is_money else format_count(int(remark.value), "card", "cards")
            return f"steal of {taken}{at}"
