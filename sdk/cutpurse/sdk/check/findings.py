"""What the check of a bot has found, a scenario a finding. This module knows no scenario."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Failed", "Finding", "CheckStatus", "Warned"]


class CheckStatus(Enum):
    """How a scenario went."""

    PASSED = "passed"
    WARNED = "warned"  # it works, but not as well as it could
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was seen in one scenario, and, where it is not passed, what to do."""

    scenario: str
    verdict: CheckStatus
    seen: str


class Failed(Exception):
    """Raised by a scenario: what was seen, and what to do."""


class Warned(Exception):
    """The same, where it is not so bad."""
