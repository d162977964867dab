"""What the worker of a browser tab runs: it takes messages as JSON, and sends others.

The page is English; see `language/` for what other languages need.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import asdict

from cutpurse.engine.errors import CutpurseError
from cutpurse.page.language.speaking import gettext
from cutpurse.page.site.tab_file import open_file
from cutpurse.page.site.tab_table import TabTable
from cutpurse.page.site.tab_workshop import Workshop

__all__ = ["Tab"]


class Tab:
    """One tab of a browser: a table, or a match file."""

    def __init__(self, send: Callable[[str, str], None]) -> None:
        """Set up a tab; `send` gets the kind of a message and its data, mostly JSON."""
        self._send = send
        self._table: TabTable | None = None
        self._workshop = Workshop(send)

    def receive(self, text: str) -> None:
        """Answer a message."""
        message = json.loads(text)
        try:
            match message["kind"]:
                case "begin":
                    opponents, seat = message["opponents"], secrets.randbelow(len(message["opponents"]) + 1)
                    key, file = secrets.token_bytes(32), message["file"]
                    self._table = TabTable(message["game"], opponents, key, seat, file, self._send)
                    self._table.begin()
                case "look" if self._table is not None:
                    self._table.look()
                case "answer" if self._table is not None:
                    refused = self._table.answer(message["decision"], message["option"])
                    self._send("answered", json.dumps({"id": message["id"], "text": refused}))
                case "end" if self._table is not None:
                    self._send("story", json.dumps({"id": message["id"], "html": self._table.story()}))
                case "run":
                    self._workshop.run(message["game"], message["bot"], message["opponent"], secrets.token_hex(8))
                case "compare":
                    bots = message["bot"], message["before"]
                    self._workshop.compare(message["game"], *bots, message["opponent"], secrets.token_hex(8))
                case "pack":
                    self._workshop.pack(message["game"], message["bot"], message["name"], message["forLeague"])
        except CutpurseError as problem:
            self._send("failed", str(problem))

    def open(self, content: bytes, at: int, seat: int | None = None) -> None:
        """Send the checks of a match file, and its replay from moment `at` on: what `seat` saw, or all cards."""
        try:
            self._send("opened", json.dumps(asdict(open_file(bytes(content), at, seat))))
        except CutpurseError as problem:
            self._send("failed", gettext("This is no match that can be shown: %(why)s.", why=str(problem)))
