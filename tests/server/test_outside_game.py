"""A game of another package: built, installed, and played by every command, over gRPC and on the page."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cutpurse.engine.game import ENGINE_API
from tests.languages.workshop import made_in
from tests.roots import CHECKOUT

EXAMPLE = CHECKOUT / "examples" / "kuhn_poker"
MOST_LINES = 120  # of the example that are not blank
WAIT_S = 240.0

GAME = """
from cutpurse.engine.game import Game
from cutpurse.engine.words import Words

class {name}(Game):
    __slots__ = ()
    engine_api = {api}
    words = Words("{game}", "{name}", "{prefix}", "1", seats=range(2, 3))
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the example is installed, from its wheel."""
    folder = tmp_path_factory.mktemp("outside")
    built = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder / "dist"), str(EXAMPLE)]
    subprocess.run([sys.executable, *built], check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("kuhn_poker-1.0-*.whl")
    quiet = ["-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, *quiet, "--target", str(folder / "site"), str(wheel)], check=True)
    return folder / "site"


def with_packages(*folders: Path) -> dict[str, str]:
    """The environment of a process that finds packages in these folders, too."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))}


def cutpurse(site: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cutpurse.cli", *words]
    return subprocess.run(command, env=with_packages(site), cwd=cwd, capture_output=True, text=True, check=False)


def brings(site: Path, package: str, game: str, code: str) -> None:
    """Write a package into a folder as if it were installed there."""
    module = package.replace("-", "_")
    (site / f"{module}.py").write_text(code, encoding="utf-8")
    about = site / f"{module}-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[cutpurse.games]\n{game} = {module}:Mine\n", encoding="utf-8")


def mine(game: str, prefix: str = "MY", api: int = ENGINE_API) -> str:
    return GAME.format(name="Mine", game=game, prefix=prefix, api=api)


def test_the_example_is_short() -> None:
    lines = (EXAMPLE / "kuhn_poker.py").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) < MOST_LINES


def test_it_is_listed_and_its_rules_are_printed(installed: Path) -> None:
    listed = cutpurse(installed, "games", "--json")
    assert [game["game"] for game in json.loads(listed.stdout)][5:] == ["kuhn_poker"]
    assert listed.stderr == ""
    rules = cutpurse(installed, "rules", "kuhn_poker")
    assert "`kuhn_poker`, rules version 1, for 2 players\n" in rules.stdout
    assert "### Check or bet (`check_or_bet`)" in rules.stdout
    assert "ruling" not in rules.stdout


def test_it_is_played_compared_and_replayed_here(installed: Path, tmp_path: Path) -> None:
    bot = tmp_path / "my_bot.py"
    bot.write_text(
        "class Bot:\n"
        "    def choose(self, view, decision):\n"
        "        king = 'king' in [card.name for card in view.me.pile('hand').cards]\n"
        "        wanted = ('bet', 'call') if king else ('check', 'fold')\n"
        "        return next(option for option in decision.options if option.verb in wanted)\n",
        encoding="utf-8",
    )
    words = ("play", "kuhn_poker", "my_bot.py", "random", "--matches", "4", "--record", "played.jsonl", "--json")
    played = cutpurse(installed, *words, cwd=tmp_path)
    assert played.returncode == 0, played.stderr
    totals = json.loads(played.stdout)
    assert totals["matches"] == 4
    records = tmp_path / "played.jsonl"
    assert cutpurse(installed, "match", "verify", str(records)).returncode == 0
    replayed = cutpurse(installed, "match", "replay", str(records), "--match", "1")
    assert "wins the pot" in replayed.stdout, replayed.stderr
    compared = cutpurse(
        installed, "compare", "kuhn_poker", "my_bot.py", "random", "--max-boards", "20", "--json", cwd=tmp_path
    )
    assert json.loads(compared.stdout)["boards"] <= 20
    page = (CHECKOUT / "docs/how-to/add_a_game.md").read_text(encoding="utf-8")
    assert "cutpurse play kuhn_poker search random --matches 20\n" in page  # of these two the first is to win
    words = ("play", "kuhn_poker", "search", "random", "--matches", "4", "--seed", "1", "--json")
    searched = cutpurse(installed, *words)
    assert searched.returncode == 0, searched.stderr
    search, opponent = json.loads(searched.stdout)["seats"]
    assert search["mean_score"] > opponent["mean_score"]


@contextmanager
def serving(site: Path, folder: Path, game: str | None = "kuhn_poker") -> Iterator[tuple[str, str]]:
    """Run a server with its page; the addresses of both. What it wrote to stderr is in the file `log` afterwards."""
    command = [sys.executable, "-m", "cutpurse.cli", "serve", "--db", "league.db"]
    command += ["--game", game] if game else []
    command += ["--address", "127.0.0.1:0", "--web", "127.0.0.1:0", "--drain", "1", "--watch-delay", "0"]
    server = subprocess.Popen(command, env=with_packages(site), cwd=folder, stderr=subprocess.PIPE)
    try:
        arena, page, log = _addresses(server)
        yield arena, page
    finally:
        server.terminate()
        _, err = server.communicate(timeout=WAIT_S)
    assert server.returncode == 0, err.decode()
    (folder / "log").write_bytes(log + err)


def _addresses(server: subprocess.Popen[bytes]) -> tuple[str, str, bytes]:
    """Read the log until it says the address for bots and that of the page; both, and what was read."""
    assert server.stderr is not None
    os.set_blocking(server.stderr.fileno(), False)
    heard, until = b"", time.monotonic() + WAIT_S
    while time.monotonic() < until:
        select.select([server.stderr], [], [], until - time.monotonic())
        heard += server.stderr.read() or b""
        said = heard.decode()
        arena = re.search(r'"address": "(127\.0\.0\.1:\d+)".*"event": "listening"|listening.*?(127\.0\.0\.1:\d+)', said)
        page = re.search(r"http://(127\.0\.0\.1:\d+)", said)
        if arena and page:
            return arena[1] or arena[2], page[1], heard
    raise AssertionError(heard.decode())


def get(address: str) -> str:
    with urllib.request.urlopen(f"http://{address}", timeout=WAIT_S) as answer:
        return str(answer.read().decode())


def play_on(arena: str, site: Path, folder: Path, opponent: list[str]) -> str:
    """Let `greedy` play two matches against an opponent that is stopped afterwards; the ID of one of them."""
    environment = with_packages(site) | {"CUTPURSE_SERVER": arena, "CUTPURSE_BOT": "opponent"}
    playing = subprocess.Popen(opponent, env=environment, cwd=folder)
    try:
        greedy = cutpurse(
            site, "bot", "run", "greedy", "--game", "kuhn_poker", "--matches", "2", "--server", arena, cwd=folder
        )
    finally:
        playing.terminate()
        playing.wait(WAIT_S)
    assert greedy.returncode == 0, greedy.stderr
    listed = cutpurse(site, "match", "list", "--ladder", "kuhn_poker", "--server", arena, "--json")
    matches = json.loads(listed.stdout)["matches"]
    assert len(matches) >= 2
    return str(matches[0]["match"])


def test_it_is_played_on_a_server_checked_from_there_and_shown_on_the_page(installed: Path, tmp_path: Path) -> None:
    opponent = [sys.executable, "-m", "cutpurse.cli", "bot", "run", "random", "--game", "kuhn_poker"]
    with serving(installed, tmp_path) as (arena, page):
        match = play_on(arena, installed, tmp_path, opponent)
        verified = cutpurse(installed, "match", "verify", match, "--server", arena)
        assert verified.returncode == 0, verified.stderr
        assert "the others followed by the rules" in verified.stdout
        replayed = cutpurse(installed, "match", "replay", match, "--server", arena)
        assert "wins the pot" in replayed.stdout, replayed.stderr
        assert "Kuhn poker" in get(f"{page}/")
        assert "Two checks lead to the showdown" in get(f"{page}/rules/kuhn_poker")
        assert "Kuhn poker" in get(f"{page}/matches/{match}")
        assert "wins the pot" in get(f"{page}/matches/{match}/replay")


def test_a_bot_in_javascript_plays_it(
    installed: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = made_in(tmp_path_factory.mktemp("languages"), "javascript")  # skips where node or its packages are missing
    with serving(installed, tmp_path) as (arena, _):
        match = play_on(arena, installed, tmp_path, made.command)
        shown = cutpurse(installed, "match", "show", match, "--server", arena)
        assert re.search(r"^ +\d  opponent:1 .* normal +0  ", shown.stdout, re.MULTILINE), shown.stdout  # no fault


def test_a_server_plays_its_other_ladders_when_the_package_is_gone(installed: Path, tmp_path: Path) -> None:
    with serving(installed, tmp_path):
        pass
    with serving(installed, tmp_path, game="greed"):
        pass
    broken = tmp_path / "broken"
    broken.mkdir()
    brings(broken, "kuhn-poker", "kuhn_poker", "raise ImportError('no luck')")
    with serving(broken, tmp_path, game=None) as (arena, page):
        listed = cutpurse(broken, "ladder", "list", "--server", arena)
        assert "greed" in listed.stdout, listed.stderr
        assert "Greed" in get(f"{page}/")
        assert "kuhn_poker" in get(f"{page}/ladders/kuhn_poker")
    log = (tmp_path / "log").read_text(encoding="utf-8")
    why = "game 'kuhn_poker' of the package kuhn-poker cannot be played: ImportError at import: no luck"
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    # A busy machine makes the server warn of stalls too, which say nothing in words.
    warnings = [(line["event"], line["text"]) for line in lines if line["level"] == "warning" and "text" in line]
    assert warnings == [("game left out", why), ("ladder left out", why)]


def test_bot_init_says_for_which_games_it_has_a_bot(installed: Path, tmp_path: Path) -> None:
    started = cutpurse(installed, "bot", "init", "mine", "--game", "kuhn_poker", cwd=tmp_path)
    assert (started.returncode, [*tmp_path.iterdir()]) == (2, [])
    assert started.stderr == (
        "cutpurse: there is no bot to begin with for kuhn_poker, only for bag_o_loot, greed, steal_and_plunder, "
        "stolen_treasure, szmal; write a class with choose(view, decision)\n"
    )


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise ImportError('no\\nluck')", "ImportError at import: no luck"),
        ("import sys\nsys.exit(3)", "SystemExit at import: 3"),
        ("Mine = 3", "mine_all:Mine is not a class that extends Game"),
        (mine("other"), "its words call it 'other'; use one name in both places"),
        (mine("mine", "GR"), "its rule numbers begin with GR-, as those of another game; choose another prefix"),
        (mine("mine", api=ENGINE_API + 1), f"cutpurse has {ENGINE_API}; upgrade cutpurse"),
        (
            mine("mine"),
            "usual_seats is 4, and 2 to 2 can play; choose a number of these",
        ),
        (mine("mine", api=0), f"add engine_api = {ENGINE_API} to its class"),
    ],
)
def test_a_game_that_cannot_be_played_is_told_of_in_a_line_and_the_others_are_played(
    tmp_path: Path, code: str, why: str
) -> None:
    brings(tmp_path, "mine-all", "mine", code)
    listed = cutpurse(tmp_path, "games", "--json")
    assert len(json.loads(listed.stdout)) == 5
    assert listed.stderr.startswith("game 'mine' of the package mine-all cannot be played: ")
    assert listed.stderr.endswith(f"{why}\n")
    played = cutpurse(tmp_path, "play", "mine", "random", "random")
    assert (played.returncode, played.stdout) == (2, "")
    assert played.stderr == f"cutpurse: {listed.stderr}"
    assert cutpurse(tmp_path, "play", "greed", "random", "random", "--matches", "1").returncode == 0


def test_a_name_that_clashes_is_told_of_in_a_line(tmp_path: Path) -> None:
    brings(tmp_path, "mine-one", "mine", mine("mine"))
    brings(tmp_path, "mine-two", "mine", mine("mine"))
    brings(tmp_path, "mine-three", "greed", mine("greed"))
    listed = cutpurse(tmp_path, "games", "--json")
    assert [game["title"] for game in json.loads(listed.stdout) if game["game"] in ("greed", "mine")] == ["Greed"]
    first, second = listed.stderr.splitlines()
    assert first == (
        "game 'greed' of the package mine-three cannot be played: a built-in game has that name; give it another one"
    )
    assert second == (
        "game 'mine' of the package mine-two cannot be played: mine-one brings a game of that name, too; "
        "uninstall one of them"
    )


def test_the_page_shows_the_example_as_it_is() -> None:
    page = (CHECKOUT / "docs" / "how-to" / "add_a_game.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```(python|toml)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(shown) >= 6
    for language, text in shown:
        file = "kuhn_poker.py" if language == "python" else "pyproject.toml"
        assert text in (EXAMPLE / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("kuhn_poker:Deal", "it does not extend GameView"),
        ("seen:View", "ModuleNotFoundError at import: No module named 'seen'"),
    ],
)
def test_a_view_that_cannot_be_used_is_a_line(installed: Path, tmp_path: Path, value: str, why: str) -> None:
    names_view(tmp_path, "kuhn-view", value)
    command = [sys.executable, "-m", "cutpurse.cli", "play", "kuhn_poker", "random", "random", "--matches", "1"]
    environment = with_packages(installed, tmp_path)
    played = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (played.returncode, played.stdout) == (2, "")
    assert played.stderr == f"cutpurse: view {value} of game 'kuhn_poker' cannot be used: {why}\n"


def names_view(site: Path, package: str, value: str) -> None:
    """Write a package that names a view of the example into a folder as if it were installed there."""
    about = site / f"{package.replace('-', '_')}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(f"[cutpurse.views]\nkuhn_poker = {value}\n", encoding="utf-8")


def test_a_sheet_is_printed_in_place_of_the_steps(tmp_path: Path) -> None:
    code = """
    usual_seats = 2
    sheet = "## Play" + 2 * chr(10) + "Guess."

    @classmethod
    def box(cls, seats, settings):
        return []
"""
    brings(tmp_path, "mine-all", "mine", mine("mine") + code)
    rules = cutpurse(tmp_path, "rules", "mine")
    assert "\n## Play\n\nGuess.\n\n## Cards\n" in rules.stdout, rules.stderr
