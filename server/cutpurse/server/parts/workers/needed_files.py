"""The files that matches of workers need, so that no server removes them."""

from __future__ import annotations

from sqlalchemy import Connection

from cutpurse.server.parts.submissions.stored_archives import ArchivesNeeded
from cutpurse.server.parts.workers import work
from cutpurse.server.parts.workers.match_task import MatchTask

__all__ = ["add_needed_files"]


def add_needed_files(connection: Connection, event: ArchivesNeeded) -> None:
    """Add the packed files of the bots of all matches that wait for a worker, or that workers have."""
    event.keys.update(*map(MatchTask.files_in, work.open_tasks(connection).values()))
