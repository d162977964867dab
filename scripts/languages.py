"""A ladder of bots in every language, and the table of its results.

Usage: python scripts/languages.py [--game GAME] [--seats N] [--matches N]

Every bot that `cutpurse bot init` writes is built, if this machine has the tools; missing ones are reported. The bots
connect to a server in this process, and play. All except the JavaScript bot choose by the same rule, so the order is
mostly random. The table shows that they play together, how fast each answers, and that none makes faults.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

CHECKOUT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))  # for the workshop of the tests

from cutpurse.games import GAMES, game_named  # noqa: E402
from cutpurse.leaderboard import queries  # noqa: E402
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates  # noqa: E402
from cutpurse.leaderboard.store import Store  # noqa: E402
from cutpurse.process.child import Child  # noqa: E402
from cutpurse.server.hosting.open_arena import open_arena  # noqa: E402
from cutpurse.server.ladder_config import NUMBERS, Ladder  # noqa: E402
from cutpurse.server.logs import logger  # noqa: E402
from cutpurse.wire.server_address import SERVER_VARIABLE  # noqa: E402
from tests.languages.workshop import LANGUAGES, MISSING, Made, built  # noqa: E402

LADDER: Final = "languages"
OURS: Final = [sys.executable, "-m", "cutpurse.cli", "bot", "run", "--quiet", "--name", "python"]
# The order of starting: otherwise all matches would begin before the slow ones are connected.
SLOW_TO_START: Final = ("python", "java", "typescript", "javascript", "cpp", "rust", "go")
LOOK_S: Final = 0.5
TELL: Final = 10  # matches between two lines of progress


def commands(folder: Path) -> dict[str, list[str]]:
    """Return the command of each bot that can run on this machine, by language; print why the others cannot."""
    by_language = {"python": [*OURS, str(CHECKOUT / "tests" / "languages" / "rule.py") + ":Starter"]}
    for language in LANGUAGES:
        print(f"building {language} ...", file=sys.stderr)
        code, out, err = built(folder, language)
        if code == MISSING:
            print(f"{language} is skipped: {' '.join(err.split())}", file=sys.stderr)
        elif code:
            raise SystemExit(f"{language} does not build:\n{out}{err}")
        else:
            by_language[language] = Made(language, folder / language).command
    return by_language


async def played(folder: Path, bots: dict[str, list[str]], ladder: Ladder) -> None:
    """Let the bots play all matches of the ladder."""
    match_count = ladder.matches_wanted or 0
    with (
        (folder / "server.log").open("w") as log,
        ExitStack() as children,
        open_arena("127.0.0.1:0", folder / "league.db", [ladder], logger(log)) as opened,
    ):
        address = await opened.arena.start()
        running = {}
        for language in sorted(bots, key=SLOW_TO_START.index):
            environment = {SERVER_VARIABLE: address, "CUTPURSE_BOT": language}
            running[language] = Child(language, bots[language], environment, quiet=True)
            children.callback(running[language].stop)
        last_report = -1
        while (done := len(opened.store.run(queries.matches, ladder=LADDER, limit=match_count))) < match_count:
            for language, child in running.items():
                if child.code is not None:
                    raise SystemExit(f"{language} {child.how_it_ended()}: {child.last_words()}")
            if done // TELL > last_report:
                last_report = done // TELL
                print(f"{done} of {match_count} matches", file=sys.stderr)
            await asyncio.sleep(LOOK_S)
        await opened.arena.stop()


def table(store: Store) -> list[list[str]]:
    """Return the results as rows, one per bot, with a heading."""
    store.write(put_estimates, store.run(ladder_results, LADDER).estimates(), datetime.now(UTC))
    rows = [["bot", "place", "rating", "matches", "wins", "decisions", "median think time", "faults"]]
    for ranking in store.run(queries.rankings, LADDER):
        logs = store.run(queries.logs, ranking.owner, ranking.bot, limit=ranking.matches)
        thought = [ms for log in logs if log.course is not None for ms in log.course.thinking_ms]
        faults = sum(log.match.seats[log.seat].faults for log in logs)
        rating = "" if ranking.rating is None else f"{ranking.rating:.1f} ± {(ranking.high - ranking.low) / 2:.1f}"
        counts = [str(ranking.matches), str(ranking.wins), f"{len(thought):,}", f"{median(thought):g} ms", str(faults)]
        rows.append([ranking.bot, str(ranking.place or "-"), rating, *counts])
    return rows


def written(rows: Sequence[Sequence[str]]) -> str:
    """Format rows as a Markdown table."""
    head, *others = rows
    lines = [head, ["---", *["--:" for _ in head[1:]]], *others]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="steal_and_plunder", choices=tuple(GAMES))
    parser.add_argument("--seats", type=int, help="at a table; as many as may, up to six")
    parser.add_argument("--matches", type=int, default=100)
    options = parser.parse_args()
    seats = options.seats or min(6, game_named(options.game).words.seats[-1])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bots = commands(folder)
        if len(bots) < seats:
            raise SystemExit(f"{len(bots)} bots cannot fill {seats} seats: {', '.join(bots)}")
        ladder = Ladder(LADDER, options.game, seats, rating=NUMBERS[options.game], matches_wanted=options.matches)
        asyncio.run(played(folder, bots, ladder))
        with Store(folder / "league.db") as store:
            print(written(table(store)))


if __name__ == "__main__":
    main()
