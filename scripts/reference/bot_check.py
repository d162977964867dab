"""The page of the check of a bot, made from its scenarios in `cutpurse.check.scenarios`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutpurse.check.scenarios import SCENARIOS, WITH_OTHER, whole_match
from scripts.reference.page_parts import paragraphs, table

__all__ = ["page"]

_PAGE = """# The check of a bot

Look up what `cutpurse bot check` tries, and what it expects. To run it, see
[Check it in every situation](../how-to/play_on_a_server.md#check-it-in-every-situation).

It starts the program with a server of its own and plays these scenarios, in this order. Every answer must be legal, and
every message acknowledged. `CUTPURSE_TRUST` names the second server's host and `.league.example`. Seconds are *own
time*: while the bot or the check waits for a processor, they almost stand still. If the machine is too busy all the
same, a scenario is tried once more, and then the check ends with exit code 1 and "the machine was busy".

{scenarios}
The server checks a submitted bot in the same way, without {others}, since it has no network.
"""


def page() -> str:
    """Return the text of the page."""
    (first, *rest) = SCENARIOS
    named: list[tuple[str, Callable[..., Any]]] = [first, ("GAME, a match", whole_match), *rest]
    others = " and ".join(f"`{name}`" for name, scenario in SCENARIOS if scenario in WITH_OTHER)
    rows = [(name, " ".join(paragraphs(scenario.__doc__))) for name, scenario in named]
    return _PAGE.format(scenarios=table(("scenario", "what it does, and what the bot must do"), rows), others=others)
