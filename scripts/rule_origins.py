"""The script that writes `cutpurse.games.origins`: which rules of the sheets are rulings or proposed numbers.

    python scripts/rule_origins.py

`cutpurse rules` prints the origins, and is installed without the sheets. A test compares the module with the sheets.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

__all__ = ["MODULE", "module_text", "origins_of_rules", "origins_of_settings"]

ROOT: Final = Path(__file__).resolve().parents[1]
MODULE: Final = ROOT / "games" / "cutpurse" / "games" / "origins.py"
PREFIXES: Final = {
    "SP": "steal_and_plunder",
    "ST": "stolen_treasure",
    "SZ": "szmal",
    "GR": "greed",
    "BL": "bag_o_loot",
}
_NUMBER: Final = r"(?:SP|ST|GR|BL|SZ)-(?:card-)?\d+(?:\.\d+)*"
_RULE: Final = re.compile(
    rf"^\s*(?:[-*]|\d+\.)?\s*\*\*({_NUMBER})\*\*(.*?)(?=^\s*(?:[-*]|\d+\.)?\s*\*\*{_NUMBER}\*\*|^## |\Z)", re.M | re.S
)
_MARK: Final = re.compile(r"\(([^()]*)\)")
_RULING_ROW: Final = re.compile(rf"^\| ({_NUMBER}) \|", re.M)


def origin(marks: list[str]) -> str:
    """Return the origin of a rule by its marks: "proposed", "ruling", "partly ruling", or an empty text."""
    if any("ruling: value" in mark for mark in marks):
        return "proposed"
    if not any(re.search(r"\bruling\b", mark) for mark in marks):
        return ""
    return "partly ruling" if any(re.search(r"rule book|source:", mark) for mark in marks) else "ruling"


def marks_of(text: str) -> list[str]:
    """List the marks of origin in a rule's text."""
    flat = " ".join(text.split())
    return [mark for mark in _MARK.findall(flat) if re.match(r"rule book|source|ruling", mark)]


def origins_of_rules() -> dict[str, str]:
    """Read the origin of every rule that is not only the publisher's, by rule number, in the order of the sheets."""
    rulings = _clashes_and_rulings((ROOT / "docs" / "reference" / "rulings.md").read_text(encoding="utf-8"))
    marks = {}
    for game in PREFIXES.values():
        sheet = (ROOT / "docs" / "reference" / "rules" / f"{game}.md").read_text(encoding="utf-8")
        for number, text in _RULE.findall(sheet):
            mark = origin(marks_of(text)) or ("partly ruling" if number in rulings else "")
            if mark:
                marks[number] = mark
    return marks


def _clashes_and_rulings(page: str) -> set[str]:
    """List the rules that the page of rulings decides; its last table only checks examples."""
    return set(_RULING_ROW.findall(page.partition("### Examples of the rule book")[0]))


def origins_of_settings() -> dict[str, dict[str, str]]:
    """Read the origin of every setting from the tables of the sheets, by game and name, except the publisher's."""
    by_game: dict[str, dict[str, str]] = {}
    for game in PREFIXES.values():
        sheet = (ROOT / "docs" / "reference" / "rules" / f"{game}.md").read_text(encoding="utf-8")
        section = re.search(r"^## \d+\. Settings\n(.*?)^## ", sheet, re.M | re.S)
        assert section is not None, game
        rows = re.findall(r"^\| `(\w+)` \| [^|]* \| [^|]* \| ([^|]*) \|", section[1], re.M)
        by_game[game] = {name: mark for name, mark_text in rows if (mark := origin([mark_text]))}
    return by_game


def module_text() -> str:
    """Return the source of the module with these origins."""
    rules, settings = origins_of_rules(), origins_of_settings()
    lines = [
        '"""Where rules come from, by the sheets in `docs/reference/rules/`; written by `scripts/rule_origins.py`.',
        "",
        '"ruling": no published text settles it, and the project decides, see `docs/reference/rulings.md`;',
        '"partly ruling": parts of it; "proposed": a number of the project, as none is published.',
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Final",
        "",
        '__all__ = ["RULES", "SETTINGS"]',
        "",
        "RULES: Final[dict[str, str]] = {",
        *[f'    "{number}": "{mark}",' for number, mark in rules.items()],
        "}",
        '"""By the number of a rule."""',
        "",
        "SETTINGS: Final[dict[str, dict[str, str]]] = {",
    ]
    for game, marks in settings.items():
        if not marks:
            lines.append(f'    "{game}": {{}},')
            continue
        lines += [f'    "{game}": {{', *[f'        "{name}": "{mark}",' for name, mark in marks.items()], "    },"]
    lines += ["}", '"""By game and setting."""']
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    MODULE.write_text(module_text(), encoding="utf-8")
