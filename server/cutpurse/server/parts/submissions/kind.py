"""The part `submissions` as the server finds it: its settings, and how it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from cutpurse.server.hosting.configuration import Value
from cutpurse.server.hosting.part import PartKind
from cutpurse.server.settings import Setting, grouped

if TYPE_CHECKING:
    from cutpurse.leaderboard.write_hooks import WriteHooks
    from cutpurse.server.hosting.part import Core, Part
    from cutpurse.server.runners.port import Runner

__all__ = ["SUBMISSIONS"]

OFF: Final = "off"
SETTINGS: Final = grouped(
    "Submitted bots",
    Setting(
        "submissions",
        "text",
        OFF,
        "RUNNER",
        "Accept bots and run them: bubblewrap, container, or process (no isolation).",
        choices=("bubblewrap", "container", "process", OFF),
    ),
    Setting("runner_image", "text", "", "IMAGE", "Image for bots in containers.", "cutpurse-bot"),
)


def _read(values: Mapping[str, Value]) -> Runner | None:
    """Return the runner for submitted bots; None if none are accepted.

    Raises:
        UsageError: If it is unknown, or does not work on this machine.
    """
    name, where = values["submissions"]
    if name == OFF:
        return None
    from cutpurse.server.runners.choosing import working_runner

    return working_runner(name, values["runner_image"].value, where)


def _listen(hooks: WriteHooks) -> None:
    from cutpurse.leaderboard.write_hooks import BotForgets, CheckingLadder, DeletingLadder
    from cutpurse.server.parts.submissions.bot_memories import forget_ladder, forget_memory
    from cutpurse.server.parts.submissions.submissions import check_ladder

    hooks.on(CheckingLadder, check_ladder)
    hooks.on(DeletingLadder, forget_ladder)
    hooks.on(BotForgets, forget_memory)


def _open(runner: Runner, core: Core) -> Part:
    from cutpurse.server.parts.submissions.part import SubmissionsPart

    return SubmissionsPart(runner, core)


SUBMISSIONS: Final = PartKind(name="submissions", settings=SETTINGS, read=_read, open=_open, listen=_listen)
