"""The shortest possible bot: only what a bot must have."""

from __future__ import annotations

from typing import Any

from cutpurse.sdk.decision import Decision

__all__ = ["FirstOptionBot"]


class FirstOptionBot:
    """A bot that always chooses the first option."""

    reads_events = False  # so a server need not send them
    reads_knowledge = False  # so what it could prove need not be worked out beside a learner
    hides_time = False  # it answers within a few milliseconds

    def choose(self, view: Any, decision: Decision) -> int:
        """Return the index of the first option; there always is one."""
        return 0
