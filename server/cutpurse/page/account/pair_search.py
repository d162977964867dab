"""Pairs of bots that may have an agreement, for the host of a ladder: one search at a time, in a process of its own.

The host's own calls load matches and records. The process gets them, and no token. This module knows no HTTP.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain, islice
from threading import Lock
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.process.interpreter import module_command
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound, ServerRefused
from cutpurse.wire.installation import install_command
from cutpurse.wire.league import League, match_pages

__all__ = ["MOST_MATCHES", "PairSearch"]

MOST_MATCHES: Final = 1_000  # newest of a ladder: some 20 s of work
LEAST_SEATS: Final = 3
MAX_S: Final = 180.0  # for the process, on a busy machine
COMMAND: Final = module_command("cutpurse.lab.pairs.pair_document")
BUSY: Final = gettext_noop("the pairs of a ladder are being searched; try again in a minute")
FAILED: Final = gettext_noop("the pairs of this ladder could not be searched; try cutpurse ladder pairs")
NO_NUMPY: Final = gettext_noop("this page cannot search pairs: %(command)s adds what it needs")
TWO_SEATS: Final = gettext_noop("with two seats, there is nobody to gain from together")


class PairSearch:
    """Searches pairs, one ladder at a time; any thread may call it."""

    def __init__(self, command: Sequence[str] = COMMAND, max_s: float = MAX_S) -> None:
        """Set the command that searches, and the seconds that it may take."""
        self._command = tuple(command)
        self._max_s = max_s
        self._turn = Lock()

    def search(self, league: League, ladder: ladder_pb2.LadderShown) -> dict[str, Any]:
        """Return the document of `cutpurse ladder pairs --json` for the newest matches of a ladder.

        Raises:
            UsageError: If its matches have two seats, or a library is missing.
            ServerRefused: If another search runs, or it takes too long or fails.
            CutpurseError: If the server refuses a call.
        """
        if ladder.defined.seats < LEAST_SEATS:
            raise UsageError(gettext(TWO_SEATS))
        if find_spec("numpy") is None:
            raise UsageError(gettext(NO_NUMPY, command=install_command("learn")))
        if not self._turn.acquire(blocking=False):
            raise ServerRefused(gettext(BUSY))
        try:
            matches = chain.from_iterable(match_pages(league.ListMatches, ladder.defined.name))
            return self._run(b"\n".join([_line(league, match) for match in islice(matches, MOST_MATCHES)]))
        finally:
            self._turn.release()

    def _run(self, asked: bytes) -> dict[str, Any]:
        try:
            done = subprocess.run(self._command, input=asked, capture_output=True, timeout=self._max_s, check=True)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            raise ServerRefused(gettext(FAILED)) from None
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def _line(league: League, match: ladder_pb2.MatchShown) -> bytes:
    """Return a match with its file, in the form that the process reads."""
    try:
        pieces = league.GetRecord(ladder_pb2.GetRecordRequest(match=match.match))
        file = b"".join([told.piece for told in pieces]).decode()
    except NotFound:  # it has no record
        file = ""
    return json.dumps([base64.b64encode(match.SerializeToString()).decode(), file]).encode()
