"""How Cutpurse is installed, for messages and the page. docs/how-to/install.md says the same.

No package index has Cutpurse yet. A release that publishes it changes `SOURCE`, and the lines of the documentation.
"""

from __future__ import annotations

from shlex import quote
from typing import Final

__all__ = ["how_to_install", "install_command"]

SOURCE: Final = "."  # a checkout; "cutpurse" would be the name in an index


def install_command(*extras: str) -> str:
    """Return the shell command that installs Cutpurse with these extras; it is typed in a checkout."""
    what = f"{SOURCE}[{','.join(extras)}]" if extras else SOURCE
    return f"pip install {quote(what)}"


def how_to_install(*extras: str) -> str:
    """Return the end of a message about something that is missing: where to type which command."""
    return f"in a checkout of Cutpurse, this does it: {install_command(*extras)}"
