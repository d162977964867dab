"""The shortest bot there is: what a bot must have, and nothing else."""

from __future__ import annotations

from typing import Any

from cutpurse.sdk.decision import Decision

__all__ = ["FirstOptionBot"]


class FirstOptionBot:
    """Takes whatever is named first."""

    reads_events = False  # so a server need not send them

    def choose(self, view: Any, decision: Decision) -> int:
        """The index of an option; there is always a first one."""
        return 0
