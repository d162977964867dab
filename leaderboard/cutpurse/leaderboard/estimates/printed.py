"""`python -m cutpurse.leaderboard.estimates.printed FILE LADDER...`: a line of estimates for each ladder.

What a server runs beside itself, with others before it for the processor, so that nobody waits for it. It reads the
database and cannot write it; `cutpurse db estimate` is for people.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.reader import LeaderboardReader

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """0 if all of them are printed."""
    file, *ladders = arguments
    try:
        with LeaderboardReader(file) as reader:
            for ladder in ladders:
                sys.stdout.write(reader.ladder_estimates(ladder).to_json() + "\n")
    except LeaderboardError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
