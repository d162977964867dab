"""The catalogues of the page's words: `make catalogue` brings the languages up to date, and says what they lack.

Messages come from the templates and the Python of the page, from the words of the games, from the sentences that the
games share, from the games in a minute and from the comments of the guided matches. New messages of a language are
empty, changed ones are marked as fuzzy; both stay English on the page until they are translated. So a language may lag.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import asdict
from io import BytesIO, StringIO
from typing import Any, Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from cutpurse.engine.sentences import Sentences
from cutpurse.games import GAMES
from cutpurse.page.documents import INTRODUCTION, introduction_blocks
from cutpurse.page.guided_matches import FOLDER as GUIDED_FOLDER
from cutpurse.page.guided_matches import GUIDED, GUIDED_TEXT
from cutpurse.page.language.game_words import SENTENCES, game_messages
from cutpurse.page.language.languages import CATALOGUES
from cutpurse.wire.toml_file import read_toml

__all__ = ["LANGUAGES", "is_missing", "main", "messages", "updated", "written"]

WEB: Final = CATALOGUES.parent
LANGUAGES: Final = ("de", "pl")
WIDTH: Final = 120
METHODS: Final = [("**.py", "python"), ("templates/**.html", "jinja2")]
OPTIONS: Final[dict[str, dict[str, Any]]] = {"templates/**.html": {"trimmed": "true", "silent": "false"}}
KEYWORDS: Final = {
    "_": None,
    "gettext": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
}
BRACES: Final = "python-brace-format"
PERCENT: Final = "python-format"


def messages() -> Catalog:
    """Extract all messages from the page and the games."""
    made = Catalog(project="Cutpurse", charset="utf-8", fuzzy=False)
    with redirect_stderr(StringIO()):  # it warns of the f-strings among the values
        extracts = list(extract_from_dir(str(WEB), METHODS, OPTIONS, KEYWORDS, directory_filter=lambda folder: True))
    for file, _, message, comments, context in extracts:
        made.add(message, None, [(file, 0)], auto_comments=comments, context=context)
    for context, message, place in _texts():
        if message:
            made.add(message, None, [(place, 0)], flags=[BRACES] if "{" in message else [], context=context)
    for entry in made:
        if entry.context in {SENTENCES, INTRODUCTION, GUIDED_TEXT, *GAMES}:
            entry.flags.discard(PERCENT)  # a per cent sign is nothing special there
    return made


def _texts() -> Iterator[tuple[str, str, str]]:
    """Yield the context, text and place of each message that is no call of `gettext`."""
    for name, text in asdict(Sentences()).items():
        if name != "thousands":
            yield SENTENCES, text, "engine/sentences.py"
    for name, game in GAMES.items():
        for text in game_messages(game):
            yield name, text, f"games/{name}"
        for block in introduction_blocks(name):
            yield INTRODUCTION, block, f"docs/tutorial/games/{name}.md"
    for name in sorted(GUIDED):
        for comment in read_toml(GUIDED_FOLDER / f"{name}.toml", "no guided match")["comment"]:
            yield GUIDED_TEXT, comment["text"], f"guided/{name}.toml"


def updated(language: str, template: Catalog) -> Catalog:
    """Return the catalogue of a language with the messages of a template, its translations kept."""
    file = CATALOGUES / f"{language}.po"
    if not file.exists():
        made = Catalog(locale=language, project="Cutpurse", charset="utf-8", fuzzy=False)
    else:
        with file.open("rb") as old:
            made = read_po(old, locale=language)
    made.update(template, no_fuzzy_matching=False)
    made.obsolete.clear()
    made.header_comment = f"# The words of Cutpurse's page in {made.locale.english_name if made.locale else language}."
    return made


def is_missing(entry: Message) -> bool:
    """Return whether an entry has no translation, or only a part of one, or one that nobody has checked."""
    texts = entry.string if isinstance(entry.string, tuple) else (entry.string,)
    return entry.fuzzy or not all(texts)


def written(catalogue: Catalog) -> bytes:
    """Return a catalogue as the text of its file, without dates, so that only messages change it."""
    made = BytesIO()
    write_po(made, catalogue, width=WIDTH, include_lineno=False, sort_by_file=True)
    lines = made.getvalue().splitlines(keepends=True)
    return b"".join([line for line in lines if not line.startswith((b'"POT-Creation-Date', b'"PO-Revision-Date'))])


def main(arguments: Sequence[str] | None = None) -> None:
    """Bring the languages up to date, or with --missing only list the messages that they lack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missing", action="store_true", help="write nothing; list what has no translation")
    is_list = parser.parse_args(arguments).missing
    template = messages()
    for language in LANGUAGES:
        catalogue = updated(language, template)
        missing = [entry for entry in catalogue if entry.id and is_missing(entry)]
        print(f"{language}: {len(catalogue):,} messages, {len(missing):,} to translate")
        if is_list:
            for entry in missing:
                print(f"  {entry.context or 'page'}: {entry.id if isinstance(entry.id, str) else entry.id[0]}")
        else:
            (CATALOGUES / f"{language}.po").write_bytes(written(catalogue))


if __name__ == "__main__":
    main()
