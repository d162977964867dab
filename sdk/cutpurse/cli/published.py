"""Published versions as bots of local commands: `ann/sneak:3`, fetched from the server unless it is on this machine."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_message
from cutpurse.wire.errors import ServerRefused
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.v1 import submission_pb2
    from cutpurse.wire.published_bots import PublishedBot

__all__ = ["fetch_published", "prepare_published"]


def prepare_published(bots: Iterable[str]) -> None:
    """Fetch the published versions among these bots that are not on this machine, and say what each is, on stderr.

    Raises:
        UsageError: If the licence of one has to be accepted first.
        CutpurseError: If one is not as the server sent it, or errors of the server.
    """
    names = [name for name in dict.fromkeys(bots) if "/" in name and ":" in name]
    if not names:
        return
    from cutpurse.wire.published_bots import is_published, is_stored, load_published

    for name in filter(is_published, names):
        if is_stored(name):
            _describe("stored here", load_published(name), name)
        else:
            fetch_published(name, None, None, "")


def fetch_published(name: str, server: str | None, ca: Path | None, accepted: str) -> PublishedBot:
    """Fetch a published version, store it, and say so on stderr.

    Args:
        name: OWNER/NAME:VERSION.
        server: Server address; None: that of the environment.
        ca: PEM file with certificates to trust.
        accepted: Licence that the user accepts though it is not free.

    Raises:
        UsageError: If the licence has to be accepted first; nothing is fetched then.
        ServerRefused: If what came is no bot, or not what was named.
        CutpurseError: Errors of the server.
    """
    from cutpurse.wire.published_bots import FREE_LICENCES, store_published
    from cutpurse.wire.submission_client import submissions_at

    owner, _, rest = name.partition("/")
    bot, _, version = rest.partition(":")
    licences: list[str] = []

    def check(submission: submission_pb2.SubmissionShown) -> None:
        licence = submission.licence
        if (submission.owner, submission.bot, submission.version) != (owner, bot, version) or not licence:
            raise ServerRefused(f"the server sent something else than {name}, or without a licence")
        if licence not in FREE_LICENCES and licence != accepted:
            raise UsageError(
                f"{name} has the licence {printable(licence, 64)}, which may forbid what free licences allow: if you "
                f"accept it, cutpurse bot submitted {name} --fetch --accept-licence {printable(licence, 64)}"
            )
        licences.append(licence)

    with submissions_at(server, ca) as submissions:
        content = submissions.archive(bot, version, owner, check)
        stored = store_published(name, content, licences[-1], submissions.address)
    _describe(f"fetched from {submissions.address}", stored, name)
    return stored


def _describe(whence: str, bot: PublishedBot, name: str) -> None:
    facts = f"licence {printable(bot.licence, 64)}, SHA-256 {bot.digest[:16]}..."
    print_message(f"{name}: {whence}, {facts}; it runs as a program of yours, without a sandbox")
