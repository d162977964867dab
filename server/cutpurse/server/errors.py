"""The reasons for which calls end or are refused: one table, with their gRPC codes and retry delays.

The reasons are those of `ErrorReason` in arena.proto. Texts are fixed, or quote what the caller itself sent, shortened
and with unprintable characters replaced. They never contain the text of an exception, which might name a card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from google.protobuf import any_pb2, duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2

from cutpurse.engine.errors import CutpurseError, UsageError, did_you_mean
from cutpurse.server.invariants import ReasonUnknown

__all__ = [
    "DOMAIN",
    "LEFT",
    "OVERTAKEN",
    "REASONS",
    "AddressError",
    "CannotListen",
    "CallStatus",
    "CallRefused",
    "call_status",
    "incident",
    "legible",
]

DOMAIN: Final = "cutpurse"

# Reason -> gRPC code, and seconds after which a retry makes sense (None: only after a change).
_REASONS: Final[dict[str, tuple[int, float | None]]] = {
    "PROTOCOL_VERSION": (code_pb2.FAILED_PRECONDITION, None),
    "RULES_VERSION": (code_pb2.FAILED_PRECONDITION, None),
    "HELLO": (code_pb2.FAILED_PRECONDITION, None),
    "BAD_MESSAGE": (code_pb2.INVALID_ARGUMENT, None),
    "NOT_FOUND": (code_pb2.NOT_FOUND, None),
    "STREAMS": (code_pb2.RESOURCE_EXHAUSTED, 5.0),
    "MESSAGE_SIZE": (code_pb2.RESOURCE_EXHAUSTED, None),
    "SUPERSEDED": (code_pb2.ABORTED, None),
    "RESUME_EXPIRED": (code_pb2.NOT_FOUND, None),
    "DRAINING": (code_pb2.UNAVAILABLE, 2.0),
    "SILENT": (code_pb2.UNAVAILABLE, 0.0),
    "STORAGE": (code_pb2.UNAVAILABLE, 5.0),
    "INCIDENT": (code_pb2.INTERNAL, 1.0),
    "SETTINGS": (code_pb2.INVALID_ARGUMENT, None),
    "TOKEN_INVALID": (code_pb2.UNAUTHENTICATED, None),
    "TOKEN_SCOPE": (code_pb2.PERMISSION_DENIED, None),
    "FROZEN": (code_pb2.FAILED_PRECONDITION, None),
    "FULL": (code_pb2.RESOURCE_EXHAUSTED, 30.0),
    "PAUSED": (code_pb2.FAILED_PRECONDITION, None),
    "NOT_YOURS": (code_pb2.PERMISSION_DENIED, None),
    "ELSEWHERE": (code_pb2.FAILED_PRECONDITION, None),
}

REASONS: Final = tuple(_REASONS)


class AddressError(UsageError):
    """An address that the server cannot or must not listen on."""


class CannotListen(CutpurseError):
    """An address that another program uses, or that the system does not allow."""


@dataclass(frozen=True, slots=True)
class CallStatus:
    """The status that a call ends with.

    Args:
        code: gRPC code.
        reason: An ErrorReason without its prefix; empty for success.
        text: For people.
        retry_s: Seconds until a retry makes sense; None if there is no point.
        address: Address to dial instead; empty if there is none.

    Raises:
        ReasonUnknown: If the protocol does not have the reason, or has it with another code.
    """

    code: int
    reason: str
    text: str
    retry_s: float | None = None
    address: str = ""

    def __post_init__(self) -> None:
        if self.reason and _REASONS.get(self.reason, (None, None))[0] != self.code:
            raise ReasonUnknown

    def status(self) -> status_pb2.Status:
        """Encode it as google.rpc.Status, with ErrorInfo and, where waiting helps, RetryInfo."""
        details: list[any_pb2.Any] = []
        for detail in self._details():
            details.append(any_pb2.Any())
            details[-1].Pack(detail)
        return status_pb2.Status(code=self.code, message=self.text, details=details)

    def _details(self) -> list[error_details_pb2.ErrorInfo | error_details_pb2.RetryInfo]:
        told: list[error_details_pb2.ErrorInfo | error_details_pb2.RetryInfo] = []
        if self.reason:
            metadata = {"address": self.address} if self.address else {}
            told.append(error_details_pb2.ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=metadata))
        if self.retry_s is not None:
            delay = duration_pb2.Duration()
            delay.FromMilliseconds(round(self.retry_s * 1_000))
            told.append(error_details_pb2.RetryInfo(retry_delay=delay))
        return told


LEFT: Final = CallStatus(code_pb2.OK, "", "")

# A stream with the secret replaced this one. The new stream may be an old attempt that arrived late, while the bot
# waits on this one. So the status allows a reconnect.
OVERTAKEN: Final = CallStatus(code_pb2.UNAVAILABLE, "", "another stream of this session was opened")


class CallRefused(Exception):
    """A call that is refused. Its `ending` is shown, never the exception itself."""

    def __init__(self, reason: str, text: str, address: str = "") -> None:
        super().__init__(text)
        self.ending = call_status(reason, text, address=address)


def call_status(reason: str, text: str, retry_s: float | None = None, address: str = "") -> CallStatus:
    """Return the status for a reason of the table, with the table's delay unless another is given.

    Raises:
        ReasonUnknown: If the table does not have the reason.
    """
    if reason not in _REASONS:
        raise ReasonUnknown
    code, usual = _REASONS[reason]
    return CallStatus(code, reason, text, usual if retry_s is None else retry_s, address)


def incident(number: str) -> CallStatus:
    """Return the status for a server error: the caller gets an incident number and nothing else."""
    return call_status("INCIDENT", f"the server made a fault, number {number}; its log says more")


def no_ladder(name: str, owner: str | None, names: Sequence[str] = ()) -> str:
    """Describe that no ladder has this name.

    Args:
        name: The requested name.
        owner: Owner of the caller's token, None without one.
        names: Names of ladders that the caller may see, for a hint if one is similar.
    """
    private = " (a private one needs a token)" if owner is None else ""
    return f"no ladder is called '{legible(name, 40)}' here{did_you_mean(name, names)}{private}"


def legible(text: str, most: int) -> str:
    """Return a stranger's text in displayable form: at most `most` characters, with unprintable ones replaced."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:most])
