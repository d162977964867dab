"""Tables of a terminal: columns stay under their heads, whatever signs a name has."""

from __future__ import annotations

import pytest

from cutpurse.process.terminal import table
from cutpurse.wire.text import format_count


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("sneak", 5),
        ("海盗", 4),
        ("\N{MONEY BAG}ann", 5),
        ("e\N{COMBINING ACUTE ACCENT}ve", 3),
        ("zoë", 3),
        ("\uff21", 2),
    ],
)
def test_a_name_takes_as_many_columns_as_a_terminal_gives_it(name: str, columns: int) -> None:
    assert table(("bot", "wins"), [(name, 7), ("first_option", 12)]) == [
        "bot           wins",
        name + " " * (12 - columns) + "     7",
        "first_option    12",
    ]


def test_one_of_something_is_called_so() -> None:
    assert [format_count(count, "bot") for count in (1, 2)] == ["1 bot", "2 bots"]
    assert [format_count(count, "match", "matches") for count in (0, 1, 2, 12_345)] == [
        "0 matches",
        "1 match",
        "2 matches",
        "12,345 matches",
    ]
