"""Charts and what a ranking says in words, by numbers that are known."""

from __future__ import annotations

import itertools
import re
from xml.etree import ElementTree

import pytest

from cutpurse.page.anchors import anchors_of, strength
from cutpurse.page.charts import Axis, Line, axis_of, bars, interval, over_time, scale, share
from cutpurse.page.rating_display import lead_of
from cutpurse.v1 import ladder_pb2


def ranking(name: str, low: float, high: float, *, best: int = 0, worst: int = 0) -> ladder_pb2.Ranking:
    bot = ladder_pb2.BotName(owner="ann", bot=name, version="1")
    return ladder_pb2.Ranking(
        place=1, bot=bot, rating=(low + high) / 2, low=low, high=high, best=best, worst=worst, estimated=9
    )


@pytest.mark.parametrize(
    ("values", "low", "high", "step"),
    [
        ([1.2, 8.9], 0, 10, 2),
        ([20.1, 34.9], 20, 35, 5),
        ([-3, 3], -4, 4, 2),
        ([5, 5], 4, 6, 0.5),
        ([], -1, 1, 0.5),
        ([0, 100_000], 0, 100_000, 20_000),
    ],
)
def test_an_axis_holds_all_values_and_has_round_marks(
    values: list[float], low: float, high: float, step: float
) -> None:
    axis = axis_of(values)
    assert (axis.low, axis.high) == pytest.approx((low, high))
    assert axis.ticks == pytest.approx([low + step * number for number in range(len(axis.ticks))])
    assert axis.ticks[-1] == pytest.approx(high)
    assert all(axis.low <= value <= axis.high for value in values)


def test_an_interval_is_drawn_to_scale() -> None:
    drawn = ElementTree.fromstring(interval(25, 75, Axis(0, 100, (0, 50, 100))))
    (reach,) = drawn.findall("rect")
    assert (float(reach.attrib["x"]), float(reach.attrib["width"])) == (50, 100)  # of 200
    ticks, (middle,) = drawn.findall("path[@class='tick']"), drawn.findall("path[@class='middle']")
    assert [tick.attrib["d"].split()[0] for tick in ticks] == ["M0", "M100", "M200"]
    assert middle.attrib["d"].startswith("M100 ")
    assert [text.text for text in ElementTree.fromstring(scale(Axis(0, 100, (0, 50, 100))))] == ["0", "50", "100"]


def test_a_share_is_as_wide_as_it_is() -> None:
    behind, level, ahead = ElementTree.fromstring(share(3, 1, 10))
    assert [float(part.attrib["width"]) for part in (behind, level, ahead)] == [100, 10, 30]
    assert float(level.attrib["x"]) == 30
    assert ElementTree.fromstring(share(0, 0, 0)) is not None


def test_lines_are_drawn_where_their_points_lie_and_names_do_not_touch() -> None:
    lines = [Line(f"bot{number}", [(0, 10.0), (100, 10.0 + number / 100)]) for number in range(8)]
    drawn = ElementTree.fromstring(over_time(lines, title="Ratings", x_name="matches"))
    assert drawn.findtext("title") == "Ratings"
    names = [text for text in drawn.findall("text") if text.attrib.get("class", "").startswith("name")]
    assert [text.text for text in names] == [f"bot{number}" for number in range(8)]
    heights = sorted(float(text.attrib["y"]) for text in names)
    assert all(after - before >= 14.9 for before, after in itertools.pairwise(heights))
    assert 0 < heights[0] < heights[-1] < 340


@pytest.mark.parametrize("most", [5.0, 4_000.0, -4_000.0, 80_000.0, 2_000_000.0])
def test_numbers_beside_a_chart_are_whole(most: float) -> None:
    """A sign of this size is seldom wider than 8; "80,000" began left of the chart."""
    drawn = ElementTree.fromstring(over_time([Line("a", [(0, 0.0), (9, most)])], title="", x_name=""))
    numbers = [text for text in drawn.findall("text") if text.attrib.get("text-anchor") == "end"]
    assert f"{most:,.0f}" in {text.text for text in numbers}
    assert all(float(text.attrib["x"]) >= 7 * len(text.text or "") for text in numbers)


def test_a_higher_value_is_drawn_higher() -> None:
    drawn = ElementTree.fromstring(over_time([Line("a", [(0, 1.0), (1, 2.0), (2, 5.0)])], title="", x_name=""))
    (course,) = [path for path in drawn.findall("path") if path.attrib["class"].startswith("course")]
    points = [tuple(map(float, pair.split())) for pair in course.attrib["d"][1:].split("L")]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)


@pytest.mark.parametrize(("last", "marks"), [(3, ["0", "1", "2", "3"]), (1, ["0", "1"]), (100, ["0", "20", "40"])])
def test_what_is_counted_is_marked_by_whole_numbers(last: int, marks: list[str]) -> None:
    drawn = ElementTree.fromstring(over_time([Line("a", [(0, 5.0), (last, 6.0)])], title="", x_name="boards"))
    told = [text.text for text in drawn.findall("text") if text.attrib.get("text-anchor") == "middle"]
    assert [text for text in told if text != "boards"][: len(marks)] == marks


def test_where_there_is_nothing_to_draw_nothing_is() -> None:
    assert over_time([Line("a", [(0, 1.0)])], title="", x_name="") == ""
    assert over_time([], title="", x_name="") == ""
    assert bars([("a", 0)], title="", x_name="") == ""


def test_columns_are_as_tall_as_their_counts() -> None:
    drawn = ElementTree.fromstring(bars([("a", 1), ("b", 4), ("c", 0)], title="How long", x_name="ms"))
    heights = [float(column.attrib["height"]) for column in drawn.findall("rect")]
    assert heights == pytest.approx([heights[1] / 4, heights[1], 0], abs=0.1)
    assert "1" in [text.text for text in drawn.findall("text")]


def test_no_name_becomes_markup() -> None:
    hostile = "<script>alert(1)</script>"
    text = over_time([Line(hostile, [(0, 1), (1, 2)])], title=hostile, x_name=hostile)
    text += bars([(hostile, 1)], title=hostile, x_name=hostile)
    assert "<script" not in text
    assert not re.search(r"\sstyle=", text)


@pytest.mark.parametrize(
    ("rankings", "level", "text"),
    [
        ([], None, None),
        ([ranking("a", 20, 30)], "alone", "nobody to compare it with yet"),
        ([ranking("a", 30, 32), ranking("b", 20, 22)], "clear", "ahead of everybody with 99 %"),
        ([ranking("a", 26, 34), ranking("b", 24, 30)], "likely", "ahead of ann/b with 88 %"),
        ([ranking("a", 25, 27), ranking("b", 20, 36)], "open", "too close to call: ann/b may be the better one (69 %)"),
        ([ranking("a", 26, 34, best=1, worst=1), ranking("b", 24, 30)], "clear", "surely the best (95 %)"),
        ([ranking("a", 26, 34, best=1, worst=2), ranking("b", 24, 30)], "likely", "one of the best 2 (95 %)"),
        ([ranking("a", 26, 34, best=1, worst=5), ranking("b", 24, 30)], "open", "one of the best 5 (95 %)"),
    ],
)
def test_how_sure_it_is_who_leads(rankings: list[ladder_pb2.Ranking], level: str | None, text: str | None) -> None:
    lead = lead_of(rankings)
    assert (lead and lead.level, lead and lead.text) == (level, text)


def test_a_bot_that_is_not_placed_leads_nothing_and_is_compared_with_nothing() -> None:
    newcomer = ranking("new", 20, 60)
    newcomer.place = 0
    assert lead_of([newcomer]) is None
    assert lead_of([ranking("a", 30, 32), ranking("b", 20, 22), newcomer]) == lead_of(
        [ranking("a", 30, 32), ranking("b", 20, 22)]
    )


def test_the_least_sure_comparison_counts() -> None:
    lead = lead_of([ranking("a", 28, 32), ranking("b", 10, 12), ranking("c", 29, 33)])
    assert lead is not None
    assert lead.level == "open"
    assert "ann/c" in lead.text


def house(name: str, low: float, high: float) -> ladder_pb2.Ranking:
    one = ranking(name, low, high)
    one.bot.owner = "house"
    return one


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (33, 35, "stronger than search"),
        (29, 31, "as strong as search"),
        (23, 29, "as strong as greedy"),  # and search could be no better, but greedy is nearer
        (27.4, 27.6, "between greedy and search"),
        (24, 26, "as strong as greedy"),
        (18, 20, "between random and greedy"),
        (9, 11, "weaker than random"),
    ],
)
def test_a_bot_is_as_strong_as_the_house_bot_that_it_cannot_be_distinguished_from(
    low: float, high: float, said: str
) -> None:
    others = [house("search", 29, 31), ranking("mine", low, high), house("random", 14, 16), house("greedy", 24, 26)]
    anchors = anchors_of(others)
    assert [one.bot.bot for one in anchors] == ["random", "greedy", "search"]
    assert strength(others[1], anchors) == said


def test_nothing_is_said_of_a_bot_without_a_place_of_an_anchor_or_without_anchors() -> None:
    anchors = [house("greedy", 24, 26)]
    new = ranking("new", 20, 30)
    new.place = 0
    assert strength(new, anchors) == strength(anchors[0], anchors) == strength(ranking("mine", 24, 26), []) == ""
    unplaced = house("greedy", 24, 26)
    unplaced.place = 0
    assert anchors_of([unplaced, ladder_pb2.Ranking(place=1, bot=unplaced.bot)]) == []
