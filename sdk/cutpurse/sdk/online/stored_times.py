"""The file of a bot's answer times, so that a new process need not learn them again.

It is in the user's cache. Losing it costs only time, so nothing here raises: a file that cannot be read is ignored and
replaced, one that cannot be written is left out, and of several processes the last one wins.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from cutpurse.games import GAMES
from cutpurse.wire.answer_times import RECENT, AnswerTimes
from cutpurse.wire.server_address import TIMES_VARIABLE

__all__ = ["StoredTimes"]

MOST_BYTES: Final = 1 << 20  # some thirty times what all games need
MOST_S: Final = 86_400.0


class StoredTimes(AnswerTimes):
    """The answer times of one version of a bot, over all its processes."""

    def __init__(self, name: str, version: str, code: str) -> None:
        """Begin with what is stored.

        Args:
            name: Name of the bot.
            version: Its version.
            code: Path of its code, or empty. The times of other code are worthless.
        """
        super().__init__()
        folder = _folder()
        self._path = Path(folder) / f"{name}-{version}.json" if folder else None
        self._code = ""
        with suppress(OSError):
            self._code = sha256(Path(code).read_bytes()).hexdigest() if code else ""

        for game, asks in self._load().items():
            for ask, seconds in _dict(asks).items() if game in GAMES else ():
                for each in seconds[-RECENT:] if isinstance(seconds, list) else ():
                    if type(each) in (int, float) and 0 <= each <= MOST_S:
                        self.add(game, ask, float(each), is_shown=True)

    def _load(self) -> dict[str, Any]:
        """Return the times by game and question, as they were stored for this code; empty if there are none."""
        try:
            with (self._path or Path()).open("rb") as file:
                text = file.read(MOST_BYTES + 1)
            stored = _dict(json.loads(text)) if len(text) <= MOST_BYTES else {}
        except (OSError, ValueError, RecursionError):
            return {}
        return _dict(stored.get("seconds")) if stored.get("code") == self._code else {}

    def save(self) -> None:
        """Write a new file and move it into place, so that the file is complete at any time."""
        if self._path is None or not self.by_question:
            return
        seconds: dict[str, dict[str, list[float]]] = {}
        for (game, ask), times in self.by_question.items():
            seconds.setdefault(game, {})[ask] = [round(each, 5) for each in times]
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self._path.parent, delete=False, encoding="utf-8") as file:
                draft = Path(file.name)
                json.dump({"code": self._code, "seconds": seconds}, file)
            try:
                draft.replace(self._path)
            finally:
                draft.unlink(missing_ok=True)


def _folder() -> str:
    """Return the folder of these files; empty if there is none."""
    folder = os.environ.get(TIMES_VARIABLE)
    if folder is not None:
        return folder
    try:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError:  # the user has no home
        return ""
    return os.fspath(Path(cache) / "cutpurse" / "answer_times")


def _dict(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}
