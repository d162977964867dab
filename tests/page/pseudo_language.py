"""A language in which every message is the English one in brackets, so that text without brackets is not translated."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from gettext import NullTranslations
from html.parser import HTMLParser
from typing import Final

import pytest

from cutpurse.page.documents import INTRODUCTION
from cutpurse.page.language import choosing
from cutpurse.page.language.languages import Language, offered_languages

__all__ = ["PSEUDO", "pseudo_language", "untranslated"]

# Elements whose text is a name, code, a date, or in English on purpose.
_NAMES: Final = frozenset({"bdi", "code", "kbd", "pre", "script", "style", "time"})
_ATTRIBUTES: Final = frozenset({"alt", "aria-label", "data-head", "label", "placeholder", "summary", "title"})
_WORDS: Final = re.compile(r"[^\W\d_]{2,}")
_BLOCK: Final = re.compile(r"^(?:#+ |[-*] |\d+\. )")
_PICTURE: Final = re.compile(r"!\[([^\]]*)\]")
_VOID: Final = frozenset({"br", "hr", "img", "input", "link", "meta", "path", "rect", "use", "source"})
# Text that is the same in every language: names of the project, of tools and of languages, units, texts to be typed.
_ALLOWED: Final = re.compile(
    r"Cutpurse|CUTPURSE_TOKEN|UTC|SHA-256|MiB|owner/name|\bms\b|\bmin\b"
    r"|\b[0-9a-f]{8,}\b|\b[A-Z]{2}-[\w.-]+|\b[A-Z]{1,3}\b|\S+…"  # IDs, numbers of rules, initials, cut names
)


class _Texts(NullTranslations):
    def gettext(self, message: str) -> str:
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"

    def pgettext(self, context: str, message: str) -> str:
        if context == "szmal":  # the page takes clauses of a card's text
            clauses = message.removesuffix(".").split(". ")
            return ". ".join(f"⟦{clause}⟧" for clause in clauses) + "." * message.endswith(".")
        if context != INTRODUCTION:
            return f"⟦{message}⟧"
        text = _BLOCK.sub("", message)
        mark = message.removesuffix(text)
        pictured = _PICTURE.sub(r"![⟦\1⟧]", text)
        return f"{mark}⟦{pictured}⟧"


PSEUDO: Final = Language("eo", "⟦Esperanto⟧", _Texts(), "'", ".")


@contextmanager
def pseudo_language() -> Iterator[None]:
    """Offer the language as `?lang=eo` while the block runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "offered_languages", lambda: {**offered_languages(), "eo": PSEUDO})
        yield


class _Reader(HTMLParser):
    def __init__(self, names: frozenset[str]) -> None:
        super().__init__()
        self.names = names
        self.found: list[str] = []
        self._open: list[tuple[str, bool]] = []  # elements, and whether their text is free
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        is_free = tag in _NAMES or values.get("lang") in ("en", "de", "pl", "x")
        is_free = is_free or "data-name" in values or any(free for _, free in self._open)
        for name, value in attrs:
            is_text = name in _ATTRIBUTES or (name == "content" and "description" in str(values))
            if is_text and not is_free:
                self._check(value or "", f"{tag} {name}")
        if tag not in _VOID:
            self._open.append((tag, is_free))

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if any(free for _, free in self._open):
            return
        outside = ""
        for sign in data:
            self._depth += (sign == "⟦") - (sign == "⟧")
            outside += sign if self._depth == 0 else " "
        self._report(outside, f"<{self._open[-1][0] if self._open else ''}> {data.strip()[:80]}")

    def _check(self, text: str, place: str) -> None:
        depth, outside = 0, ""
        for sign in text:
            depth += (sign == "⟦") - (sign == "⟧")
            outside += sign if depth == 0 else " "
        self._report(outside, f"{place}: {text[:80]}")

    def _report(self, outside: str, place: str) -> None:
        for name in sorted(self.names, key=len, reverse=True):
            outside = outside.replace(name, " ")
        if (beginning := outside.strip().removesuffix("…")) != outside.strip():  # a long name in a chart
            outside = "" if any(name.startswith(beginning) for name in self.names) else outside
        if _WORDS.search(_ALLOWED.sub(" ", outside.replace("⟧", " "))):
            self.found.append(place)


def untranslated(html: str, names: frozenset[str] = frozenset()) -> list[str]:
    """List the texts of a page that are no messages, beside names, numbers, code and a few words that stay.

    Args:
        html: The page.
        names: Names of bots, owners and ladders that it may have.
    """
    reader = _Reader(names)
    reader.feed(html)
    reader.close()
    return reader.found
