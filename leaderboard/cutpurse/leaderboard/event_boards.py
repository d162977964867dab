"""The boards of events, stored in the transaction that announces their matches, and the matches of an event.

So the board of an event is known if and only if its match is, however a server ends, and an arena that has lost a
ladder announces none there. This module knows no rule of an event.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import Connection, bindparam, or_, select, union_all

from cutpurse.leaderboard.relations import EVENT_BOARDS, EVENT_LADDERS, EVENTS, MATCHES
from cutpurse.leaderboard.rows import add_rows
from cutpurse.leaderboard.write_hooks import MatchesAnnounced

__all__ = ["EVENT_MATCHES", "store_event_boards"]


def store_event_boards(connection: Connection, announced: MatchesAnnounced) -> None:
    """Store whose boards these matches are played on; a board that was void before is replaced."""
    rows = [
        {
            "event_id": board.event,
            "duel": board.duel,
            "board": board.board,
            "match_id": match.match,
            "board_id": match.deal.board,
            "result": "",
        }
        for match in announced.matches
        if (board := match.event_board) is not None
    ]
    add_rows(connection, EVENT_BOARDS, rows, replaces=True)


_EVENT: Final = EVENTS.alias("event")
_PARENT: Final = EVENTS.alias("parent")  # season of a final, series of a season
_SERIES: Final = EVENTS.alias("series")  # of a final
_FAMILY: Final = (  # the event `event`, or all of the kind `event`, with what belongs to them
    select(_EVENT.c.id)
    .select_from(
        _EVENT.outerjoin(_PARENT, _PARENT.c.id == _EVENT.c.parent_id).outerjoin(
            _SERIES, _SERIES.c.id == _PARENT.c.parent_id
        )
    )
    .where(
        or_(
            *(
                column == bindparam("event")
                for event in (_EVENT, _PARENT, _SERIES)
                for column in (event.c.id, event.c.format)
            )
        )
    )
)
_ON_OWN_LADDERS: Final = EVENT_LADDERS.c.is_own & EVENT_LADDERS.c.event_id.in_(_FAMILY)
_OF_ITS_BOARDS: Final = EVENT_BOARDS.c.event_id.in_(_FAMILY)
# Numbers of the matches of `event`, an ID or a kind of events. Version 0.2 did not always store the board.
EVENT_MATCHES: Final = union_all(
    select(MATCHES.c.number).join(EVENT_BOARDS, EVENT_BOARDS.c.board_id == MATCHES.c.board_id).where(_OF_ITS_BOARDS),
    select(MATCHES.c.number)
    .join(EVENT_BOARDS, EVENT_BOARDS.c.match_id == MATCHES.c.id)
    .where(EVENT_BOARDS.c.board_id.is_(None), _OF_ITS_BOARDS),
    select(MATCHES.c.number)
    .join(EVENT_LADDERS, EVENT_LADDERS.c.ladder_id == MATCHES.c.ladder_id)
    .where(_ON_OWN_LADDERS),
)
