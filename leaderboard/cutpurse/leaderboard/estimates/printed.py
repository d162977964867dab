"""The program that prints estimates: `python -m cutpurse.leaderboard.estimates.printed DATABASE LADDER...`.

It prints one line for each ladder. A server runs it as a process of low priority, so that no match waits for it. It
opens the database read-only; `cutpurse db estimate` is the command for people.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.estimates.result_matrix import ladder_results
from cutpurse.leaderboard.reader import LeaderboardReader

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Print the estimates of ladders.

    Args:
        arguments: Address of the database, then names of ladders.

    Returns:
        The exit code: 0 if all are printed, else 1.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # scipy is loaded later; the other cores are for matches
    database, *ladders = arguments
    try:
        with LeaderboardReader(database) as reader:
            for ladder in ladders:
                sys.stdout.write(reader.run(ladder_results, ladder).estimates().to_json() + "\n")
    except LeaderboardError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
