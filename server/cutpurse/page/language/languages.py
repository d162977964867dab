"""The languages that the page speaks, each with its catalogue and with its way to write numbers and dates.

A catalogue is a .po file in `catalogues/`, read when the process starts. English is the language of the source, so it
needs none, and no babel: a browser tab that speaks English has neither. This module knows no request and no page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from gettext import NullTranslations
from io import BytesIO
from pathlib import Path
from typing import Final

__all__ = ["CATALOGUES", "ENGLISH", "Language", "offered_languages", "texts_of_file"]

CATALOGUES: Final = Path(__file__).parents[1] / "catalogues"
_ORDINAL_ENDINGS: Final = {1: "st", 2: "nd", 3: "rd"}


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """A language of the page; one object each, so languages are equal if they are the same."""

    tag: str  # its tag, such as "pl"
    name: str  # its own name for itself, such as "polski"
    texts: NullTranslations = field(default_factory=NullTranslations)  # its catalogue
    group: str = ","  # separator between thousands
    point: str = "."  # separator before decimals

    def number(self, value: int) -> str:
        """Format a whole number: 2,000."""
        return f"{value:,}".replace(",", self.group)

    def decimal(self, value: float, digits: int) -> str:
        """Format a number with decimals: 2,000.5."""
        separators = {",": self.group, ".": self.point}
        return "".join([separators.get(sign, sign) for sign in f"{value:,.{digits}f}"])

    def ordinal(self, number: int) -> str:
        """Format a place: 1st, 2nd, 3rd, 11th; other languages write a full stop."""
        if self.tag != ENGLISH.tag:
            return f"{self.number(number)}."
        is_teen = number % 100 in (11, 12, 13)
        return f"{self.number(number)}{'th' if is_teen else _ORDINAL_ENDINGS.get(number % 10, 'th')}"

    def date_and_time(self, moment: datetime) -> str:
        """Format a moment of UTC for people; English writes it as ISO 8601 does."""
        if self.tag == ENGLISH.tag:
            return moment.strftime("%Y-%m-%d %H:%M UTC")
        from babel.dates import format_skeleton

        date, time = [format_skeleton(form, moment, locale=self.tag) for form in ("yMd", "Hm")]
        return f"{date} {time} UTC"


ENGLISH: Final = Language("en", "English")


@cache
def offered_languages() -> Mapping[str, Language]:
    """Read all catalogues. Return the languages by tag, English first."""
    from babel import Locale

    languages = {ENGLISH.tag: ENGLISH}
    for file in sorted(CATALOGUES.glob("*.po")):
        locale = Locale.parse(file.stem)
        symbols = locale.number_symbols["latn"]
        name = locale.get_display_name(locale) or file.stem
        languages[file.stem] = Language(file.stem, name, texts_of_file(file), symbols["group"], symbols["decimal"])
    return languages


def texts_of_file(file: Path) -> NullTranslations:
    """Read a catalogue; what has no translation, or is marked as fuzzy, stays English."""
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po
    from babel.support import Translations

    with file.open("rb") as written:
        catalogue = read_po(written, locale=file.stem)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return Translations(compiled)
