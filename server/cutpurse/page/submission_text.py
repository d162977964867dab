"""The state of a submission in the language of the request, as `cutpurse.sdk.submission_text` says it in English.

This module knows no page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.sdk.submission_text import submission_state
from cutpurse.v1 import submission_pb2
from cutpurse.wire.text import printable

__all__ = ["submission_text"]

_STATES: Final[Mapping[str, str]] = {
    "received": gettext_noop("received"),
    "unpacked": gettext_noop("unpacked"),
    "built": gettext_noop("built"),
    "accepted": gettext_noop("accepted"),
    "refused": gettext_noop("refused"),
    "taken off": gettext_noop("taken off"),
}
# By whether it is the active version, and whether it runs.
_ACCEPTED: Final[Mapping[tuple[bool, bool], str]] = {
    (True, True): gettext_noop("plays"),
    (True, False): gettext_noop("is to play, and does not run now"),
    (False, True): gettext_noop("plays for a version test alone"),
    (False, False): gettext_noop("does not play"),
}


def submission_text(shown: submission_pb2.SubmissionShown) -> str:
    """Describe the status of a submission in a few words, with the reason if it does not play."""
    state = submission_state(shown)
    how = gettext(_STATES[state]) if state in _STATES else state
    if state == "accepted":
        how = gettext(_ACCEPTED[shown.is_active, shown.is_running])
    elif state == "received" and shown.before:
        how = gettext("received, %(number)s before it", number=shown.before)
    if shown.why:
        how += f": {printable(shown.why, 400)}"
    return how if shown.is_kept else gettext("%(state)s (its archive was deleted)", state=how)
