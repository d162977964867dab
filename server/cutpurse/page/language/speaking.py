"""The words of the page in the language of the request that is answered.

The language is a context variable: threads and tasks of a request inherit it, and it need not pass through every call.
What lives longer than a request, such as a cache, a thread or a task, has to have the language as part of its key, or
to call `speaking`. Messages are the English texts; they always are format strings, so a per cent sign is written twice.
This module knows no page.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from cutpurse.page.language.languages import ENGLISH, Language

__all__ = ["gettext", "gettext_noop", "language", "ngettext", "pgettext", "shown", "speaking"]

_LANGUAGE: Final = ContextVar("language", default=ENGLISH)


def language() -> Language:
    """Return the language of the request that is answered; English outside of requests."""
    return _LANGUAGE.get()


@contextmanager
def speaking(spoken: Language) -> Iterator[None]:
    """Speak a language while the block runs."""
    before = _LANGUAGE.set(spoken)
    try:
        yield
    finally:
        _LANGUAGE.reset(before)


def gettext_noop(message: str) -> str:
    """Mark a message for the catalogue; it is translated when it is shown, by `gettext`."""
    return message


def gettext(message: str, **values: object) -> str:
    """Translate a message, with `%(name)s` replaced by values."""
    return language().texts.gettext(message) % shown(values)


def pgettext(context: str, message: str, **values: object) -> str:
    """Translate a message that means something else in another context."""
    return language().texts.pgettext(context, message) % shown(values)


def ngettext(one: str, many: str, num: int, **values: object) -> str:
    """Translate a message about a number of things, which is `%(num)s` in it."""
    return language().texts.ngettext(one, many, num) % shown({"num": num, **values})


def shown(values: dict[str, object]) -> dict[str, object]:
    """Return the values of a message as they are shown: whole numbers in groups of three digits."""
    spoken = language()
    return {name: spoken.number(value) if type(value) is int else value for name, value in values.items()}
