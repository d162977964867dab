"""Where bytes of messages are written by hand, every field number comes from the .proto files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import pytest

from cutpurse.wire import wire_format
from tests.roots import Module, modules

MODULE: Final = wire_format.__name__
ENCODERS: Final = [module for module in modules() if MODULE in module.file.read_text() and module.name != MODULE]
# Functions whose first argument is a field number.
NUMBERED: Final = {name for name in wire_format.__all__ if name.endswith(("field", "fields"))} | {
    "frame",
    "frames",
    "tag",
    "events",  # of MatchEncoder
}


def numbers_by_hand(source: str) -> Iterator[str]:
    """Yield each field number of a module that is a literal or the name of one, and each literal of a tag's bytes."""
    tree = ast.parse(source)
    numbered, literals = set(NUMBERED), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == MODULE:
            numbered |= {alias.asname for alias in node.names if alias.asname and alias.name in NUMBERED}
        elif isinstance(node, ast.AnnAssign) and _is_number(node.value):
            literals.add(ast.unparse(node.target))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).rpartition(".")[2] in numbered:
            if _is_number(node.args[0]) or ast.unparse(node.args[0]) in literals:
                yield f"line {node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, bytes) and min(node.value, default=32) < 32:
            yield f"line {node.lineno}: {ast.unparse(node)}"


def _is_number(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


@pytest.mark.parametrize("module", ENCODERS, ids=lambda module: module.name)
def test_no_field_number_is_written_by_hand(module: Module) -> None:
    assert list(numbers_by_hand(module.file.read_text())) == []


def test_the_modules_that_write_bytes_are_looked_at() -> None:
    assert {"encode", "phrase_cache", "client_session", "link", "server_match", "broadcast"} <= {
        module.name.rpartition(".")[2] for module in ENCODERS
    }


@pytest.mark.parametrize(
    "line",
    [
        "field(3, body)",
        "frames(4)",
        "x = tag(4)[0]",
        "encoder.events(7, log, 0)",
        "wire_format.uint_field(1, 2)",
        "SIZE: Final = 3\nuint_field(SIZE, 2)",
        f"from {MODULE} import field as put\nput(3, b'')",
        r"x = b'\x0a' + body",
    ],
)
def test_a_number_by_hand_is_found(line: str) -> None:
    assert len(list(numbers_by_hand(line))) == 1


@pytest.mark.parametrize("line", ["field(Zone.CARDS_FIELD_NUMBER, body)", "uints(3)", "x = b'text'", "size: int = 3"])
def test_what_is_no_number_by_hand_is_not_found(line: str) -> None:
    assert list(numbers_by_hand(line)) == []
