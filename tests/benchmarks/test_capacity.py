"""What a machine carries is reckoned as the documentation says."""

import re

from benchmarks.capacity import CORES, carried, part_rows, play_on_workers
from tests.roots import CHECKOUT


def test_the_table_of_the_documentation_is_what_is_reckoned() -> None:
    page = (CHECKOUT / "docs/explanation/performance.md").read_text(encoding="utf-8")
    _, _, section = page.partition("## Several machines")
    rows = re.findall(r"^\| ([a-z][^|]+) \|((?: [\d,]+ \|)+)$", section, re.MULTILINE)
    shown = [[int(cell.replace(",", "")) for cell in re.findall(r"[\d,]+", cells)] for _, cells in rows]
    assert shown == [[*CORES], *(row for _, _, row in part_rows())]


def test_more_matches_dealt_than_there_are_slots_only_wait_longer() -> None:
    rate, busy, wait = play_on_workers(10, 4, 1.0)
    rate_ahead, busy_ahead, wait_ahead = play_on_workers(10, 4, 1.25)
    assert busy > 0.97
    assert abs(rate - 10 * 4 / 22) < 0.1  # a match takes 20 s and the start of its processes 2 s
    assert (round(rate_ahead, 1), round(busy_ahead, 1)) == (round(rate, 1), round(busy, 1))
    assert wait < 1 < wait_ahead


def test_the_largest_ladder_is_the_wall() -> None:
    assert carried(5, 0.0, 8) == 5
    assert carried(1, 0.0, 8) == 1
    assert 1.9 < carried(20, 1.0, 2) <= 2
    assert carried(5, 0.5, 8) < 5 < carried(60, 1.0, 8) < 8
