"""Why the server decided for a seat, and how a seat ended its match, in the language of the request.

This module knows no match.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cutpurse.engine.match import EndCause
from cutpurse.page.language.speaking import gettext, gettext_noop

__all__ = ["end_cause_text", "why_safe"]

_WHY_SAFE: Final[Mapping[EndCause, str]] = {  # as `cutpurse.wire.text.WHY_SAFE` has it
    EndCause.TIMEOUT: gettext_noop("no answer in time"),
    EndCause.ILLEGAL: gettext_noop("the bot answered illegally"),
    EndCause.CRASHED: gettext_noop("the bot crashed"),
    EndCause.DISCONNECTED: gettext_noop("the bot was away"),
}
_ENDED: Final[Mapping[EndCause, str]] = {
    EndCause.TIMEOUT: gettext_noop("timeout"),
    EndCause.ILLEGAL: gettext_noop("illegal"),
    EndCause.CRASHED: gettext_noop("crashed"),
    EndCause.DISCONNECTED: gettext_noop("disconnected"),
    EndCause.VOID_SERVER: gettext_noop("void server"),
    EndCause.VOID_OPERATOR: gettext_noop("void operator"),
    EndCause.VOID_OUTAGE: gettext_noop("void outage"),
}


def why_safe(cause: EndCause) -> str:
    """Say why a seat took the safe option."""
    return gettext(_WHY_SAFE[cause])


def end_cause_text(cause: EndCause) -> str:
    """Say in a word or two how a seat ended its match; empty if it played to the end."""
    return gettext(_ENDED[cause]) if cause is not EndCause.NORMAL else ""
