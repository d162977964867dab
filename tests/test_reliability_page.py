"""The page on reliability names tests that exist."""

from __future__ import annotations

import re

from tests.roots import CHECKOUT


def test_every_test_that_the_page_names_exists() -> None:
    text = (CHECKOUT / "docs/explanation/reliability.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests/[\w/]+/)?(?:test_\w+\.py)?)(?:::(\w+))?`", text)
    folder = file = ""
    found = 0
    for path, function in named:
        if path.startswith("tests/"):
            folder, _, file = path.rpartition("/")
        elif path:
            file = path  # in the folder named last
        elif not function:
            continue
        place = CHECKOUT / folder / file
        assert place.exists(), f"{folder}/{file} is not there"
        if function:
            assert re.search(rf"^(async )?def {function}\b", place.read_text(encoding="utf-8"), re.MULTILINE), function
        found += 1
    assert found > 25
