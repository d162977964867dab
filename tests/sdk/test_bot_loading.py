"""A bot is found by its name or in a file, and what is wrong with it is said in one line."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.bot import bot_chance, built_in_bots, load_bot
from cutpurse.sdk.bot_file import activate
from cutpurse.sdk.local import play
from cutpurse.wire.errors import BotNotLoaded, NotFound
from tests.sdk.bot_files import FIRST, bot_file


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `cutpurse` as a user does, in a process of its own."""
    program = str(Path(sys.executable).with_name("cutpurse"))
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=240, check=False)


def test_a_built_in_bot_is_found_by_its_name() -> None:
    maker = load_bot("random")
    assert (maker.name, type(maker.make()).__name__) == ("random", "RandomBot")
    assert "random" in built_in_bots()


def test_an_unknown_name_lists_what_there_is() -> None:
    there = r"there are: .*random.*, or a file such as my_bot.py"
    with pytest.raises(UsageError, match=rf"^no bot is called 'rndom' \(did you mean 'random'\?\); {there}$"):
        load_bot("rndom")


def test_a_bot_is_found_in_a_file_by_its_class(tmp_path: Path) -> None:
    path = bot_file(tmp_path, FIRST + FIRST.replace("Bot", "Other"))
    assert type(load_bot(path).make()).__name__ == "Bot"
    assert type(load_bot(f"{path}:Other").make()).__name__ == "Other"


def test_a_bot_of_a_file_can_be_sent_to_another_process(tmp_path: Path) -> None:
    maker = pickle.loads(pickle.dumps(load_bot(bot_file(tmp_path, FIRST))))
    assert maker.make().choose(None, type("D", (), {"options": ["a"]})) == "a"
    assert multiprocessing.get_context("spawn")  # which is how `play` makes its processes


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        (None, NotFound, r"no bot file .*my_bot\.py: it does not exist"),
        ("x = 1\nimport nowhere_at_all\n", BotNotLoaded, r"does not import: .*my_bot\.py:2: ModuleNotFoundError: .*"),
        ("def broken(:\n", BotNotLoaded, r"does not import: .*my_bot\.py:1: SyntaxError: .*"),
        ("import sys\nsys.exit(3)\n", BotNotLoaded, r"does not import: .*my_bot\.py:2: SystemExit: 3"),
        ("class Bto:\n    def choose(self): ...\n", BotNotLoaded, r"has no class Bot; it has: .*my_bot\.py:Bto"),
        (
            "from cutpurse.sdk.bot import Bot\nclass Mine(Bot):\n    def choose(self, v, d): ...\n",
            BotNotLoaded,
            r"has no class Bot; it has: .*my_bot\.py:Mine",
        ),
        ("class Bot: ...\n", BotNotLoaded, r"class Bot has no method choose\(self, view, decision\)"),
        (
            "class Bot:\n    def choose(view, decision): ...\n",
            BotNotLoaded,
            r"class Bot has choose\(view, decision\), but it is called as choose\(self, view, decision\)",
        ),
        (
            FIRST + "    def start(self): ...\n",
            BotNotLoaded,
            r"class Bot has start\(self\), but it is called as start\(self, match\)",
        ),
        (
            FIRST + "    def __init__(self, name): ...\n",
            BotNotLoaded,
            r"class Bot has __init__\(self, name\), but a new object is made for each match, without arguments",
        ),
        (
            "from cutpurse.sdk import bot\nclass Bot(bot.Bot):\n    def Choose(self, view, decision): ...\n",
            BotNotLoaded,
            r"class Bot has no method choose\(self, view, decision\)",
        ),
        (
            "from cutpurse.sdk.run import run\nclass Bot:\n    def choose(self, v, d): ...\nrun(Bot, 'greed')\n",
            BotNotLoaded,
            r'my_bot\.py:4: RuntimeError: run\(\) is called wherever .*: put it below `if __name__ == "__main__":`$',
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    tmp_path: Path, source: str | None, kind: type[Exception], said: str
) -> None:
    path = str(tmp_path / "my_bot.py") if source is None else bot_file(tmp_path, source)
    with pytest.raises(kind, match=said) as raised:
        load_bot(path)
    assert isinstance(raised.value, UsageError)
    assert "\n" not in str(raised.value)


def test_methods_may_be_written_in_any_way_that_takes_what_they_are_given(tmp_path: Path) -> None:
    sources = (
        "class Bot:\n    @staticmethod\n    def choose(view, decision): return 7\n",
        "class Bot:\n    @classmethod\n    def choose(cls, *both): return 7\n",
        "class Bot:\n    def __init__(self, n=7): self.n = n\n    def choose(self, *both, **more): return self.n\n",
        "class Bot:\n    choose = lambda self, view, decision, depth=3: 7\n",
        "import functools as f\nclass Bot:\n    def b(self, n, *_): return n\n    choose = f.partialmethod(b, 7)\n",
    )
    for number, source in enumerate(sources):
        assert load_bot(bot_file(tmp_path, source, f"bot_{number}.py")).make().choose(None, None) == 7


def test_a_folder_or_a_name_without_its_ending_is_told_with_the_file_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (folder := tmp_path / "my_bot").mkdir()
    for name in ("cards.py", "my_bot.py", "test_my_bot.py"):
        bot_file(folder, FIRST, name)
    bot_file(tmp_path, FIRST, "other.py")
    bot_file(tmp_path, FIRST, "plain")
    told = {
        "my_bot": "no bot is called 'my_bot': my_bot is a folder, and a bot is a file, such as my_bot/my_bot.py",
        "my_bot/": "my_bot is a folder, and a bot is a file, such as my_bot/my_bot.py",
        "my_bot/my_bot": "there is no my_bot/my_bot, its file is my_bot/my_bot.py",
        "other": "no bot is called 'other': there is no other, its file is other.py",
        "plain": "no bot is called 'plain': plain is no file of Python: its name does not end with .py",
    }
    for spec, said in told.items():
        with pytest.raises(UsageError) as raised:
            load_bot(spec)
        assert str(raised.value) == said


def test_two_versions_each_import_what_lies_beside_them(tmp_path: Path) -> None:
    source = "from plan import PLAN\nclass Bot:\n    plan = PLAN\n    def choose(self, view, decision): return 0\n"
    plans = []
    for version in ("new", "old"):
        (tmp_path / version).mkdir()
        bot_file(tmp_path / version, f"PLAN = {version!r}\n", "plan.py")
        plans.append(load_bot(bot_file(tmp_path / version, source)).make().plan)
    assert plans == ["new", "old"]


def test_a_bots_own_chance_comes_from_the_key_and_the_seat() -> None:
    one, again, other = (bot_chance(bytes(32), seat).random() for seat in (0, 0, 1))
    assert one == again != other


LAZY = """
class Bot:
    def choose(self, view, decision):
        import helper
        return helper.WORD
"""


def lazy_bot(folder: Path, word: str) -> str:
    """Write a bot that imports the helper beside it inside a method."""
    folder.mkdir()
    bot_file(folder, f"WORD = {word!r}\n", "helper.py")
    return bot_file(folder, LAZY)


def test_a_helper_imported_inside_a_method_is_found(tmp_path: Path) -> None:
    assert load_bot(lazy_bot(tmp_path / "one", "first")).make().choose(None, None) == "first"


def test_each_of_two_versions_gets_its_own_helper_whenever_it_imports_it(tmp_path: Path) -> None:
    makers = [load_bot(lazy_bot(tmp_path / word, word)) for word in ("old", "new")]
    words = []
    for maker in [*makers, *makers]:
        activate(maker.modules)
        words.append(maker.make().choose(None, None))
    assert words == ["old", "new", "old", "new"]


def test_a_lazy_helper_is_found_in_local_matches_of_two_versions(tmp_path: Path) -> None:
    bots = [lazy_bot(tmp_path / version, version) for version in ("old", "new")]
    for version in ("old", "new"):
        bot_file(tmp_path / version, "WORD = 0\n", "helper.py")
    played = play("greed", bots, matches=2)
    assert played.failures == ()


def test_a_module_of_the_bot_stands_for_no_module_of_python(tmp_path: Path) -> None:
    bot_file(tmp_path, "raise RuntimeError\n", "statistics.py")
    load_bot(bot_file(tmp_path, FIRST))
    sys.modules.pop("statistics", None)
    import statistics

    assert statistics.mean([1, 3]) == 2


def test_a_bot_that_does_not_import_leaves_nothing_behind(tmp_path: Path) -> None:
    before = list(sys.path)
    with pytest.raises(BotNotLoaded):
        load_bot(bot_file(tmp_path, "import own_helper\n", "bad_bot.py"))
    assert "bad_bot" not in sys.modules
    assert str(tmp_path) not in sys.path[len(before) :]


WAYS = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

from helper import square


def cube(x):
    return x * square(x)


class Bot:
    def choose(self, view, decision):
        if not hasattr(self, "cubes"):
            print("printed by the bot")
            with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(METHOD)) as pool:
                self.cubes = list(pool.map(cube, [1, 2, 3]))
            assert self.cubes == [1, 8, 27]
        return 0
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_bot_may_compute_in_processes_of_its_own(tmp_path: Path, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    bot_file(tmp_path, "def square(x):\n    print('printed by a worker')\n    return x * x\n", "helper.py")
    bot = bot_file(tmp_path, WAYS.replace("METHOD", repr(method)))
    done = command("play", "greed", bot, "random", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["matches"] == 1
    assert done.stderr.count("printed by a worker") == 3
