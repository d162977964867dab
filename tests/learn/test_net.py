"""A net in a file: what it rates after loading, and the line for every file that is none."""

from __future__ import annotations

import io
import json
import os
import random
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutpurse.games import GAMES
from cutpurse.learn import OtherNumbering, Space
from cutpurse.learn import net as nets
from cutpurse.learn.net import Columns, Inputs, Net, NetNotLoaded, load_net
from cutpurse.wire.errors import NotFound
from tests.learn.nets import random_net
from tests.learn.positions import Position, positions


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "net.npz"


def rewrite(path: Path, **changes: Any) -> None:
    """Write a net's file anew with other arrays; `header` is a dictionary of changes."""
    with np.load(path) as archive:
        arrays = dict(archive)
    if "header" in changes:
        header = json.loads(arrays["header"].tobytes()) | changes.pop("header")
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **(arrays | changes))


def stamp(path: Path, **changes: Any) -> None:
    rewrite(path, header={"stamp": load_net(path).space.stamp | changes})


def advised(position: Position) -> int:
    """Return an option that an adviser might take: another one in each position."""
    return len(position.game.scores()) * position.seat % len(position.options)


def plain_ratings(net: Net, position: Position) -> list[float]:
    """Compute the ratings as the module's docstring has them, number by number."""
    w = {name: weight.astype(float) for name, weight in net.weights.items()}
    view = net.inputs.read_view(position.view).astype(float)
    units = range(len(w["rating"]))
    first = [sum(view * w["view"][:, unit]) + w["view_bias"][unit] for unit in units]
    ratings = []
    for number, option in enumerate(net.inputs.read_options(position.view, position.options).astype(float)):
        is_advised = number == advised(position)
        sums = [first[unit] + sum(option * w["option"][:, unit]) + is_advised * w["advice"][unit] for unit in units]
        hidden = np.array([max(0, one) for one in sums])
        more = [max(0, sum(hidden * w["hidden"][:, unit]) + w["hidden_bias"][unit]) for unit in units]
        ratings.append(sum((hidden + more) * w["rating"]) + is_advised * w["lead"][0])
    return ratings


@pytest.mark.parametrize("game", GAMES)
def test_a_loaded_net_rates_the_options_of_every_game_as_the_saved_one(game: str, path: Path) -> None:
    net = random_net(game)
    net.save(path)
    loaded = load_net(path)
    assert (loaded.space.stamp, loaded.training) == (net.space.stamp, net.training)
    for position in positions(game, 4, 20):
        ratings = loaded.rate(position.view, position.options, advised(position))
        assert ratings.shape == (len(position.options),)
        assert ratings.tolist() == net.rate(position.view, position.options, advised(position)).tolist()
        assert ratings.tolist() == pytest.approx(plain_ratings(net, position), rel=1e-4, abs=1e-4)


def test_the_same_net_is_the_same_file(path: Path, tmp_path: Path) -> None:
    random_net("greed").save(path)
    load_net(path).save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()


def test_only_what_varies_is_read_and_nothing_counts_more_than_the_largest_value() -> None:
    columns = Columns.varying(np.array([[7, 0, 55_000], [7, 1, -110_000]]))
    assert columns.index.tolist() == [1, 2]
    assert columns.read(np.array([9, 1, 55_000])).tolist() == [1, 0.5]
    assert columns.read(np.array([[9, 3, 0], [9, 0, -500_000]])).tolist() == [[1, 0], [0, -1]]


def test_what_varies_too_seldom_is_not_read() -> None:
    rows = np.zeros((9, 3), np.int32)
    rows[:2, 1] = rows[3:6, 2] = 1
    assert [Columns.varying(rows, least).index.tolist() for least in (1, 3, 4, 8)] == [[1, 2], [1, 2], [1], []]


def test_a_save_that_fails_leaves_the_old_net(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random_net("greed").save(path)
    before = path.read_bytes()

    def full(*given: Any, **more: Any) -> None:
        given[0].write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match="No space left"):
        random_net("greed", seed=2).save(path)
    assert (path.read_bytes(), list(path.parent.iterdir())) == (before, [path])


def refusal(path: Path) -> str:
    """Return the line that refuses a file."""
    with pytest.raises(NetNotLoaded) as refused:
        load_net(path)
    (line,) = str(refused.value).splitlines()
    assert line.count(str(path)) == 1
    return line.replace(str(path), "net.npz")


def test_a_net_keeps_its_level_of_knowledge_and_refuses_another(path: Path) -> None:
    net = random_net("greed", knowledge="seen")
    net.save(path)
    assert load_net(path).space.stamp == net.space.stamp
    with pytest.raises(OtherNumbering) as refused:
        Space("greed", 4).check_stamp(load_net(path).space.stamp)
    assert str(refused.value) == (
        "made with knowledge 'seen', here it is 'proof': give knowledge='seen', or train or export anew"
    )


def test_a_net_of_another_numbering_or_rules_version_is_refused(path: Path) -> None:
    random_net("greed").save(path)
    here = Space("greed", 4).stamp
    for name in ("rules", "numbering", "arrangement"):
        random_net("greed").save(path)
        stamp(path, **{name: "other"})
        assert refusal(path) == (
            f"net net.npz was made with {name} 'other', here it is {here[name]!r}: train or export anew, or install "
            "the version of cutpurse that it was made with"
        )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"game": "whist"}, "net net.npz cannot be played here: no game is called 'whist'"),
        ({"seats": 99}, "net net.npz cannot be played here: "),
        ({"seats": "many"}, "net.npz is no net, or is damaged (invalid literal for int() with base 10: 'many')"),
    ],
)
def test_a_net_of_an_unknown_game_or_number_of_seats_is_refused(changes: dict[str, Any], said: str, path: Path) -> None:
    random_net("greed").save(path)
    stamp(path, **changes)
    assert refusal(path).startswith(said)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"header": {"format": 4}}, "net.npz has format 4, this version of cutpurse reads 3: update"),
        ({"header": {"stamp": 3}}, "is damaged"),
        ({"weight_rating": np.ones(5, np.float16)}, "its weight view has the shape"),
        ({"weight_rating": np.ones((), np.float16)}, "is damaged"),
        ({"weight_view_bias": np.full(16, np.nan, np.float16)}, "its weight view_bias"),
        ({"view_step": np.full(3, np.nan, np.float16)}, "is damaged"),
        ({"weight_hidden": np.array(["a"] * 16)}, "is damaged"),
        ({"view_index": np.full(3, 10**6)}, "its columns of view do not fit"),
        ({"option_index": np.full(3, -1), "option_scale": np.ones(3)}, "it reads columns of option that do not exist"),
    ],
)
def test_a_net_whose_parts_do_not_fit_is_refused(changes: dict[str, Any], said: str, path: Path) -> None:
    random_net("greed").save(path)
    rewrite(path, **changes)
    assert said in refusal(path)


def test_what_is_no_net_is_refused(path: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=re.escape(f"there is no net {path}")):
        load_net(path)
    assert refusal(tmp_path) == "net net.npz cannot be read: Is a directory"
    for content in (b"", b"a net", b"PK\x03\x04" + bytes(100)):
        path.write_bytes(content)
        assert refusal(path).startswith("net.npz is no net, or is damaged (")
    np.savez(path, other=np.ones(3))
    assert refusal(path) == "net.npz is no net, or is damaged ('header'): copy it again, or train anew"


def test_a_pickled_object_is_never_unpacked(path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.abort, ()

    random_net("greed").save(path)
    rewrite(path, weight_view=np.array([Bomb()], dtype=object))
    assert "Object arrays cannot be loaded" in refusal(path)


def test_a_file_that_unpacks_to_gigabytes_is_refused_before_it_does(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.npy", bytes(nets.MOST_BYTES + 1))
    assert refusal(path).startswith("net.npz is no net, or is damaged (more than 64 MiB)")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"shape": (2**40,), "fortran_order": False, "descr": "<f4"})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.npy", header.getvalue())
    assert refusal(path).startswith("net.npz is no net, or is damaged (")


def test_a_damaged_file_is_refused_or_is_still_the_same_net(path: Path) -> None:
    net = random_net("greed")
    net.save(path)
    whole, chance = path.read_bytes(), random.Random(1)
    for cut in range(0, len(whole), len(whole) // 40):
        path.write_bytes(whole[:cut])
        refusal(path)
    refused = 0
    for _ in range(200):
        content = bytearray(whole)
        content[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
        try:
            loaded = load_net(path)
        except NetNotLoaded:
            refused += 1
        else:  # a bit that says nothing about the content, such as one of a date
            assert {name: weight.tolist() for name, weight in loaded.weights.items()} == {
                name: weight.tolist() for name, weight in net.weights.items()
            }
    assert refused > 150


def test_the_largest_array_is_rounded_to_a_byte_a_weight_and_no_further() -> None:
    net = random_net("greed")
    rows = np.random.default_rng(2).normal(size=net.weights["view"].shape)
    rounded = Net(net.inputs, net.weights | {"view": rows}, {}).weights["view"]
    assert (np.abs(rounded - rows) <= np.abs(rows).max(axis=1, keepdims=True) / 127 * 0.51).all()
    assert all(len(set(np.abs(row).tolist())) <= 128 for row in rounded)
    assert Net(net.inputs, net.weights | {"view": rounded}, {}).weights["view"].tolist() == rounded.tolist()


def test_weights_that_do_not_fit_are_no_net() -> None:
    net = random_net("greed")
    for name, weight in net.weights.items():
        with pytest.raises((ValueError, KeyError), match=name):
            Net(net.inputs, {each: net.weights[each] for each in net.weights if each != name}, {})
        with pytest.raises(ValueError, match="its weight"):
            Net(net.inputs, net.weights | {name: np.concatenate([weight, weight])}, {})
        with pytest.raises(ValueError, match=f"its weight {name}"):
            Net(net.inputs, net.weights | {name: np.full_like(weight, np.inf)}, {})


def test_a_net_of_inputs_without_columns_still_rates() -> None:
    net = random_net("greed")
    nothing = Columns(np.zeros(0, np.int32), np.zeros(0, np.float32))
    weights = net.weights | {"view": np.zeros((0, 16)), "option": np.zeros((0, 16))}
    weights |= {"advice": np.zeros(16), "lead": np.zeros(1)}
    (position,) = positions("greed", 4, 1)
    ratings = Net(Inputs(net.space, nothing, nothing), weights, {}).rate(position.view, position.options, 0)
    assert len(set(ratings.tolist())) == 1


@pytest.mark.parametrize(
    ("before", "given", "seen"),
    [
        ("", {}, "1"),
        ("", {"OPENBLAS_NUM_THREADS": "4"}, "4"),
        ("import numpy;", {}, "None"),
    ],
)
def test_one_thread_multiplies_unless_the_user_has_said_otherwise(
    before: str, given: dict[str, str], seen: str
) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    program = f"import os;{before}import cutpurse.learn.net;print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment | given, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == seen
