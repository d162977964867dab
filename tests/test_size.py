"""What counts as a line of code."""

from __future__ import annotations

from scripts.size import code_lines

TEXT = '''"""A module.

Of two paragraphs.
"""

# A comment.
VALUE = """text
that is a value
"""


def double(number: int) -> int:
    """Return twice the number."""
    return 2 * number  # a comment beside code
'''


def test_docstrings_comments_and_blank_lines_are_no_code() -> None:
    assert code_lines(TEXT) == 3 + 2
