"""Names mean one thing, and words that nobody would say become fewer.

`ALLOWED` may only shrink: after a rewrite, `python -m tests.test_words` prints the counts of today.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.roots import CHECKOUT

ROOTS: Final = ("games", "sdk", "sample_bots", "server", "leaderboard")
FOLDERS: Final = (*ROOTS, "tests", "benchmarks", "scripts", "docs")

# Steps are named as the rule books name them, and two games may share a name.
RULE_BOOK_NAMES: Final = {"SetUp", "TakeATurn", "EndTheTurn", "EndTheGame", "PlayACard", "CheckForAWinner"}

BANNED: Final = {
    "whoever": r"whoever",
    "he, him, his": r"he|him|his|himself",
    "told": r"told",
    "foretell": r"foretells?|foretold",
    "for ever": r"for ever",
    "signs": r"signs",
    "as usual": r"as usual",
    "so many": r"so many",
    "of which": r"of which",
    "whereabouts": r"whereabouts",
}
PATTERNS: Final = {name: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for name, words in BANNED.items()}

# By folder: how often a banned word may still occur in docstrings, comments and pages.
ALLOWED: Final = {
    "games": 0,
    "sdk": 0,
    "sample_bots": 0,
    "server": 0,
    "leaderboard": 0,
    "tests": 181,
    "benchmarks": 0,
    "scripts": 0,
    "docs": 3,
}

# Participles and pronouns that name nothing: say what was sent, which row, which bots.
EMPTY_NAMES: Final = {"told", "found", "one", "asked", "shown", "wanted"}
# By folder: how often variables, parameters, attributes and functions may still have such a name.
ALLOWED_NAMES: Final = {
    "games": 15,
    "sdk": 7,
    "sample_bots": 0,
    "server": 436,
    "leaderboard": 8,
    "tests": 2086,
    "benchmarks": 5,
    "scripts": 0,
}


def sources(folder: str) -> Iterator[Path]:
    """List the Python files of a folder, but for generated ones."""
    for path in sorted((CHECKOUT / folder).rglob("*.py")):
        if "_pb2" not in path.name and "node_modules" not in path.parts:
            yield path


def prose(source: str) -> str:
    """Return the docstrings and comments of a module."""
    texts = [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            texts.append(ast.get_docstring(node) or "")
    return "\n".join(texts)


def banned_in(text: str) -> Counter[str]:
    """Count the banned words of a text."""
    return Counter({name: len(pattern.findall(text)) for name, pattern in PATTERNS.items()})


def banned_in_folder(folder: str) -> Counter[str]:
    """Count the banned words of a folder's docstrings and comments, or of its pages."""
    if folder == "docs":
        pages = [path for path in (CHECKOUT / "docs").rglob("*.md") if "rules" not in path.parts]
        texts = [path.read_text(encoding="utf-8") for path in pages]
    else:
        texts = [prose(path.read_text(encoding="utf-8")) for path in sources(folder)]
    return sum((banned_in(text) for text in texts), Counter[str]())


def docstrings_that_pass_on(source: str) -> list[str]:
    """Find docstrings that only name another method, as those of methods that only pass a call on do."""
    return re.findall(r'"""((?:Ask|Call|Do|Run|Use) `(?:\w+\.)+\w+`.*)', source)


def defined_names(source: str) -> Iterator[str]:
    """Yield the name of everything that a module defines, at each place where it gets a value."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name


def empty_names_in_folder(folder: str) -> Counter[str]:
    """Count the names of a folder that say nothing."""
    names = (name.strip("_") for path in sources(folder) for name in defined_names(path.read_text(encoding="utf-8")))
    return Counter(name for name in names if name in EMPTY_NAMES)


def shared_class_names(files: dict[str, str]) -> dict[str, list[str]]:
    """Find the class names that several modules define; `files` has the source of each.

    Returns:
        The modules of each name that means several things.
    """
    defined = defaultdict(list)
    for name, source in files.items():
        for node in ast.parse(source).body:
            if isinstance(node, ast.ClassDef):
                defined[node.name].append(name)
    return {name: where for name, where in defined.items() if len(where) > 1 and name not in RULE_BOOK_NAMES}


def test_a_class_name_means_one_thing() -> None:
    files = {
        str(path.relative_to(CHECKOUT)): path.read_text(encoding="utf-8") for root in ROOTS for path in sources(root)
    }
    assert shared_class_names(files) == {}


def test_a_docstring_says_what_is_done_and_not_which_method_does_it() -> None:
    found = {
        path.name: docstrings_that_pass_on(path.read_text(encoding="utf-8")) for root in ROOTS for path in sources(root)
    }
    assert {name: lines for name, lines in found.items() if lines} == {}
    assert docstrings_that_pass_on('    """Run `queries.rankings`."""') == ['Run `queries.rankings`."""']
    assert docstrings_that_pass_on('    """Run `cutpurse` as a user does."""') == []


def test_a_name_that_means_two_things_is_found() -> None:
    files = {"a": "class Table: ...\nclass SetUp: ...", "b": "class Table: ...\nclass SetUp: ..."}
    assert shared_class_names(files) == {"Table": ["a", "b"]}


@pytest.mark.parametrize("folder", FOLDERS)
def test_banned_words_become_fewer(folder: str) -> None:
    counted = banned_in_folder(folder)
    allowed = ALLOWED.get(folder, 0)
    assert counted.total() <= allowed, f"new banned words in {folder}: {dict(+counted)}; see CONTRIBUTING.md"


@pytest.mark.parametrize("folder", ALLOWED_NAMES)
def test_empty_names_become_fewer(folder: str) -> None:
    counted = empty_names_in_folder(folder)
    assert counted.total() <= ALLOWED_NAMES[folder], (
        f"new empty names in {folder}: {dict(counted)}; see CONTRIBUTING.md"
    )


def test_an_empty_name_is_found_wherever_it_is_defined() -> None:
    source = "def told(asked, *found):\n    self.shown, _one = 1, 2\n    match x:\n        case [wanted]: print(told)"
    assert sorted(name.strip("_") for name in defined_names(source) if name.strip("_") in EMPTY_NAMES) == sorted(
        EMPTY_NAMES
    )


def test_a_banned_word_is_found() -> None:
    source = '"""He is told."""\nx = "whoever"  # so many\n'
    assert +banned_in(prose(source)) == Counter({"he, him, his": 1, "told": 1, "so many": 1})


if __name__ == "__main__":
    for one in FOLDERS:
        counts = banned_in_folder(one)
        names = empty_names_in_folder(one) if one in ALLOWED_NAMES else Counter[str]()
        sys.stdout.write(f'    "{one}": {counts.total()},  # {dict(+counts)}; names: {names.total()}, {dict(names)}\n')
