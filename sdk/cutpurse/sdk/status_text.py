"""The queues, the disk and the parts of a server in words, for the command line and the page.

This module asks nobody.
"""

from __future__ import annotations

from typing import Final

from cutpurse.v1 import status_pb2
from cutpurse.wire.text import format_count, printable

__all__ = ["format_parts", "format_queues", "format_servers"]

_GIB: Final = 2**30


def format_queues(status: status_pb2.GetStatusResponse) -> list[str]:
    """Describe what waits at a server, its disk, and what workers do, one line for each; none for an older server."""
    if not status.disk_bytes:
        return []
    requests = format_count(status.waiting_requests, "requested match", "requested matches")
    lines = [
        f"waiting: {requests}, {format_count(status.waiting_writes, 'write', 'writes')} to the leaderboard",
        f"disk: {status.disk_free_bytes / _GIB:.1f} of {status.disk_bytes / _GIB:.1f} GiB free",
    ]
    if status.has_workers:
        waiting = format_count(status.waiting_work, "match waits", "matches wait")
        oldest = f" (for {status.oldest_work_s:.0f} s)" if status.waiting_work and status.oldest_work_s >= 1 else ""
        played = format_count(status.taken_work, "match", "matches")
        lines.append(f"workers: {played} being played, {waiting}{oldest}")
    return lines


def format_parts(status: status_pb2.GetStatusResponse) -> list[str]:
    """Return what the parts of a server say of themselves."""
    return [printable(line, 300) for part in status.parts for line in part.lines]


def format_servers(status: status_pb2.GetStatusResponse) -> list[str]:
    """Describe the servers that share a league, one line for each; none for a server that is alone."""
    lines = []
    for arena in status.arenas:
        ladders = ", ".join(printable(ladder, 64) for ladder in arena.ladders) or "no ladder"
        matches = format_count(arena.matches, "open match", "open matches")
        how = f"{matches}, {format_count(arena.bots, 'bot', 'bots')} online" if arena.version else "does not answer"
        lines.append(
            f"server {printable(arena.address, 200)}: {ladders}; {how}; leases renewed {arena.lag_s:.1f} s ago"
        )
    return lines
