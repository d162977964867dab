"""The page of the server's state machines, made from their tables."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, NamedTuple

from cutpurse.server.hosting.arena_stages import ARENA_STAGES, ArenaEvent, ArenaStage
from cutpurse.server.matches.match_stages import MATCH_STAGES, MatchEvent, MatchStage
from cutpurse.server.matches.result_stages import RESULT_STAGES, ResultStage, StoreAnswer
from cutpurse.server.parts.submissions.bot_stages import BOT_STAGES, BotEvent, BotStage
from cutpurse.server.state_table import StateTable
from cutpurse.server.streams.session_stages import SESSION_STAGES, SessionEvent, SessionStage
from cutpurse.server.streams.table_stages import TABLE_STAGES, TableEvent, TableStage
from scripts.reference.comments import class_comments
from scripts.reference.page_parts import code, first_paragraph, sentence, table

__all__ = ["MACHINES", "Machine", "page"]

_PAGE: Final = """# States

Look up which state follows which in the server. Each machine is a literal table in the code; an event in a state
without an entry for it raises `EventMisplaced`, and the server logs an error.

{machines}"""


class Machine(NamedTuple):
    """A state machine of the server."""

    title: str
    states: type[Enum]
    events: type[Enum]
    table: StateTable[Any, Any]


MACHINES: Final = (
    Machine("A match", MatchStage, MatchEvent, MATCH_STAGES),
    Machine("A result", ResultStage, StoreAnswer, RESULT_STAGES),
    Machine("A table of a session", TableStage, TableEvent, TABLE_STAGES),
    Machine("A session", SessionStage, SessionEvent, SESSION_STAGES),
    Machine("A hosted bot", BotStage, BotEvent, BOT_STAGES),
    Machine("An arena", ArenaStage, ArenaEvent, ARENA_STAGES),
)


def page() -> str:
    """Return the text of the page."""
    return _PAGE.format(machines="\n".join(_section(machine) for machine in MACHINES))


def _section(machine: Machine) -> str:
    first = next(iter(machine.table))
    arrows = [
        f"    {state.value} --> {after.value}: {event.value}"
        for state, possible in machine.table.items()
        for event, after in possible.items()
    ]
    diagram = "\n".join(["```mermaid", "stateDiagram-v2", f"    [*] --> {first.value}", *arrows, "```\n"])
    return "\n".join(
        [
            f"## {machine.title}\n",
            f"`{machine.states.__name__}` in `{machine.states.__module__}`.\n",
            diagram,
            _meanings("state", machine.states),
            _meanings("event", machine.events),
        ]
    )


def _meanings(noun: str, members: type[Enum]) -> str:
    comments = class_comments(members)
    meaning = first_paragraph(members.__doc__).rstrip(".").lower()
    return table((noun, meaning), [(code(member.value), sentence(comments[member.name])) for member in members])
