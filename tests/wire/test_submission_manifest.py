"""What bot.toml can say, and in what words it is told what it cannot."""

from __future__ import annotations

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.wire.manifest import RUNTIMES, Manifest, read_manifest

LEAST = 'name = "sneak"\nrun = ["python", "sneak.py"]\n'


def test_name_and_command_are_enough() -> None:
    assert read_manifest(LEAST.encode()) == Manifest("sneak", "1", (), "python", ("python", "sneak.py"))


def test_everything_can_be_said() -> None:
    text = """
        name = "sneak"
        version = "2.1"
        games = ["greed", "szmal", "greed"]
        runtime = "node"
        run = ["node", "dist/bot.mjs", "--quick"]
        build = ["node", "build.mjs"]
        [limits]
        memory_mb = 512
        tables = 16
        [files]
        ignore = ["notes/"]
    """
    assert read_manifest(text.encode()) == Manifest(
        name="sneak",
        version="2.1",
        games=("greed", "szmal"),
        runtime="node",
        run=("node", "dist/bot.mjs", "--quick"),
        build=("node", "build.mjs"),
        memory_mb=512,
        tables=16,
        ignore=("notes/",),
    )


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_script_can_build_for_any_runtime(runtime: str) -> None:
    text = f'name = "a"\nruntime = "{runtime}"\nbuild = ["sh", "build.sh"]\nrun = ["./out/bot"]'
    made = read_manifest(text.encode())
    assert (made.build, made.run) == (("sh", "build.sh"), ("./out/bot",))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('run = ["python", "a.py"]', "bot.toml has no name"),
        ('name = "Sneak"\nrun = ["python", "a.py"]', "name is 'Sneak'; it is a name: 1 to 32 of a-z"),
        (LEAST + "version = 2", "version is 2; it is a text"),
        (LEAST + '"limits.tables" = 3', "there is no key 'limits.tables'; is limits.tables meant?"),
        (LEAST + 'nmae = "x"', "there is no key 'nmae'; is name meant?"),
        (LEAST + "limit = {tables = 3}", "there is no key 'limit'; there are: name, version"),
        (LEAST + "limits = {table = 3}", "there is no key 'limits.table'; is limits.tables meant?"),
        (LEAST + "limits = 3", "limits is 3; it is a table: [limits]"),
        (LEAST + "limits = {tables = 0}", "limits.tables is 0; it is a number from 1 to 64"),
        (LEAST + "limits = {memory_mb = 4096}", "limits.memory_mb is 4096; it is a number from 16 to 1,024"),
        (LEAST + "limits = {tables = true}", "limits.tables is True"),
        (LEAST + 'games = ["poker"]', "no game is called 'poker'; there are: "),
        (LEAST + 'games = "greed"', "games is 'greed'; it is a list of texts"),
        (LEAST + 'runtime = "ruby"', "runtime is 'ruby'; it is one of: python, node, native"),
        ('name = "a"', "bot.toml has no run"),
        ('name = "a"\nrun = []', "bot.toml has no run"),
        ('name = "a"\nrun = [1]', "run is [1]; it is a list of words"),
        ('name = "a"\nrun = ["python", "../a.py"]', "run names '../a.py', which is not in the folder"),
        ('name = "a"\nrun = ["/bin/sh"]\nruntime = "native"', "run names '/bin/sh', which is not in the folder"),
        ('name = "a"\nrun = ["node", "a.mjs"]', "with runtime 'python' it begins with 'python'"),
        ('name = "a"\nruntime = "native"\nrun = ["python", "a.py"]', "so runtime is 'python', not 'native'"),
        (LEAST + 'build = ["make"]', "build begins with 'make'; with runtime 'python' it begins with 'python'"),
        (LEAST + 'build = ["sh", "../build.sh"]', "build names '../build.sh', which is not in the folder"),
        ("name = ", "bot.toml is no TOML"),
        (LEAST + "# \udcff", "bot.toml is no TOML"),
        (LEAST + "#" * 70_000, "bot.toml is too large; the maximum is 65,536 bytes"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(text: str, told: str) -> None:
    with pytest.raises(UsageError) as raised:
        read_manifest(text.encode("utf-8", "surrogateescape"))
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_byte_order_mark_is_no_part_of_it() -> None:
    assert read_manifest(LEAST.encode("utf-8-sig")) == read_manifest(LEAST.encode())
