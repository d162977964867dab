"""Tables of a terminal: columns stay under their heads, whatever signs a name has."""

from __future__ import annotations

import pytest

from cutpurse.sdk.terminal import table


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
