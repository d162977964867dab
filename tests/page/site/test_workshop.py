"""The workshop of a tab plays, compares and packs a bot as the commands do, and says where its faults are."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from cutpurse.engine.chance import match_key
from cutpurse.engine.record import read_record
from cutpurse.page.site.tab_workshop import MATCHES, TRIAL, Workshop
from cutpurse.sdk.local import play
from cutpurse.sdk.starter.folder import write_starter
from cutpurse.sdk.starter.templates import template
from cutpurse.wire.packing import pack

BOT = """\
class Bot:
    def choose(self, view, decision):
        {line}
        return decision.options[0]
"""


class Tab:
    """In place of a page: what the workshop has sent, by kind."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.workshop = Workshop(lambda kind, data: self.sent.append((kind, json.loads(data))))

    def run(self, bot: str, opponent: str = "random") -> None:
        self.workshop.run("greed", bot, opponent, "7")

    def all(self, kind: str) -> list[dict[str, Any]]:
        return [data for name, data in self.sent if name == kind]

    @property
    def fault(self) -> tuple[int, str]:
        (fault,) = self.all("fault")
        return int(fault["line"]), str(fault["text"])


def test_the_table_has_the_results_and_intervals_of_the_same_deals(tmp_path: Path) -> None:
    tab = Tab()
    tab.run(template("greed"))
    (results,) = tab.all("results")
    (tmp_path / "my_bot.py").write_text(template("greed"))
    bots = [str(tmp_path / "my_bot.py"), *["random"] * 3]
    played = play("greed", bots, matches=MATCHES["random"], seed="7")
    cells = re.findall(r"<td[^>]*>(.*?)</td>", re.sub(r"</?span[^>]*>", "", results["html"]))
    expected = []
    for seat in played.seats:
        low, high = seat.place_interval
        assert 1 <= low < seat.mean_place < high <= 4
        mean = f"{seat.mean_place:.2f} {low:.2f}\N{EN DASH}{high:.2f}"
        expected += [f"{seat.first_places} / 100", mean, f"{seat.mean_score:.1f}"]
    assert cells == expected
    assert "Your bot beats random." in results["html"]
    worst = max(played.rows, key=lambda row: row.places[0])
    record = read_record(results["record"])
    assert (record.seats[worst.seats[0]], results["lost"]) == ("my_bot.py", worst.places[0] > 1)
    assert record.key == match_key("7", worst.match)
    assert tab.all("counted")[-1]["text"] == f"100 of 100 matches, first in {played.seats[0].first_places}"
    assert tab.sent[-1] == ("done", {"prints": ""})


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("view.nothing", "my_bot.py:3: AttributeError: 'GreedView' object has no attribute 'nothing'"),
        ("raise KeyboardInterrupt", "my_bot.py was stopped in match 0, decision "),
        ("raise MemoryError", "it used more than 1 GB of memory: my_bot.py:3: MemoryError"),
        ("print('x' * 3_000_000)", "it printed more than 2,000,000 characters in my_bot.py:3"),
    ],
)
def test_a_fault_is_named_with_its_line(line: str, text: str) -> None:
    tab = Tab()
    tab.run(BOT.format(line=line))
    assert tab.fault[0] == 3
    assert text in tab.fault[1]
    assert tab.sent[-1][0] == "done"


@pytest.mark.parametrize(
    ("bot", "line", "text"),
    [
        ("import os\nimport nothing_here\n", 2, "my_bot.py:2: ModuleNotFoundError: No module named 'nothing_here'"),
        ("class Bot:\n    def choose(self:\n", 2, "my_bot.py:2: SyntaxError: "),
        ("", 0, "bot my_bot.py: my_bot.py has no class Bot"),
    ],
)
def test_a_bot_that_cannot_be_loaded_is_one_line(bot: str, line: int, text: str) -> None:
    tab = Tab()
    tab.run(bot)
    assert tab.fault[0] == line
    assert text in tab.fault[1]
    assert "\n" not in tab.fault[1]
    assert tab.all("results") == []


def test_a_bot_with_faults_plays_a_few_matches_only_and_counts_them() -> None:
    tab = Tab()
    tab.run(BOT.format(line="1 / 0"))
    assert re.search(r"my_bot\.py:3: ZeroDivisionError.* \(and \d+ more faults\)$", tab.fault[1])
    assert len(tab.all("counted")) == TRIAL


def test_before_code_of_the_bot_runs_its_place_is_sent() -> None:
    tab = Tab()
    tab.run(BOT.format(line="raise KeyboardInterrupt"))
    places = [(turn["where"], turn["own"]) for turn in tab.all("asks")]
    assert places[:2] == [("the import of my_bot.py", True), ("match 0", True)]
    assert re.fullmatch(r"match 0, decision \d+ \(\w+\)", places[-1][0])
    assert places[-1][1]
    assert not all(is_own for _, is_own in places)
    assert tab.all("speed")[0]["seconds"] > 0


def test_the_beginning_of_what_a_bot_prints_is_shown() -> None:
    tab = Tab()
    tab.run(BOT.format(line="print('number', decision.number)"))
    (done,) = tab.all("done")
    assert done["prints"].startswith("number ")
    assert len(done["prints"]) == 20_000
    assert tab.all("fault") == []


def test_two_versions_are_compared_by_the_same_deals() -> None:
    tab = Tab()
    worse = template("greed").replace("ENOUGH = 3", "ENOUGH = 0")
    tab.workshop.compare("greed", worse, template("greed"), "random", "7")
    (verdict,) = tab.all("verdict")
    assert verdict["text"].startswith("not better")
    assert {turn["where"].partition(",")[0] for turn in tab.all("asks")} >= {"board 0", "the import of before.py"}
    failing = Tab()
    failing.workshop.compare("greed", BOT.format(line="1 / 0"), template("greed"), "random", "7")
    assert failing.all("verdict")[0]["text"] == "no verdict: my_bot.py failed on 5 of 5 boards"
    assert failing.fault[0] == 3


@pytest.mark.parametrize("bot", [template("greed"), "import nothing_here\n"])
def test_the_archive_has_the_folder_of_bot_init(tmp_path: Path, bot: str) -> None:
    tab = Tab()
    tab.workshop.pack("greed", bot, "sneak", for_league=False)
    tab.workshop.pack("greed", bot, "sneak", for_league=True)
    packed, for_league = tab.all("packed")
    write_starter("sneak", "greed", tmp_path)
    expected = {path.name: path.read_text() for path in (tmp_path / "sneak").iterdir() if path.is_file()}
    with ZipFile(BytesIO(b64decode(packed["zip"]))) as archive:
        assert {name: archive.read(name).decode() for name in archive.namelist()} == expected | {"sneak.py": bot}
    (tmp_path / "sneak" / "sneak.py").write_text(bot)
    assert b64decode(for_league["zip"]) == pack(tmp_path / "sneak").content
    assert tab.all("fault") == []


def test_a_name_that_no_bot_can_have_is_one_line() -> None:
    tab = Tab()
    tab.workshop.pack("greed", template("greed"), "../up", for_league=False)
    assert tab.fault[1].startswith("'../up' is no name for a bot")
    assert tab.all("packed") == []
