"""The comments behind values in the source, which describe the values on generated pages."""

from __future__ import annotations

import ast
import inspect
import io
import tokenize
from types import ModuleType

__all__ = ["class_comments", "module_comments"]


def module_comments(module: ModuleType) -> dict[str, str]:
    """Return the comment behind each assignment of a module, by the assigned name; empty without a comment."""
    source = inspect.getsource(module)
    return _comments(source, ast.parse(source).body)


def class_comments(kind: type) -> dict[str, str]:
    """Return the comment behind each attribute that a class body assigns, by name; empty without a comment."""
    module = inspect.getmodule(kind)
    assert module is not None
    source = inspect.getsource(module)
    (body,) = [
        node.body for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == kind.__name__
    ]
    return _comments(source, body)


def _comments(source: str, body: list[ast.stmt]) -> dict[str, str]:
    by_line = {
        token.start[0]: token.string.lstrip("# ").rstrip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and not token.line.lstrip().startswith("#")
    }
    targets = {
        target.id: node.end_lineno or node.lineno
        for node in body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    return {name: by_line.get(line, "") for name, line in targets.items()}
