"""A replay as one HTML file that needs nothing else: styles, scripts, fonts and all moments are in it.

It is the page of the replay, made of the same templates and scripts. Links of the page lead to its site, or, if that
is not known, are plain text. Drawing a match takes about 10 ms a moment, so the page runs this module as a process: a
request as JSON on stdin, the file on stdout. This module knows no request of a browser.
"""

from __future__ import annotations

import json
import re
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.page.language.languages import offered_languages
from cutpurse.page.language.speaking import gettext_noop, language, speaking
from cutpurse.page.match_view.filed_replay import replay_of
from cutpurse.page.match_view.replay_context import ReplayRequest, hashes_of, moments_text, replay_context
from cutpurse.page.rendering import Rendering, StaticFile
from cutpurse.page.visitor_process import Refusals, VisitorProcess
from cutpurse.process.interpreter import module_command
from cutpurse.sdk.matches.match_file import FiledMatch, read_matches
from cutpurse.v1 import ladder_pb2

__all__ = ["ReplayFileProcess", "replay_file"]

MAX_CACHED_BYTES: Final = 8 * 2**20  # some twenty files
MAX_S: Final = 120.0  # for a file, on a busy machine
COMMAND: Final = module_command("cutpurse.page.replay_file")
YOURS: Final = gettext_noop("a file is being made for you already; try again in a few seconds")
BUSY: Final = gettext_noop("too many files are being made; try again in a few seconds")
FAILED: Final = gettext_noop("this file could not be made; try again later")

_STATIC: Final = re.compile(r'<link rel="stylesheet" href="([^"]+)">|<script src="([^"]+)" defer></script>')
_ICON: Final = re.compile(r'(<link rel="icon" href=")([^"]+)"')
_PRELOAD: Final = re.compile(r'<link rel="preload"[^>]*>')
_FONT: Final = re.compile(r"url\((/static/[^)]+)\)")
_INWARD: Final = re.compile(r' href="(/[^"]*)"')


def replay_file(filed: FiledMatch, answer: ladder_pb2.GetMatchResponse, seat: int | None = None, site: str = "") -> str:
    """Make the file of a match, in the language that is spoken.

    Args:
        filed: The match with its record.
        answer: What is known of the match besides.
        seat: Seat whose view is shown; None for all cards.
        site: Address of the page to which links lead, such as `https://league.example`; empty for no links.

    Raises:
        UsageError: If there is no such seat.
        RecordError: If the record does not verify.
    """
    replayed = replay_of(filed, answer.courses)
    if seat is not None and not 0 <= seat < replayed.seats:
        raise UsageError(f"the match has seats 0 to {replayed.seats - 1}, not {seat}")
    view = ReplayRequest("", answer.match.match, replayed, seat, replayed.path(seat))
    moments = moments_text(view, lambda html: _outward(html, site))
    rendering = Rendering(live=False)
    html = rendering.html(
        "replay_file.html",
        **replay_context(view, 0, is_placed=not answer.match.void_cause, moments=moments),
        match=answer.match,
        hashes=hashes_of(replayed),
        here="",
        site=site,
        is_signed_in=False,
    )
    return _with_policy(_whole(_outward(html, site), rendering.by_address))


def _outward(html: str, site: str) -> str:
    """Let the links to pages lead to a site, or to nothing."""
    return _INWARD.sub(
        lambda link: link[0] if link[1].startswith("/static/") else f' href="{site}{link[1]}"' if site else "",
        html,
    )


def _whole(html: str, static: Mapping[str, StaticFile]) -> str:
    """Put the static files that a page names into it."""

    def data(address: str) -> str:
        return f"data:{static[address].kind};base64,{b64encode(static[address].content).decode()}"

    def put(link: re.Match[str]) -> str:
        text = static[link[1] or link[2]].content.decode()
        if link[1]:
            return f"<style>{_FONT.sub(lambda font: f'url({data(font[1])})', text)}</style>"
        return f'<script type="module">{text}</script>'  # modules wait for the page, as `defer` does

    return _ICON.sub(lambda icon: f'{icon[1]}{data(icon[2])}"', _STATIC.sub(put, _PRELOAD.sub("", html)))


def _with_policy(html: str) -> str:
    """Allow the scripts that are in the page, and nothing from anywhere."""
    scripts = re.findall(r'<script type="module">(.*?)</script>', html, re.DOTALL)
    hashes = " ".join([f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in scripts])
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; font-src data:; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return html.replace("<head>", f'<head>\n  <meta http-equiv="Content-Security-Policy" content="{policy}">', 1)


# -- as a process
class ReplayFileProcess(VisitorProcess):
    """Makes files for visitors."""

    def __init__(self) -> None:
        super().__init__(COMMAND, MAX_S, MAX_CACHED_BYTES, Refusals(YOURS, BUSY, FAILED))

    async def make(
        self,
        visitor: str,
        answer: ladder_pb2.GetMatchResponse,
        seat: int | None,
        site: str,
        record: Callable[[], bytes],
    ) -> bytes:
        """Return the file of a match, as `replay_file` makes it; raises as `get`.

        Args:
            visitor: Visitor who asks.
            answer: What the server says of the match.
            seat: Seat whose view is shown; None for all cards.
            site: Address of this page.
            record: Returns the match file; called in a thread.
        """
        tag = language().tag

        def request() -> bytes:
            texts = [b64encode(part).decode() for part in (record(), answer.SerializeToString())]
            return json.dumps([*texts, seat, site, tag]).encode()

        return await self.get(visitor, (answer.match.match, seat, site, tag), request)


def main() -> None:
    """Answer one request."""
    record, answer, seat, site, tag = json.load(sys.stdin)
    with speaking(offered_languages()[tag]):
        filed = next(read_matches(b64decode(record)))
        html = replay_file(filed, ladder_pb2.GetMatchResponse.FromString(b64decode(answer)), seat, site)
    sys.stdout.buffer.write(html.encode())


if __name__ == "__main__":
    main()
