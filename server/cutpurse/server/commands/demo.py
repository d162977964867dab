"""`cutpurse demo`: the whole platform on one machine, in about a minute."""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.engine_build import how_to_compile, is_compiled
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.games import GAMES
from cutpurse.process.signals import run_until_signalled
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.wire.errors import needs
from cutpurse.wire.text import format_count

if TYPE_CHECKING:
    from cutpurse.leaderboard.queries import Ranking
    from cutpurse.server.hosting.demo_run import DemoSummary

__all__ = ["demo"]


def demo(
    matches: Annotated[int, typer.Option(metavar="N", help="Rated matches of each game.")] = 30,
    folder: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A new folder for the results. [default: a temporary one]")
    ] = None,
    is_open: Annotated[
        bool, typer.Option("--open", help="Leave server and page open until Ctrl-C, and show the page in a browser.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run a server and sample bots, play rated matches of all five games, and print the rankings.

    The bots connect over gRPC. If the extra `web` is installed, the page for spectators is open meanwhile.

    Example: cutpurse demo --open
    """
    with needs("server"):
        from cutpurse.leaderboard.errors import LeaderboardError
        from cutpurse.server.hosting.demo_run import contestants, run_demo
        from cutpurse.server.hosting.page import Page
        from cutpurse.server.logs import capture_library_logs, logger
    if is_open:
        with needs("web"):
            import cutpurse.page.serving  # noqa: F401  # only a check; the page is another process
    if matches < 1:
        raise UsageError(f"--matches {matches}: at least 1 can be played")
    where = _new_folder(folder)
    bots = contestants(print_message)
    print_message(
        f"{', '.join(bot.name for bot in bots)} dial in; {format_count(matches, 'match', 'matches')} of each game"
    )
    progress = Progress("matches")
    began = time.perf_counter()

    def tell(stored: Mapping[str, int]) -> None:
        counts = [min(stored.get(game, 0), matches) for game in GAMES]
        progress(sum(counts), matches * len(counts), "  ".join(map("{} {}".format, GAMES, counts)))

    def show(outcome: DemoSummary) -> None:
        progress.end()
        _print(outcome, time.perf_counter() - began, where, as_json)

    def stay(outcome: DemoSummary) -> None:
        show(outcome)
        print_message("server and page stay open until Ctrl-C")

    try:
        with (where / "server.log").open("w", encoding="utf-8") as stream, ExitStack() as stack:
            log = logger(stream)
            capture_library_logs(log)
            page = stack.enter_context(Page("127.0.0.1:0", log)) if _has_web() else None
            if page is not None:
                print_message(f"the page is at http://{page.address}/")
                if is_open:
                    _show_in_browser(f"http://{page.address}/")
            outcome = run_until_signalled(
                lambda: run_demo(where, bots, matches, log, tell, page=page, stay=stay if is_open else None)
            )
    except LeaderboardError as problem:
        raise CutpurseError(str(problem)) from None
    finally:
        progress.end()
    if not is_open:
        show(outcome)


def _print(outcome: DemoSummary, seconds: float, where: Path, as_json: bool) -> None:
    from cutpurse.server.hosting.demo_run import DATABASE

    if as_json:
        print_json(_document(outcome, seconds))
    else:
        print_lines(_lines(outcome))
    print_message(f"{format_count(sum(outcome.matches.values()), 'match', 'matches')} in {seconds:.0f} s")
    print_message(f"ratings in {where / DATABASE}, records in {where / 'records'}, logs in {where}")
    if not is_compiled():  # 1.06 to 1.87 times: 5 to 30 matches of four greedy in each game, 2026-11-30
        print_message(
            "the engine is pure Python; compiled it plays local matches up to 1.9 times as fast: "
            f"in a checkout, make compiled or {how_to_compile()}, with a C compiler"
        )


def _has_web() -> bool:
    """Return whether the packages for the page are installed."""
    return all(find_spec(name) is not None for name in ("fastapi", "jinja2", "uvicorn"))


def _show_in_browser(address: str) -> None:
    """Open a browser if there is a display: a text browser would take over this terminal."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _new_folder(folder: Path | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="cutpurse-demo-"))
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise UsageError(f"--folder {folder}: it already exists; name a new one") from None
    except OSError as problem:
        raise UsageError(f"--folder {folder}: {problem.strerror}") from None
    return folder


def _lines(outcome: DemoSummary) -> list[str]:
    lines = []
    for game, rankings in outcome.rankings.items():
        lines.append(
            f"{GAMES[game].words.title}: {outcome.matches[game]} matches, {outcome.decisions[game]:,} decisions"
        )
        rows = [(f"{row.place or '-':>5}", row.bot, _rating(row), row.matches, row.wins) for row in rankings]
        lines += [*table(("place", "bot", "rating", "matches", "won"), rows), ""]
    for bot, faults in outcome.faults.items():
        lines.append(f"{bot} left {format_count(faults, 'decision')} to its safe options")
    return lines


def _document(outcome: DemoSummary, seconds: float) -> dict[str, Any]:
    return {
        "seconds": round(seconds, 1),
        "games": {
            game: {
                "matches": outcome.matches[game],
                "decisions": outcome.decisions[game],
                "rankings": [_row(row) for row in rankings],
            }
            for game, rankings in outcome.rankings.items()
        },
        "faults": dict(outcome.faults),
    }


def _rating(row: Ranking) -> str:
    """Format a rating with its 95 % interval; empty where there is none."""
    return "" if row.rating is None else f"{row.rating:.1f} ({row.low:.1f} to {row.high:.1f})"


def _row(row: Ranking) -> dict[str, Any]:
    return {
        "place": row.place or None,
        "bot": row.bot,
        "rating": row.rating,
        "low": None if row.rating is None else row.low,
        "high": None if row.rating is None else row.high,
        "matches": row.matches,
    }
