"""The calls of SubmissionService: submit a bot to a server, and follow its status.

A server's refusal becomes an error of the command line, as with a league. This module knows no command.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any, Final, TypeVar

import grpc

from cutpurse.engine.errors import UsageError
from cutpurse.v1 import submission_pb2, submission_pb2_grpc
from cutpurse.wire.connection import Dialling, dialling
from cutpurse.wire.errors import NotFound, ServerRefused
from cutpurse.wire.league import PATIENCE_S, refusal
from cutpurse.wire.packing import MOST_PACKED
from cutpurse.wire.text import NAME

__all__ = ["SENDING_S", "Submissions", "submissions_at", "version_named"]

Told = TypeVar("Told")

SENDING_S: Final = 150.0
PIECE: Final = 32_000  # bytes per message; a server accepts messages of 64 KiB
LACKS: Final = "runs no submitted bots: play there with `cutpurse bot run`, or ask its operator for --submissions"
_OPTIONS: Final = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.use_local_subchannel_pool", 1),
)


class Submissions:
    """The calls to one server. Each raises NotFound, NotAuthorised, UsageError, ServerUnreachable or ServerRefused."""

    def __init__(self, stub: Any, to: Dialling) -> None:
        self._stub = stub
        self._to = to

    @property
    def address(self) -> str:
        """The server's address."""
        return self._to.address

    def submit(self, content: bytes, ladders: Sequence[str] = ()) -> submission_pb2.SubmissionShown:
        """Submit an archive, as `pack` makes one; return when the server has stored it."""

        def pieces() -> Iterator[submission_pb2.SubmitRequest]:
            head = submission_pb2.SubmissionHead(sha256=sha256(content).digest(), size=len(content), ladders=ladders)
            yield submission_pb2.SubmitRequest(head=head)
            for at in range(0, len(content), PIECE):
                yield submission_pb2.SubmitRequest(piece=content[at : at + PIECE])

        call = self._stub.Submit
        answer = self._call(lambda: call(pieces(), timeout=SENDING_S, metadata=self._to.metadata))
        submission: submission_pb2.SubmissionShown = answer.submission
        return submission

    def list(self, bot: str = "", version: str = "", owner: str = "") -> Sequence[submission_pb2.SubmissionShown]:
        """List submissions, the newest first; of another owner the published ones."""
        request = submission_pb2.ListSubmissionsRequest(bot=bot, version=version, owner=owner)
        answer: submission_pb2.ListSubmissionsResponse = self._ask("ListSubmissions", request)
        return answer.submissions

    def one(self, bot: str, version: str) -> submission_pb2.SubmissionShown:
        """Return this version.  Raises NotFound if there is none."""
        for submission in self.list(bot, version):
            return submission
        raise NotFound(f"the server at {self.address} knows no {bot}:{version} of yours")

    def log(self, bot: str, version: str = "") -> submission_pb2.GetSubmissionLogResponse:
        """Return the log of a version, or of the latest submission."""
        request = submission_pb2.GetSubmissionLogRequest(bot=bot, version=version)
        answer: submission_pb2.GetSubmissionLogResponse = self._ask("GetSubmissionLog", request)
        return answer

    def archive(
        self,
        bot: str,
        version: str = "",
        owner: str = "",
        check: Callable[[submission_pb2.SubmissionShown], None] = lambda submission: None,
    ) -> bytes:
        """Return an archive as it was submitted.

        Args:
            bot: Name of the bot.
            version: Its version; empty: the newest.
            owner: Another owner, who has published it; empty: the caller.
            check: Called with what it is before it comes; may raise.

        Raises:
            ServerRefused: If it does not have the size and the SHA-256 that the server named.
        """
        request = submission_pb2.GetArchiveRequest(bot=bot, version=version, owner=owner)
        call = self._stub.GetArchive

        def pieces() -> bytes:
            messages = call(request, timeout=SENDING_S, metadata=self._to.metadata)
            submission = next(messages, submission_pb2.GetArchiveResponse()).submission
            check(submission)
            content = bytearray()
            for message in messages:
                content += message.piece
                if len(content) > min(submission.size, MOST_PACKED):
                    break
            if len(content) != submission.size or sha256(content).digest() != submission.sha256:
                raise ServerRefused(f"{self.address} sent an archive that is not the one that it named: try again")
            return bytes(content)

        return self._call(pieces)

    def publish(
        self, bot: str, version: str, licence: str, public_from_ms: int = 0, public_after: str = ""
    ) -> submission_pb2.SubmissionShown:
        """Publish a version under a licence, or withdraw it with an empty one."""
        request = submission_pb2.PublishVersionRequest(
            bot=bot, version=version, licence=licence, public_from_ms=public_from_ms, public_after=public_after
        )
        answer: submission_pb2.PublishVersionResponse = self._ask("PublishVersion", request)
        return answer.submission

    def retire(self, bot: str, version: str = "") -> submission_pb2.SubmissionShown:
        """Retire a bot."""
        answer: submission_pb2.RetireBotResponse = self._ask(
            "RetireBot", submission_pb2.RetireBotRequest(bot=bot, version=version)
        )
        return answer.submission

    def activate(self, bot: str, version: str) -> submission_pb2.SubmissionShown:
        """Activate this version."""
        answer: submission_pb2.ActivateVersionResponse = self._ask(
            "ActivateVersion", submission_pb2.ActivateVersionRequest(bot=bot, version=version)
        )
        return answer.submission

    def _ask(self, name: str, request: Any) -> Any:
        call = getattr(self._stub, name)
        return self._call(lambda: call(request, timeout=PATIENCE_S, metadata=self._to.metadata))

    def _call(self, ask: Callable[[], Told]) -> Told:
        try:
            return ask()
        except grpc.RpcError as error:
            raise refusal(error, self._to, LACKS) from None


@contextmanager
def submissions_at(server: str | None = None, ca: str | os.PathLike[str] | None = None) -> Iterator[Submissions]:
    """Open a connection to a server, for the length of the block."""
    to = dialling(server, ca)
    with to.blocking_channel(_OPTIONS) as channel:
        stub: Any = submission_pb2_grpc.SubmissionServiceStub(channel)
        yield Submissions(stub, to)


def version_named(text: str, needs_version: bool = False) -> tuple[str, str]:
    """Parse the name of one's own bot: NAME or NAME:VERSION, also as rankings show it.  Raises UsageError."""
    bot, colon, version = text.rpartition("/")[2].partition(":")
    if not NAME.fullmatch(bot) or (colon and not NAME.fullmatch(version)):
        raise UsageError(f"{text!r:.100} names no bot: write NAME or NAME:VERSION")
    if needs_version and not version:
        raise UsageError(f"which version of {bot}? write {bot}:VERSION; `cutpurse bot submitted {bot}` lists them")
    return bot, version
