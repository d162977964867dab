"""The walks of the architecture page pass through functions that are there, and as many modules as it says."""

from __future__ import annotations

import pytest

from scripts.walks import PAGE, Walk, read_walks
from tests.builds import needs_pure

MOST_MODULES = 18

WALKS = list(read_walks(PAGE.read_text(encoding="utf-8")))


def test_the_page_has_the_walks_of_a_decision_a_result_and_a_submission() -> None:
    assert [walk.name.split()[1].strip(",") for walk in WALKS] == ["decision", "result", "submission"]


@needs_pure  # the source of compiled functions is not at hand
@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.name.split()[1].strip(","))
def test_a_walk_passes_functions_that_are_there_and_few_modules(walk: Walk) -> None:
    assert walk.code_lines() > len(walk.steps)
    assert walk.modules == walk.modules_said
    assert walk.modules <= MOST_MODULES
