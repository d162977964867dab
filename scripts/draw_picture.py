"""The script that draws docs/watch.svg, the picture of the README: a match of Greed as a spectator sees it.

usage: .venv/bin/python scripts/draw_picture.py
"""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI

from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.sdk.text_view import event_lines, render_table
from cutpurse.sdk.views import VIEWS

DECISION = 33  # during a raid
NAMES = ("greedy", "my_bot.py", "random", "random")


def draw() -> str:
    """Return the picture as SVG, without external fonts."""
    match = Match(GAMES["greed"], NAMES, bytes(range(32)), log=True)
    since = 0
    while (decision := match.decision()) and len(match.choices) < DECISION:
        since = len(match.game.log or ())
        match.answer(decision.seat, decision.number, len(decision.options) - 1)
    log = match.game.log or []
    view = VIEWS["greed"](match.game.view(None), log[since:], since)
    console = Console(record=True, width=84, file=io.StringIO())
    console.print("$ cutpurse play greed greedy my_bot.py random random --watch", style="bold green", highlight=False)
    for line in [*event_lines(view), "", *render_table(view, NAMES)]:
        console.print(line, style="bold" if not line.startswith((" ", "-")) else "", highlight=False)
    svg = console.export_svg(title="cutpurse", theme=MONOKAI, unique_id="watch")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    Path("docs/watch.svg").write_text(draw(), encoding="utf-8")
