"""Why bots were paired, in the language of the reader: the clauses that a server stores, one by one.

A server stores English: "ann/sneak:1 had fewest matches (12); cid/x:2 near (0.4 beta), bob/y:1 far (3.1 beta)". A
clause of another server stays as it is. This module knows no match and no page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from cutpurse.page.language.speaking import gettext, ngettext

__all__ = ["reason_text"]

_CLAUSE_END: Final = re.compile(r"; |(?<=beta\)), ")
_CLAUSES: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    (
        re.compile(r"(.+) had fewest matches \((\d+)\)"),
        lambda clause: ngettext(
            "%(bot)s had played least (%(num)s match)",
            "%(bot)s had played least (%(num)s matches)",
            int(clause[2]),
            bot=clause[1],
        ),
    ),
    (re.compile(r"(.+) near \([\d.]+ beta\)"), lambda clause: gettext("%(bot)s is about as strong", bot=clause[1])),
    (
        re.compile(r"(.+) far \([\d.]+ beta\)"),
        lambda clause: gettext("%(bot)s is much stronger or weaker", bot=clause[1]),
    ),
    (re.compile(r"(.+) filled a seat"), lambda clause: gettext("%(bot)s filled a seat", bot=clause[1])),
    (
        re.compile(r"(.+) holds the scale"),
        lambda clause: gettext("%(bot)s plays along so that ratings stay comparable", bot=clause[1]),
    ),
    (
        re.compile(r"a board of one match, for too few owners are here for two"),
        lambda _: gettext("too few owners are online for a board of two matches"),
    ),
)


def reason_text(reason: str) -> str:
    """Translate the reason of a pairing."""
    return "; ".join(map(_clause_text, _CLAUSE_END.split(reason)))


def _clause_text(clause: str) -> str:
    for pattern, text in _CLAUSES:
        if (groups := pattern.fullmatch(clause)) is not None:
            return text(groups)
    return clause
