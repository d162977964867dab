"""The words of the page in Jinja templates: `_`, `gettext`, `ngettext`, `pgettext`, and filters for numbers.

Messages with tags are HTML that we or a translator wrote, so they are not escaped; what is put into them is. Messages
without tags are escaped like any text. This module knows no template.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from jinja2 import Environment
from markupsafe import Markup, escape

from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import language, shown

__all__ = ["speak"]

MOST_TEXTS: Final = 4_096  # of all languages


def speak(environment: Environment) -> None:
    """Give the templates of an environment the language of the request, and the functions that translate."""
    environment.globals |= {
        "_": _gettext,
        "gettext": _gettext,
        "ngettext": _ngettext,
        "pgettext": _pgettext,
        "language": language,
    }
    environment.filters |= FILTERS


def _gettext(message: str, **values: object) -> Markup:
    spoken = language()
    if not values:
        return _without_gaps(spoken, message)
    return _text(spoken, message) % shown(values)


def _pgettext(context: str, message: str, **values: object) -> Markup:
    return _safe(message, language().texts.pgettext(context, message)) % shown(values)


def _ngettext(one: str, many: str, num: int, **values: object) -> Markup:
    return _safe(one, language().texts.ngettext(one, many, num)) % shown({"num": num, **values})


# Cached, as a table has hundreds of messages: drawing one takes 1.2 times as long without.
@lru_cache(maxsize=MOST_TEXTS)
def _without_gaps(spoken: Language, message: str) -> Markup:
    return _text(spoken, message) % {}


@lru_cache(maxsize=MOST_TEXTS)
def _text(spoken: Language, message: str) -> Markup:
    return _safe(message, spoken.texts.gettext(message))


def _safe(message: str, translated: str) -> Markup:
    # An English message may stand in an attribute, and has no double quote then; of a translation nobody knows that.
    is_safe = "<" in message or translated == message
    return Markup(translated) if is_safe else escape(translated)


FILTERS: Final[dict[str, Callable[..., str]]] = {
    "number": lambda value: language().number(value),
    "decimal": lambda value, digits: language().decimal(value, digits),
    "ordinal": lambda place: language().ordinal(place),
}
