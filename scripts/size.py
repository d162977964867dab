"""The size of the project: lines of code by package, and words by folder of the documentation.

Usage: python -m scripts.size

Code lines are those that hold more than a comment or docstring. Generated files are left out: stubs of the protocol,
and pages whose first line says so.
"""

from __future__ import annotations

import ast
import io
import subprocess
import tokenize
from collections import Counter
from pathlib import Path, PurePath
from typing import Final

__all__ = ["code_lines", "main"]

CHECKOUT: Final = Path(__file__).resolve().parent.parent
PRODUCT: Final = ("games", "leaderboard", "sample_bots", "sdk", "server")
_QUIET: Final = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def code_lines(text: str) -> int:
    """Count the lines of Python that are neither blank, nor comment, nor docstring."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {line for token in tokens if token.type not in _QUIET for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def _package(path: PurePath) -> str:
    """Return the part of the project that a file is counted in."""
    return "/".join(path.parts[:3]) if path.parts[0] == "sdk" else path.parts[0]


def main() -> None:
    """Print both tables."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py", "*.md"], cwd=CHECKOUT, check=True, capture_output=True, text=True
    )
    all_lines, code, words = Counter[str](), Counter[str](), Counter[str]()
    for name in listed.stdout.splitlines():
        path = PurePath(name)
        text = (CHECKOUT / path).read_text(encoding="utf-8")
        if path.suffix == ".py" and "_pb2" not in path.name:
            all_lines[_package(path)] += text.count("\n")
            code[_package(path)] += code_lines(text)
        elif path.suffix == ".md" and not text.startswith("<!-- Generated"):
            words[str(path.parent)] += len(text.split())
    for package in sorted(code):
        print(f"{package:28} {all_lines[package]:8,} lines {code[package]:8,} of code")
    product = [package for package in code if package.split("/")[0] in PRODUCT]
    lines, of_code = (sum(map(counted.__getitem__, product)) for counted in (all_lines, code))
    print(f"{'the product':28} {lines:8,} lines {of_code:8,} of code")
    for folder in sorted(words):
        print(f"{folder:28} {words[folder]:8,} words")
    docs = [folder for folder in words if folder.startswith("docs")]
    print(f"{'docs, written by hand':28} {sum(map(words.__getitem__, docs)):8,} words")


if __name__ == "__main__":
    main()
