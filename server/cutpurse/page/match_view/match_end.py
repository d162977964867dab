"""The end of a match for one of its players: the table with all cards open, and how it was decided.

This module knows no request and no server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cutpurse.page.match_view.drawing import rendered
from cutpurse.page.match_view.replay_path import Replayed
from cutpurse.page.match_view.scores import names_for

__all__ = ["match_end"]


def match_end(replayed: Replayed, match: str, seat: int, story: Mapping[str, Any]) -> str:
    """Draw the end of a match as a part of a page.

    Args:
        replayed: The match.
        match: Its ID, for links.
        seat: Seat of the player.
        story: How it was decided: `decided`, `timeline`, `turning_points`, `legend` and `worst`.
    """
    with replayed.lock:
        (last,) = replayed.moments(None, len(replayed.path(None).ats) - 1)
    names = names_for(replayed, seat)
    frame = replace(last.frame, seats=tuple([replace(player, short=names[player.seat]) for player in last.frame.seats]))
    return rendered("match_end.html", match=match, frame=frame, story=story)
