"""The catalogues of the page's words: what is translated is whole, and what is not shows in English."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po

from cutpurse.page.documents import INTRODUCTION
from cutpurse.page.guided_matches import GUIDED_TEXT
from cutpurse.page.language.languages import CATALOGUES, offered_languages, texts_of_file
from scripts import catalogue
from scripts.catalogue import LANGUAGES, is_missing

PERCENT_GAP: Final = re.compile(r"%\((\w+)\)s|(%%)")
BRACE_GAP: Final = re.compile(r"\{\w*\}")
TAG: Final = re.compile(r"<[^>]*>")
LINK: Final = re.compile(r"\]\([^)]*\)|`[^`]*`")
FORMS: Final = {"de": 2, "pl": 3}  # plural forms


def catalogue_of(language: str, folder: Path = CATALOGUES) -> Catalog:
    with (folder / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language)


def texts_of(entry: Message) -> tuple[str, ...]:
    """The translations of an entry, one for each plural form."""
    return tuple(map(str, entry.string)) if isinstance(entry.string, tuple | list) else (str(entry.string),)


def ids_of(entry: Message) -> tuple[str, ...]:
    return tuple(map(str, entry.id)) if isinstance(entry.id, tuple | list) else (str(entry.id),)


def named(entries: Iterable[Message]) -> list[str]:
    return [f"{entry.context or ''}: {ids_of(entry)[0][:80]}" for entry in entries if entry.id]


def parts_of(entry: Message, text: str) -> Counter[str]:
    """The gaps, tags and links of a message, which its translation needs too."""
    if entry.context in (INTRODUCTION, GUIDED_TEXT):
        return Counter(LINK.findall(text))
    gaps = [found[0] for found in PERCENT_GAP.finditer(text)] if not entry.context or "%(" in text else []
    return Counter([*gaps, *BRACE_GAP.findall(text), *TAG.findall(text)])


def is_whole(entry: Message) -> bool:
    """Whether each translation of an entry has the gaps, tags and links of its English.

    A plural form for exactly one may leave its number out, as the English of one does.
    """
    english = [parts_of(entry, text) for text in ids_of(entry)]
    return all(parts_of(entry, text) in english for text in texts_of(entry) if text)


def test_there_is_a_catalogue_of_each_language() -> None:
    assert {file.stem for file in CATALOGUES.glob("*.po")} == set(LANGUAGES)
    assert list(offered_languages()) == ["en", *LANGUAGES]
    assert [language.name for language in offered_languages().values()] == ["English", "Deutsch", "polski"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_translated_keeps_gaps_tags_and_links(language: str) -> None:
    entries = [entry for entry in catalogue_of(language) if entry.id and not is_whole(entry)]
    assert named(entries) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_has_a_plural_has_all_forms_of_the_language(language: str) -> None:
    translated = catalogue_of(language)
    assert translated.num_plurals == FORMS[language]
    plurals = [entry for entry in translated if isinstance(entry.id, tuple) and not is_missing(entry)]
    assert named(entry for entry in plurals if len(texts_of(entry)) != FORMS[language]) == []


def test_a_language_may_lag_and_a_command_lists_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    template = Catalog()
    template.add("Play")
    template.add(("%(num)s bot", "%(num)s bots"))
    template.add("plays", context="greed")
    monkeypatch.setattr(catalogue, "CATALOGUES", tmp_path)
    monkeypatch.setattr(catalogue, "messages", lambda: template)
    monkeypatch.setattr(catalogue, "LANGUAGES", ("pl",))
    known = Catalog(locale="pl")
    known.add("Play", "Graj")
    (tmp_path / "pl.po").write_bytes(catalogue.written(known))

    catalogue.main(["--missing"])
    assert capsys.readouterr().out.splitlines() == [
        "pl: 3 messages, 2 to translate",
        "  page: %(num)s bot",
        "  greed: plays",
    ]
    assert catalogue_of("pl", tmp_path).get(("%(num)s bot", "%(num)s bots")) is None, "it only lists"

    catalogue.main([])
    assert capsys.readouterr().out == "pl: 3 messages, 2 to translate\n"
    texts = texts_of_file(tmp_path / "pl.po")
    assert texts.gettext("Play") == "Graj"
    assert texts.ngettext("%(num)s bot", "%(num)s bots", 5) == "%(num)s bots"
    assert texts.pgettext("greed", "plays") == "plays"
    assert texts.gettext("a text that no catalogue has") == "a text that no catalogue has"


def test_a_translation_that_loses_a_gap_or_a_tag_is_found() -> None:
    good = Message("at <b>%(place)s</b>", "w <b>%(place)s</b>")
    assert is_whole(good)
    assert not is_whole(Message("at <b>%(place)s</b>", "w %(place)s"))
    assert not is_whole(Message("{actor} plays {cards}", "{actor} gra", context="greed"))
    assert not is_whole(Message(("%(num)s bot", "%(num)s bots"), ("%(num)s bot", "botów")))
    assert is_missing(Message(("%(num)s bot", "%(num)s bots"), ("%(num)s bot", "")))
    assert is_missing(Message("bot", "bot", flags=["fuzzy"]))


# Jinja's tags, HTML tags with Jinja in them, and the text between.  Groups are atomic: else a text could be read in so
# many ways that a search takes minutes.
TOKENS: Final = re.compile(
    r"({%.*?%}|{{.*?}}|{#.*?#}|<(?>{%.*?%}|{{.*?}}|\"(?>{{.*?}}|{%.*?%}|[^\"])*\"|[^<>\"])*>)",
    re.DOTALL,
)
SHOWN: Final = re.compile(r'\s(?:aria-label|title|placeholder|alt|data-head)="([^"{]*[A-Za-z][^"{]*)"')
MACRO: Final = re.compile(r"\{%-? macro classes.*?endmacro", re.DOTALL)
# in every language
SAME: Final = frozenset({"Cutpurse", "· Cutpurse", "- Cutpurse", "https://", "ms", "MiB", "PNG", "SVG", "UTC"})
FREE: Final = ("<code", "<kbd", '<span lang="en"', '<td lang="en"')  # code, and what is English on purpose
ENGLISH_PAGES: Final = frozenset({"api.html"})


def unmarked(template: str) -> list[str]:
    """The text of a template that is in no message."""
    tokens = TOKENS.split(MACRO.sub("", template))
    found = []
    for number, token in enumerate(tokens):
        before = "".join(tokens[max(0, number - 3) : number])
        if number % 2 == 0 and re.search(r"[A-Za-z]{2}", token) and '="' not in token and token.strip()[-1:] != '"':
            if token.strip() not in SAME and not any(tag in before for tag in FREE):
                found.append(token.strip())
        elif token.startswith("<"):
            found += [text for text in SHOWN.findall(token) if text not in SAME]
    return found


def test_templates_have_no_text_but_messages() -> None:
    templates = [file for file in (CATALOGUES.parent / "templates").glob("*.html") if file.name not in ENGLISH_PAGES]
    assert len(templates) > 50
    texts = {file.name: unmarked(file.read_text(encoding="utf-8")) for file in templates}
    assert {name: found for name, found in texts.items() if found} == {}


def test_text_of_a_template_that_is_no_message_is_found() -> None:
    assert unmarked('<p title="{{ _("a") }}">{{ _("All") }} <b>{{ n }}</b></p>') == []
    assert unmarked('<p title="Why">All {{ n }}</p>') == ["Why", "All"]
