"""The parts that generated pages consist of: Markdown tables, and paragraphs of docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["anchor", "cell", "code", "first_paragraph", "paragraphs", "sentence", "table"]

_NOT_IN_ANCHORS: Final = re.compile(r"[^\w\- ]")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table; columns that are empty in every row are left out."""
    cells = [[cell(text) for text in row] for row in rows]
    used = [column for column in range(len(head)) if any(row[column] for row in cells)]
    lines = [
        [head[column] for column in used],
        ["---"] * len(used),
        *[[row[column] for column in used] for row in cells],
    ]
    return "".join(f"|{'|'.join(f' {text} ' if text else ' ' for text in line)}|\n" for line in lines)


def cell(text: str) -> str:
    """Format a text for a cell of a table: one line, with bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


def code(text: str) -> str:
    """Format a text as code; an empty text stays empty."""
    return f"`{text}`" if text else ""


def anchor(title: str) -> str:
    """Return the anchor of a heading, as the page and Markdown sites make it."""
    return _NOT_IN_ANCHORS.sub("", title.lower()).replace(" ", "-")


def paragraphs(docstring: str | None) -> list[str]:
    """Return the paragraphs of a docstring, each in one line, without its sections (Args, Returns, ...)."""
    text = inspect.cleandoc(docstring or "")
    text = re.split(r"^(?:Args|Attributes|Returns|Raises|Yields):$", text, maxsplit=1, flags=re.MULTILINE)[0]
    return [" ".join(part.split()) for part in text.strip().split("\n\n") if part.strip()]


def first_paragraph(docstring: str | None) -> str:
    """Return the first paragraph of a docstring in one line; empty if there is none."""
    return next(iter(paragraphs(docstring)), "")


def sentence(text: str) -> str:
    """Return the text with a capital letter at its beginning and a full stop at its end."""
    if not text:
        return ""
    whole = text[0].upper() + text[1:]
    return whole if whole.endswith((".", "?", "!", ":")) else f"{whole}."
