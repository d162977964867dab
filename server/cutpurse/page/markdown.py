"""The conversion of the project's Markdown to HTML, with an anchor at every heading and every rule.

A line of a sheet that opens with a rule number in bold defines that rule. The number becomes a link to the rule
everywhere else. HTML in a text is escaped. This module reads no file and knows no address: callers pass the link
targets.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

__all__ = ["RULE", "Heading", "Links", "Written", "written"]

RULE: Final = re.compile(r"\b(?:(?:SP|ST|GR|BL|SZ)-\d+(?:\.\d+)*|SZ-card-\d+)\b")
_NOT_IN_ANCHORS: Final = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document."""

    level: int  # level in the HTML, 1 to 6
    anchor: str  # fragment of its address, without #
    text: str  # words of the heading, without markup


@dataclass(frozen=True, slots=True)
class Written:
    """A document as HTML."""

    title: str  # text of its top heading; empty if it has none
    html: Markup  # the whole document
    headings: tuple[Heading, ...]  # all headings in order
    rules: tuple[str, ...]  # numbers of the rules that it defines, in order


@dataclass(frozen=True, slots=True)
class Links:
    """The targets of a document's links."""

    # returns the target for a link of the text; None removes the link and keeps its words
    page: Callable[[str], str | None]
    # returns the address for a picture of the text; None shows the picture's description instead
    picture: Callable[[str], str | None]
    # returns the target for a rule number that the document does not define; None adds no link
    rule: Callable[[str], str | None]


def written(text: str, links: Links, *, below: int = 0) -> Written:
    """Convert a document to HTML.

    Args:
        text: Markdown of the document.
        links: Targets of its links.
        below: Number of levels by which to lower its headings.
    """
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable("table")
    for name, rule in _RENDERED.items():
        parser.add_render_rule(name, rule)
    tokens = _without_empty_heads(parser.parse(text))
    rules = _mark_rules(tokens)
    headings = _mark_headings(tokens, below)
    known = set(rules)
    for token in tokens:
        if token.type == "inline" and token.children:
            token.children = list(_linked(token.children, links, known))
    html = parser.renderer.render(tokens, parser.options, {})
    title = next((one.text for one in headings if one.level == 1 + below), "")
    return Written(title, Markup(html), tuple(headings), tuple(rules))


# -- anchors
def _mark_headings(tokens: Sequence[Token], below: int) -> list[Heading]:
    """Add an anchor to each heading, named as Markdown sites do: its words in lower case, with hyphens."""
    headings = []
    seen: Counter[str] = Counter()
    for at, token in enumerate(tokens):
        if token.type not in ("heading_open", "heading_close"):
            continue
        level = min(int(token.tag[1]) + below, 6)
        token.tag = f"h{level}"
        if token.type == "heading_close":
            continue
        words = _text(tokens[at + 1].children or ())
        anchor = _NOT_IN_ANCHORS.sub("", words.lower()).replace(" ", "-")
        seen[anchor] += 1
        if seen[anchor] > 1:
            anchor = f"{anchor}-{seen[anchor] - 1}"
        token.attrSet("id", anchor)
        headings.append(Heading(level, anchor, words))
    return headings


def _mark_rules(tokens: Sequence[Token]) -> list[str]:
    """Add an anchor to each paragraph or list item that defines a rule. Return the rule numbers in order."""
    rules: list[str] = []
    for at, token in enumerate(tokens):
        if token.type != "inline" or not (number := _defined(token.children or ())) or number in rules:
            continue
        holder = tokens[at - 1]
        if holder.hidden and at >= 2:  # a paragraph in a tight list is not rendered, so mark the list item
            holder = tokens[at - 2]
        holder.attrSet("id", number)
        holder.attrJoin("class", "rule")
        rules.append(number)
    return rules


def _defined(children: Sequence[Token]) -> str | None:
    """Return the number of the rule that a line defines, if any."""
    seen = [token for token in children[:4] if token.type != "text" or token.content]
    if len(seen) < 3 or [token.type for token in seen[:3]] != ["strong_open", "text", "strong_close"]:
        return None
    return seen[1].content if RULE.fullmatch(seen[1].content) else None


def _text(children: Sequence[Token]) -> str:
    return "".join(token.content for token in children if token.type in ("text", "code_inline"))


# -- links
def _linked(children: Sequence[Token], links: Links, known: set[str]) -> Iterator[Token]:
    """Replace link targets by page addresses, and add links to rule numbers."""
    inside: list[bool] = []  # for each open link: whether it is kept
    for token in children:
        if token.type == "link_open":
            address = links.page(str(token.attrGet("href") or ""))
            inside.append(address is not None)
            if address is not None:
                token.attrSet("href", address)
                yield token
        elif token.type == "link_close":
            if inside.pop():
                yield token
        elif token.type == "image":
            yield from _pictured(token, links)
        elif token.type == "text" and not inside:
            yield from _cited(token.content, links, known)
        else:
            yield token


def _pictured(token: Token, links: Links) -> Iterator[Token]:
    address = links.picture(str(token.attrGet("src") or ""))
    if address is None:
        yield _words(f"({token.content})")
        return
    token.attrSet("src", address)
    token.attrSet("loading", "lazy")
    yield token


def _cited(text: str, links: Links, known: set[str]) -> Iterator[Token]:
    end = 0
    for found in RULE.finditer(text):
        number = found[0]
        address = f"#{number}" if number in known else links.rule(number)
        if address is None:
            continue
        yield _words(text[end : found.start()])
        opened = Token("link_open", "a", 1)
        opened.attrSet("href", address)
        opened.attrSet("class", "number")
        yield from (opened, _words(number), Token("link_close", "a", -1))
        end = found.end()
    yield _words(text[end:])


def _words(text: str) -> Token:
    token = Token("text", "", 0)
    token.content = text
    return token


# -- tables and code: they may be wider than a phone, so they scroll on their own, by keyboard too
def _without_empty_heads(tokens: Sequence[Token]) -> list[Token]:
    """Remove the heads of tables whose head cells are all empty."""
    kept: list[Token] = []
    for token in tokens:
        kept.append(token)
        if token.type == "thead_close":
            begins = max(at for at, one in enumerate(kept) if one.type == "thead_open")
            if not any(one.content for one in kept[begins:] if one.type == "inline"):
                del kept[begins:]
    return kept


def _table_open(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return '<div class="scrolls" tabindex="0" role="group" aria-label="Table"><table>\n'


def _table_close(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return "</table></div>\n"


def _th_open(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return '<th scope="col">'


def _td_open(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return "<td>"  # without the alignment style, because the security policy forbids inline styles


def _code(renderer: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    token = tokens[at]
    language = token.info.split()[0] if token.info.strip() else ""
    marked = Markup('<pre tabindex="0"><code{}>{}</code></pre>\n')
    return marked.format(Markup(' class="language-{}"').format(language) if language else "", token.content)


_RENDERED: Final = {
    "table_open": _table_open,
    "table_close": _table_close,
    "th_open": _th_open,
    "td_open": _td_open,
    "fence": _code,
    "code_block": _code,
}
