"""Every rule of the sheets is cited by the code that carries it out and by a test that proves it; nothing else is.

A rule is defined by the line of its sheet that opens with its number in bold.  Code cites it in a docstring or in what
a step says of itself, a test in its name or by `@pytest.mark.rule`.

This module reads texts only: it imports no game and runs no test of one.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PREFIXES = {
    "steal_and_plunder": "SP",
    "stolen_treasure": "ST",
    "szmal": "SZ",
    "greed": "GR",
    "bag_o_loot": "BL",
}
NUMBER = r"(?:SP|ST|GR|BL|SZ)-\d+(?:\.\d+)*|SZ-card-\d+"
DEFINITION = re.compile(rf"^\s*(?:[-*]|\d+\.)?\s*\*\*({NUMBER})\*\*", re.MULTILINE)
CITATION = re.compile(rf"\b(?:{NUMBER})\b")
TEST_NAME = re.compile(r"test_(sp|st|gr|bl|sz)_(card_)?(\d+(?:_\d+)*)(?:_|$)")


def definitions(sheet: str) -> list[str]:
    """The numbers that a sheet's text defines, in order, one for each defining line."""
    return DEFINITION.findall(sheet)


def docstrings(source: str) -> Iterator[str]:
    """The docstrings of a module, its classes and functions, and of attributes: a string right after an assignment."""
    for node in ast.walk(ast.parse(source)):
        for block in ("body", "orelse", "handlers", "finalbody"):
            statements = getattr(node, block, None)
            if not isinstance(statements, list):
                continue  # the body of a lambda or of a conditional expression is no list
            opens = block == "body" and isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            )
            for place, statement in enumerate(statements):
                documents = opens if place == 0 else isinstance(statements[place - 1], ast.Assign | ast.AnnAssign)
                if not (documents and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                    continue
                if isinstance(statement.value.value, str):
                    yield statement.value.value


def texts_of_steps(source: str) -> Iterator[str]:
    """What the steps of a source say of themselves: `rule = "GR-3.6, GR-4.1"` and the paragraph below."""
    for node in ast.walk(ast.parse(source)):
        for statement in node.body if isinstance(node, ast.ClassDef) else ():
            match statement:
                case ast.Assign([ast.Name("rule" | "paragraph" | "safe_paragraph")], ast.Constant(str(text))):
                    yield text


def cited_by_source(source: str) -> set[str]:
    """The numbers that a Python source cites in docstrings and steps; its comments and other strings do not count."""
    texts = [*docstrings(source), *texts_of_steps(source)]
    return {number for text in texts for number in CITATION.findall(text)}


def cited_by_name(name: str, known: set[str]) -> str | None:
    """The number that a test's name cites: the longest known one that its leading numbers spell, else all of them."""
    match = TEST_NAME.match(name)
    if match is None:
        return None
    prefix, card, digits = match[1].upper(), match[2], match[3].split("_")
    if card:
        return f"{prefix}-card-{digits[0]}"
    spelled = [f"{prefix}-{'.'.join(digits[:length])}" for length in range(len(digits), 0, -1)]
    return next((number for number in spelled if number in known), spelled[0])


def cited_by_markers(tree: ast.AST) -> set[str]:
    """The numbers in every `pytest.mark.rule(...)`: decorators, marks of parameters, `pytestmark`.

    Raises ValueError for an argument that is not a number written out, since it would prove nothing to a reader.
    """
    numbers = set()
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func) in {"pytest.mark.rule", "mark.rule"}):
            continue
        for argument in node.args:
            if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                raise ValueError(f"line {node.lineno}: mark.rule({ast.unparse(argument)}): write each number out")
            if CITATION.fullmatch(argument.value) is None:
                raise ValueError(f"line {node.lineno}: mark.rule({argument.value!r}) is no rule number")
            numbers.add(argument.value)
    return numbers


def cited_by_tests(source: str, known: set[str]) -> set[str]:
    """The numbers that a test source cites by the names of its test functions and by its markers."""
    tree = ast.parse(source)
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {number for name in names if (number := cited_by_name(name, known))} | cited_by_markers(tree)


def defined(game: str) -> set[str]:
    """The rule numbers that the sheet of a game defines."""
    return set(definitions(sheet_of(game)))


def cited_in_code(game: str) -> set[str]:
    """The rule numbers that the docstrings of a game's package cite."""
    return {number for source in sources(package_of(game)) for number in cited_by_source(source)}


def cited_in_tests(game: str) -> set[str]:
    """The rule numbers that the tests of a game cite."""
    known = defined(game)
    return {number for source in sources(proofs_of(game)) for number in cited_by_tests(source, known)}


def sheet_of(game: str) -> str:
    return (ROOT / "docs" / "reference" / "rules" / f"{game}.md").read_text(encoding="utf-8")


def package_of(game: str) -> Path:
    return ROOT / "games" / "cutpurse" / "games" / game


def proofs_of(game: str) -> Path:
    return ROOT / "tests" / "games" / game


def sources(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.py")):
        yield path.read_text(encoding="utf-8")


@pytest.mark.parametrize("game", PREFIXES)
def test_a_sheet_defines_each_of_its_numbers_once(game: str) -> None:
    numbers = definitions(sheet_of(game))
    assert numbers
    assert sorted(number for number in set(numbers) if numbers.count(number) > 1) == []
    assert [number for number in numbers if not number.startswith(f"{PREFIXES[game]}-")] == []


@pytest.mark.parametrize("game", PREFIXES)
def test_a_sheet_refers_to_its_own_defined_numbers_only(game: str) -> None:
    assert sorted(set(CITATION.findall(sheet_of(game))) - defined(game)) == []


def test_the_rulings_refer_to_defined_numbers_only() -> None:
    rulings = (ROOT / "docs" / "reference" / "rulings.md").read_text(encoding="utf-8")
    known = {number for game in PREFIXES for number in defined(game)}
    cited = set(CITATION.findall(rulings))
    assert cited
    assert sorted(cited - known) == []


@pytest.mark.parametrize("game", PREFIXES)
def test_every_ruling_of_a_sheet_is_explained(game: str) -> None:
    rulings = (ROOT / "docs" / "reference" / "rulings.md").read_text(encoding="utf-8")
    explained = set(re.findall(rf"^\| ({NUMBER}) \|", rulings, re.MULTILINE))
    assert sorted(rules_with_a_ruling(sheet_of(game)) - explained) == []


@pytest.mark.parametrize("game", PREFIXES)
def test_every_rule_is_carried_out_by_code_that_cites_it(game: str) -> None:
    assert package_of(game).is_dir()
    assert sorted(defined(game) - cited_in_code(game)) == []


@pytest.mark.parametrize("game", PREFIXES)
def test_every_rule_is_proved_by_a_test_that_cites_it(game: str) -> None:
    assert proofs_of(game).is_dir()
    assert sorted(defined(game) - cited_in_tests(game)) == []


@pytest.mark.parametrize("game", PREFIXES)
def test_no_undefined_rule_is_cited(game: str) -> None:
    assert package_of(game).is_dir()
    assert sorted(cited_in_code(game) - defined(game)) == []
    assert sorted(cited_in_tests(game) - defined(game)) == []


def rules_with_a_ruling(sheet: str) -> set[str]:
    """The numbers of a sheet whose rule carries the mark (ruling), also as "(rule book; ruling on the order)"."""
    found = set()
    starts = [*DEFINITION.finditer(sheet)]
    for place, start in enumerate(starts):
        end = starts[place + 1].start() if place + 1 < len(starts) else len(sheet)
        text = re.split(r"\n\n(?!\||  )|\n#", sheet[start.start() : end])[0]
        if re.search(r"\([^()]*\bruling\b", text):
            found.add(start[1])
    return found


def test_a_definition_opens_its_line() -> None:
    sheet = (
        "- **GR-3.6** Bust.\n**SZ-card-7** Joint.\n1. **ST-2.1** Cut.\n  * **BL-4** Play.\nSee **GR-3.7**, GR-3.8.\n"
    )
    assert definitions(sheet) == ["GR-3.6", "SZ-card-7", "ST-2.1", "BL-4"]


def test_a_number_defined_twice_is_found_twice() -> None:
    assert definitions("- **GR-1.1** One.\n- **GR-1.1** Two.\n") == ["GR-1.1", "GR-1.1"]


PLANTED_CODE = '''
"""GR-0.1 and GR-0.2."""
# GR-9.1 in a comment
NUMBERS = 7
"""GR-1.1."""
COPIES: int = 14
"""GR-1.2: see SZ-card-41."""
print("GR-9.2")
"""GR-9.3: after no assignment."""
text = "GR-9.4"
class Bust:
    """GR-3.6."""
    rule = "GR-3.1, GR-3.2"
    paragraph = """As GR-3.3."""
    text = "GR-9.6"
    seat: int
    """GR-3.7 to GR-3.9"""
    def happen(self) -> None:
        """GR-3.14, GR-3.15."""
        self.left = lambda: "GR-9.5"
async def look() -> None:
    """GR-3.10"""
'''


def test_docstrings_and_what_steps_say_cite() -> None:
    assert cited_by_source(PLANTED_CODE) == {
        *("GR-0.1", "GR-0.2", "GR-1.1", "GR-1.2", "SZ-card-41", "GR-3.1", "GR-3.2", "GR-3.3", "GR-3.6"),
        *("GR-3.7", "GR-3.9", "GR-3.14", "GR-3.15", "GR-3.10"),
    }


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("test_gr_3_6_a_bust_returns_all", "GR-3.6"),
        ("test_gr_3_6", "GR-3.6"),
        ("test_gr_3_14_7_cards_are_discarded", "GR-3.14"),
        ("test_gr_3_1_3_players_play", "GR-3.1"),
        ("test_sz_3_3_2_a_need_is_not_spent", "SZ-3.3.2"),
        ("test_sz_3_3_9_is_read_as_the_shorter_known_rule", "SZ-3.3"),
        ("test_sz_card_41_9_markers", "SZ-card-41"),
        ("test_gr_9_9_is_not_known", "GR-9.9"),
        ("test_gr_players_are_two_to_five", None),
        ("test_greed_3_6", None),
        ("prove_gr_3_6", None),
    ],
)
def test_a_name_cites_the_longest_known_number(name: str, number: str | None) -> None:
    known = {"GR-3.1", "GR-3.6", "GR-3.14", "SZ-3.3", "SZ-3.3.2", "SZ-card-41"}
    assert cited_by_name(name, known) == number


PLANTED_TESTS = """
pytestmark = pytest.mark.rule("GR-1.4")
@pytest.mark.rule("GR-3.9", "GR-3.10")
def test_symbols() -> None: ...
@pytest.mark.parametrize(
    "n", [pytest.param(1, marks=pytest.mark.rule("GR-3.11")), pytest.param(2, marks=[mark.rule("GR-3.12")])]
)
async def test_gr_3_13_refill(n: int) -> None: "GR-9.1"
class TestBust:
    def test_gr_3_6_bust(self) -> None: "GR-9.2"
    def helper_gr_3_7(self) -> None: ...
"""


def test_tests_cite_by_names_and_markers() -> None:
    cited = cited_by_tests(PLANTED_TESTS, {"GR-3.6", "GR-3.13"})
    assert cited == {"GR-1.4", "GR-3.9", "GR-3.10", "GR-3.11", "GR-3.12", "GR-3.13", "GR-3.6"}


@pytest.mark.parametrize("argument", ["NUMBER", "f'GR-{n}'", "'GR-3.6 to GR-3.8'", "'bust'", "*NUMBERS"])
def test_a_marker_without_a_written_number_is_refused(argument: str) -> None:
    with pytest.raises(ValueError, match=r"mark\.rule"):
        cited_by_tests(f"@pytest.mark.rule({argument})\ndef test_it() -> None: ...\n", set())


def test_the_mark_of_a_ruling_is_found_in_its_rule_only() -> None:
    sheet = """
- **GR-1.1** One (rule book).
- **GR-1.2** Two,
  and more (rule book; ruling on the order).
- **GR-1.3** Three (ruling: value).

| a table | of the rule |

Between the rules (ruling).

- **GR-1.4** Four:

| a table | with a (ruling) |

## A title (ruling)
"""
    assert rules_with_a_ruling(sheet) == {"GR-1.2", "GR-1.3", "GR-1.4"}
