"""The state of a submission in words, for the command line and the page. This module knows no server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.v1 import submission_pb2

__all__ = ["describe_submission", "submission_state"]


def submission_state(shown: submission_pb2.SubmissionShown) -> str:
    """Return the state in a word or two."""
    from cutpurse.v1 import submission_pb2

    try:
        name = submission_pb2.SubmissionState.Name(shown.state)
    except ValueError:  # of a newer server
        return f"state {shown.state}"
    return name.removeprefix("SUBMISSION_STATE_").lower().replace("_", " ")


def describe_submission(shown: submission_pb2.SubmissionShown) -> str:
    """Describe the status of a submission in a few words, with the reason if it does not play."""
    how = submission_state(shown)
    if how == "accepted":
        if shown.is_active:
            how = "plays" if shown.is_running else "is to play, and does not run now"
        else:
            how = "plays for a version test alone" if shown.is_running else "does not play"
    elif how == "received" and shown.before:
        how = f"received, {shown.before} before it"
    if shown.why:
        how += f": {printable(shown.why, 400)}"
    return how if shown.is_kept else f"{how} (its archive was deleted)"
