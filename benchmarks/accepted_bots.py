"""Submitted bots for the benchmarks, put into a league as if each had passed its check, which takes a while."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from cutpurse.leaderboard.database import find_database
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.submissions import NewSubmission
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.submissions.storage import Storage, storage_beside
from cutpurse.wire.packing import pack

__all__ = ["accept_bots"]


def accept_bots(folder: Path, ladder: Ladder, sources: Mapping[str, str]) -> None:
    """Create a ladder in `folder`/league.db, and store bots that play it; no server may run.

    Args:
        folder: Where the database and the bots are created.
        ladder: Ladder of a game, for all bots.
        sources: Python source of each bot, by its name.
    """
    database = folder / "league.db"
    now = datetime.now(UTC)
    with Store(database) as store:
        store.create_ladders([ladder.kept], now)
        storage = Storage(storage_beside(find_database(str(database)).beside))
        for name, source in sources.items():
            bot = folder / name
            bot.mkdir()
            words = f'name = "{name}"\nversion = "1"\ngames = ["{ladder.game}"]\nrun = ["python", "bot.py"]\n'
            (bot / "bot.toml").write_text(words)
            (bot / "bot.py").write_text(source)
            content = pack(bot).content
            digest = storage.keep(content)
            shutil.copytree(bot, storage.part(digest))
            storage.built(digest)
            entry = store.hand_in(NewSubmission("local", name, "1", digest, len(content), [ladder.name]), now)
            store.accept(entry.id, now, "")
        storage.close()
