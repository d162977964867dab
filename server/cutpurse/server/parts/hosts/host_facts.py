"""What a place must have in common with its server, so that bots run there as they were built and checked."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass

from cutpurse.wire.version import VERSION

__all__ = ["HostFacts", "host_facts"]


@dataclass(frozen=True, slots=True)
class HostFacts:
    """Facts of a machine that runs bots, or builds them.

    Attributes:
        version: Version of Cutpurse.
        platform: System, processor and Python.
        is_isolated: Whether bots are isolated.
    """

    version: str
    platform: str
    is_isolated: bool


def host_facts(runner: str) -> HostFacts:
    """Return the facts of this machine with the runner of this name."""
    python = ".".join(map(str, sys.version_info[:2]))
    return HostFacts(VERSION, f"{sys.platform}-{platform.machine()}, Python {python}", is_isolated=runner != "process")
