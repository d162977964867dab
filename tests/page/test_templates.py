"""Templates print what they get: what a number of the protocol means, and every sum, is Python."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from jinja2 import Environment, nodes

from cutpurse.page.loading import templates_of
from cutpurse.page.rendering import FILTERS, HERE

ENUMS = ("phase", "move", "boards", "board_kind", "kind", "status", "verdict", "role")  # fields of the protocol


def problems_in(environment: Environment, source: str) -> Iterator[str]:
    """Yield each product, each quotient and each comparison of an enum with a number, with its line."""
    tree = environment.parse(source)
    for kind in (nodes.Div, nodes.Mul, nodes.Pow):
        for one in tree.find_all(kind):
            yield f"line {one.lineno}: arithmetic"
    for compare in tree.find_all(nodes.Compare):
        numbers = [operand.expr for operand in compare.ops if isinstance(operand.expr, nodes.Const)]
        name = getattr(compare.expr, "attr", "")
        if name in ENUMS and any(isinstance(number.value, int) for number in numbers):
            yield f"line {compare.lineno}: {name} as a number"


@pytest.mark.parametrize("source", ["{{ a.ms / 1000 }}", "{% if season.phase == 2 %}{% endif %}", "{{ 100 * share }}"])
def test_what_no_template_may_do_is_found(source: str) -> None:
    assert list(problems_in(templates_of(HERE / "templates"), source)) != []


def test_no_template_computes_or_knows_a_number_of_the_protocol() -> None:
    environment = templates_of(HERE / "templates")
    problems = [
        f"{path.name}, {problem}"
        for path in sorted((HERE / "templates").iterdir())
        for problem in problems_in(environment, path.read_text(encoding="utf-8"))
    ]
    assert problems == []


def test_numbers_of_the_protocol_have_names() -> None:
    environment = Environment()
    environment.filters |= FILTERS
    phases = environment.from_string("{% for number in (1, 6, 99) %}{{ number | season_phase }},{% endfor %}")
    assert phases.render() == "playing,stopped,,"
    kinds = environment.from_string("{% for number in (2, 3) %}{{ number | board_kind }},{% endfor %}")
    assert kinds.render() == "rotation,duplicate,"
