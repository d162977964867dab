"""The Makefile as a user's shell calls it, also where the tests themselves were started by `make`."""

import os
import subprocess
from typing import Final

from tests.roots import CHECKOUT

__all__ = ["make"]

# What a make gives to those that it starts: their flags and variables, and that they name the folder they work in.
_OF_MAKE: Final = ("MAKE", "MFLAGS", "WORKERS", "TESTS", "BUILD")


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `make` in the checkout, with nothing from a make around it."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OF_MAKE)}
    command = ["make", *words]
    return subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
