"""The state of a submission in words, for the command line and the page. This module knows no server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.v1 import submission_pb2

__all__ = ["describe_submission", "submission_state"]


def submission_state(submission: submission_pb2.SubmissionShown) -> str:
    """Return the state in a word or two."""
    from cutpurse.v1 import submission_pb2

    try:
        name = submission_pb2.SubmissionState.Name(submission.state)
    except ValueError:  # of a newer server
        return f"state {submission.state}"
    return name.removeprefix("SUBMISSION_STATE_").lower().replace("_", " ")


def describe_submission(submission: submission_pb2.SubmissionShown) -> str:
    """Describe the status of a submission in a few words, with the reason if it does not play."""
    if submission.licence and not submission.state:  # of another owner
        return f"published, {printable(submission.licence, 64)}"
    how = submission_state(submission)
    if how == "accepted":
        if submission.is_active:
            how = "plays" if submission.is_running else "is to play, and does not run now"
        else:
            how = "plays for a version test alone" if submission.is_running else "does not play"
    elif how == "received" and submission.before:
        how = f"received, {submission.before} before it"
    if submission.why:
        how += f": {printable(submission.why, 400)}"
    if submission.licence:
        how += f", published under {printable(submission.licence, 64)}"
    return how if submission.is_kept else f"{how} (its archive was deleted)"
