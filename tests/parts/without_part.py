"""A server without one of its parts: `python -m tests.parts.without_part PART FOLDER` prints what it does.

The part is taken out as if it was never installed: it has no entry point, and importing it fails. Then two bots play
rated matches on the database of FOLDER, and that is copied.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import io
import json
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from cutpurse.leaderboard import queries

PARTS = "cutpurse.server.parts"
entry_points: Any = importlib.metadata.entry_points


def _is_of(module: str, part: str) -> bool:
    return f"{module}.".startswith(f"{PARTS}.{part}.")


class NotInstalled(MetaPathFinder):
    """Finds no module of a part."""

    def __init__(self, part: str) -> None:
        self._part = part

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> None:
        if _is_of(fullname, self._part):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def take_out(part: str) -> None:
    """Let a part be not installed, with all that it brings."""

    def others(**selected: Any) -> Any:
        return [entry for entry in entry_points(**selected) if not _is_of(entry.value.partition(":")[0], part)]

    importlib.metadata.entry_points = others
    sys.meta_path.insert(0, NotInstalled(part))


async def play(folder: Path) -> dict[str, Any]:
    """Let two bots play two matches, and return what the server has of them."""
    from cutpurse.sdk.run import connect
    from cutpurse.server.hosting.configuration import configured
    from cutpurse.server.hosting.metrics import Metrics
    from cutpurse.server.hosting.open_arena import open_arena
    from cutpurse.server.hosting.part import parts_to_serve, read_settings
    from cutpurse.server.ladder_config import Ladder
    from cutpurse.server.logs import logger
    from cutpurse.server.settings import SETTINGS

    kinds = parts_to_serve(SETTINGS).kinds
    more = [setting for kind in kinds for setting in kind.settings]
    parts = read_settings(kinds, configured({}, {}, more=more))
    said = io.StringIO()
    ladders = [Ladder("greed", "greed", 2)]
    with open_arena("127.0.0.1:0", folder / "league.db", ladders, logger(said, "debug"), parts=parts) as opened:
        address = await opened.arena.start()
        try:
            bots = (connect("random", "greed", server=address, name=name, matches=2, quiet=True) for name in "ab")
            await asyncio.gather(*bots)
            metrics = Metrics(opened)
            metrics.take()
        finally:
            await opened.arena.stop()
        rankings = opened.store.run(queries.rankings, "greed")
    lines = map(json.loads, said.getvalue().splitlines())
    # a busy machine stands still
    warnings = [line for line in lines if line["level"] in ("warning", "error") and line["event"] != "stood still"]
    return {
        "parts": [kind.name for kind in kinds],
        "settings": [setting.name for setting in more],
        "matches": [entry.matches for entry in rankings],
        "skills": [entry.pairing_skill.mu for entry in rankings],
        "metrics": metrics.text().decode(),
        "warnings": warnings,
    }


def copy(folder: Path) -> str:
    """Copy the database, and return why that failed."""
    from tests.typed import typed

    return typed("db", "copy", "league.db", "copy.db", folder=folder).stderr


def list_matches(folder: Path) -> str:
    """List the matches of tournaments, and return why that failed; empty if it did not."""
    from tests.typed import typed

    return typed("match", "list", "--event", "tournament", "--db", "league.db", folder=folder).stderr


def main(part: str, folder: Path) -> None:
    take_out(part)
    print(json.dumps({**asyncio.run(play(folder)), "copy": copy(folder), "matches_of_events": list_matches(folder)}))  # noqa: T201  # a program


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
