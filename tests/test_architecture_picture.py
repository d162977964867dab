"""The picture of the packages shows the import rules of today.

Renewed by `pytest tests/test_architecture_picture.py --update-pages`, or `python -m scripts.architecture_picture`.
"""

from __future__ import annotations

import re

import pytest

from scripts.architecture_picture import PACKAGES, PICTURE, picture
from scripts.layered_drawing import reduced
from tests.test_imports import MAY_IMPORT, SERVER_MAY_IMPORT

RENEW = "if it is meant: pytest tests/test_architecture_picture.py --update-pages"


def test_the_picture_shows_the_packages_of_today(pytestconfig: pytest.Config) -> None:
    drawn = picture()
    if pytestconfig.getoption("--update-pages"):
        PICTURE.write_text(drawn, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == drawn, RENEW


def test_each_package_is_a_box_and_each_needed_rule_an_arrow() -> None:
    drawn = PICTURE.read_text(encoding="utf-8")
    assert sorted(re.findall('class="name".*>(.*)<', drawn)) == sorted([*MAY_IMPORT, *SERVER_MAY_IMPORT])
    arrows = sum(len(ends) for rules in (PACKAGES, SERVER_MAY_IMPORT) for ends in reduced(rules).values())
    assert drawn.count("marker-end") == arrows


def test_a_rule_that_follows_from_others_is_left_out() -> None:
    assert reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}
