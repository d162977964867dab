"""The pairs of bots that a search found, as JSON values; and the search as a process of its own.

`python -m cutpurse.lab.pairs.pair_document` reads a line of JSON for each match from stdin, the newest first: a
list of its MatchShown message in base64, and the text of its match file, empty without a record. It prints the document
of `pair_document`. The page of a host runs it, so that no other page waits. This module knows no server.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

from cutpurse.lab.pairs.ladder_tables import house_bots, ladder_tables
from cutpurse.lab.pairs.pair_search import PairFinding, PairReport, search_pairs
from cutpurse.lab.pairs.played_table import PlayedTable
from cutpurse.v1 import ladder_pb2

__all__ = ["newest_together", "pair_document", "pairs_of_lines"]

EXAMPLES: Final = 3  # newest matches of a pair
NICENESS: Final = 5  # of the process: bots and readers come first


def pair_document(report: PairReport, tables: Sequence[PlayedTable]) -> dict[str, Any]:
    """Return a report as JSON values; each finding names the newest matches of both bots in `tables`."""
    return {
        "matches": report.tables,
        "with_records": report.with_aims,
        "pairs": report.pairs,
        "tests": report.tests,
        "findings": [_finding(finding, tables) for finding in report.findings],
        "of_one_owner": [_finding(finding, tables) for finding in report.of_one_owner],
    }


def newest_together(finding: PairFinding, tables: Sequence[PlayedTable]) -> list[str]:
    """Return the IDs of the newest matches of both bots."""
    both = set(finding.pair)
    matches = (table.match for table in tables if both <= {player.of for player in table.players})
    return list(islice(matches, EXAMPLES))


def pairs_of_lines(lines: Iterable[bytes]) -> dict[str, Any]:
    """Search the pairs of matches in the form that the process reads.  Raises ValueError for another form."""
    entries: list[ladder_pb2.MatchShown] = []
    files: dict[str, bytes] = {}
    for line in lines:
        message, file = json.loads(line)
        match = ladder_pb2.MatchShown.FromString(base64.b64decode(message))
        entries.append(match)
        files[match.match] = file.encode()
    tables = list(ladder_tables(entries, files.__getitem__))
    return pair_document(search_pairs(tables, house_bots(tables)), tables)


def _finding(finding: PairFinding, tables: Sequence[PlayedTable]) -> dict[str, Any]:
    return {
        "bots": [{"owner": bot.owner, "bot": bot.bot} for bot in finding.pair],
        "matches": finding.tables,
        "kind": finding.kind.value,
        "verb": finding.verb or None,
        "is_mutual": finding.is_mutual,
        "seen": finding.seen,
        "usual": finding.expected,
        "p": finding.p,
        "newest": newest_together(finding, tables),
    }


def main() -> None:
    """Print the pairs of the matches on stdin."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    sys.stdout.write(json.dumps(pairs_of_lines(sys.stdin.buffer)))


if __name__ == "__main__":
    main()
