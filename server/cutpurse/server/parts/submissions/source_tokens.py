"""The tokens of a program, without what a copier would change: names, numbers, comments, layout and imports.

Every name becomes "N", every number "0", every text "S". Kept are keywords, operators, short texts of one word, such as
the verb of an option, and the names of the SDK after a dot, since a bot cannot rename those. Python is read by its own
tokenizer; other languages, and Python with errors, by one pattern for all.
"""

from __future__ import annotations

import io
import keyword
import re
import tokenize
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

__all__ = ["SUFFIXES", "SourceToken", "attribute_names", "source_tokens"]

PYTHON: Final = ".py"
SUFFIXES: Final = frozenset(
    {
        PYTHON,
        ".js",
        ".mjs",
        ".cjs",
        ".ts",
        ".go",
        ".java",
        ".rs",
        ".c",
        ".cc",
        ".cpp",
        ".cxx",
        ".h",
        ".hpp",
        ".cs",
        ".kt",
    }
)
"""Endings of the files that are compared."""
NAME: Final = "N"
NUMBER: Final = "0"
TEXT: Final = "S"
OWN: Final = frozenset({"self", "this", "cls"})  # after which a name is the program's own

_WORD: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
_PYTHON_WORDS: Final = frozenset(keyword.kwlist)
_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        "abstract as assert async await bool boolean break byte case catch char class const continue default defer "
        "delete do double else enum export extends false final finally float fn for func function go if impl "
        "implements import in int interface let long loop map match mod mut namespace new nil none null package "
        "private protected pub public range ref return select self short sizeof static string struct super switch "
        "template this throw throws trait true try type typedef typename typeof unsafe use using var void volatile "
        "where while yield",
    )
)
_LEXER: Final = re.compile(
    r"""
    (?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)
    |(?P<number>\d[\w.]*)
    |(?P<name>[^\W\d]\w*)
    |(?P<operator>->|::|=>|:=|[-+*/%&|^=<>!]=|&&|\|\||<<|>>|\S)
    """,
    re.VERBOSE | re.DOTALL,
)


class SourceToken(NamedTuple):
    """A token and its line, counted from 1."""

    text: str
    line: int


class _Lexeme(NamedTuple):
    """A token as written: its kind is name, number, text or operator."""

    kind: str
    text: str
    line: int


def source_tokens(source: str, suffix: str, vocabulary: Collection[str]) -> list[SourceToken]:
    """Return the tokens of a file.

    Args:
        source: Its text.
        suffix: The ending of its name, such as ".py".
        vocabulary: Names that stay as they are after a dot.
    """
    lexemes = _lexemes(source, suffix)
    words = _PYTHON_WORDS if suffix == PYTHON else _WORDS
    tokens = []
    for index, lexeme in enumerate(lexemes):
        text = lexeme.text
        if lexeme.kind == "number":
            text = NUMBER
        elif lexeme.kind == "text":
            inner = text.strip("\"'`")
            text = inner if _WORD.fullmatch(inner) else TEXT
        elif lexeme.kind == "name" and text not in words:
            text = text if _is_attribute(lexemes, index) and text in vocabulary else NAME
        tokens.append(SourceToken(text, lexeme.line))
    return tokens


def attribute_names(source: str, suffix: str) -> set[str]:
    """Return the names after a dot that are not the program's own."""
    lexemes = _lexemes(source, suffix)
    return {lexeme.text for index, lexeme in enumerate(lexemes) if _is_attribute(lexemes, index)}


def _is_attribute(lexemes: list[_Lexeme], index: int) -> bool:
    """Return whether a name follows a dot, and not that of the program's own object."""
    if lexemes[index].kind != "name" or index < 2 or lexemes[index - 1].text not in (".", "->", "::"):
        return False
    return lexemes[index - 2].text not in OWN


def _lexemes(source: str, suffix: str) -> list[_Lexeme]:
    if suffix == PYTHON:
        try:
            return list(_python_lexemes(source))
        except (tokenize.TokenError, SyntaxError):  # it may be of another version of Python
            pass
    return list(_other_lexemes(source))


def _python_lexemes(source: str) -> Iterator[_Lexeme]:
    """Yield the tokens of Python, without imports and texts that stand alone."""
    statement: list[_Lexeme] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        match token.type:
            case tokenize.COMMENT | tokenize.NL | tokenize.ENCODING:
                continue
            case tokenize.NEWLINE | tokenize.ENDMARKER:
                is_docstring = all(lexeme.kind == "text" for lexeme in statement)
                if not is_docstring and statement[0].text not in ("import", "from"):
                    yield from statement
                statement = []
            case tokenize.INDENT:
                yield _Lexeme("operator", "{", line)
            case tokenize.DEDENT:
                yield _Lexeme("operator", "}", line)
            case tokenize.NAME:
                statement.append(_Lexeme("name", token.string, line))
            case tokenize.NUMBER:
                statement.append(_Lexeme("number", token.string, line))
            case tokenize.OP:
                statement.append(_Lexeme("operator", token.string, line))
            case _:  # a text, or from Python 3.12 on a part of one
                statement.append(_Lexeme("text", token.string, line))
    yield from statement


def _other_lexemes(source: str) -> Iterator[_Lexeme]:
    line, counted = 1, 0
    for found in _LEXER.finditer(source):
        line += source.count("\n", counted, found.start())
        counted = found.start()
        if found.lastgroup is not None and found.lastgroup != "comment":
            yield _Lexeme(found.lastgroup, found[0], line)
