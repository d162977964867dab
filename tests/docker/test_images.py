"""The images and the compose file, as they are written: pinned, without root, health-checked, all of the checkout."""

from __future__ import annotations

import re
import shlex
from typing import Final

import pytest

from cutpurse.server.house_bots import check_house
from cutpurse.server.ladder_config import default_ladders
from cutpurse.server.settings import SETTINGS
from tests.roots import CHECKOUT

DOCKER: Final = CHECKOUT / "docker"
IMAGES: Final = ("server", "bot")
LOCKED: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", re.MULTILINE)


def instructions(name: str) -> list[tuple[str, str]]:
    """Each instruction of a Dockerfile and what follows it, continued lines put together, comments left out."""
    text = (DOCKER / f"{name}.Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(word.upper(), rest) for line in joined.splitlines() if line for word, _, rest in [line.partition(" ")]]


def last_stage(name: str) -> list[tuple[str, str]]:
    """What is in the image itself."""
    told = instructions(name)
    begins = max(place for place, (word, _) in enumerate(told) if word == "FROM")
    return told[begins:]


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_is_pinned_and_built_of_the_checkout_alone(name: str) -> None:
    told = instructions(name)
    (base,) = [rest for word, rest in told if word == "ARG" and rest.startswith("BASE=")]
    assert re.fullmatch(r"BASE=docker\.io/library/python:3\.\d+\.\d+-slim-bookworm", base)
    assert [rest for word, rest in told if word == "FROM"] == ["${BASE} AS build", "${BASE}"]
    assert "ADD" not in {word for word, _ in told}
    runs = " ".join(rest for word, rest in told if word == "RUN")
    assert not re.search(r"curl|wget|://", runs)
    for step in re.findall(r"pip(?: --python \S+)? install[^&]*", runs):
        assert "--require-hashes" in step or "--no-index" in step, step


@pytest.mark.parametrize("name", IMAGES)
def test_an_image_is_nobodys_and_ends_when_it_is_asked(name: str) -> None:
    told = dict(last_stage(name))
    assert told["USER"] == "10001:10001"
    assert told["STOPSIGNAL"] == "SIGTERM"
    assert told["HEALTHCHECK"] == "NONE" if name == "bot" else "/healthz" in told["HEALTHCHECK"]
    words = [word for word, _ in last_stage(name)]
    assert "RUN" not in words[words.index("USER") :]


def test_the_server_is_configured_by_settings_that_there_are() -> None:
    variables = {setting.variable for setting in SETTINGS}
    (environment,) = [rest for word, rest in last_stage("server") if word == "ENV"]
    told = dict(word.split("=", 1) for word in shlex.split(environment))
    assert {name for name in told if name.startswith("CUTPURSE_")} <= variables
    (health,) = [rest for word, rest in last_stage("server") if word == "HEALTHCHECK"]
    assert f"http://{told['CUTPURSE_METRICS']}/healthz" in health
    (volume,) = [rest for word, rest in last_stage("server") if word == "VOLUME"]
    assert told["CUTPURSE_DB"].startswith(f"{volume}/")


@pytest.mark.parametrize("name", ["server", "bot", "build"])
def test_a_lock_of_an_image_is_a_part_of_that_of_the_checkout(name: str) -> None:
    text = (DOCKER / f"{name}.lock").read_text(encoding="utf-8")
    ours = dict(LOCKED.findall((CHECKOUT / "requirements.lock").read_text(encoding="utf-8")))
    locked = dict(LOCKED.findall(text))
    assert locked.items() <= ours.items()
    assert len(locked) > 5
    assert text.count("==") <= text.count(" \\\n    --hash=sha256:")  # each has one at least


def test_what_is_sent_to_the_engine_is_what_the_wheel_is_made_of() -> None:
    kept = [line[1:] for line in (CHECKOUT / ".dockerignore").read_text(encoding="utf-8").split() if line[0] == "!"]
    text = (CHECKOUT / "pyproject.toml").read_text(encoding="utf-8")
    packages = re.findall(r'^    "(\w+)/cutpurse",$', text, re.MULTILINE)
    assert len(packages) > 4
    hooks = re.findall(r"^\[tool\.hatch\..*hooks\.custom\]\npath = \"(.+)\"$", text, re.MULTILINE)
    assert [hook for hook in hooks if not (CHECKOUT / hook).is_file()] == []
    assert {*packages, *hooks, "docs", "pyproject.toml", "README.md", "LICENSE"} <= set(kept)


def services() -> dict[str, str]:
    """The text of each service, with what it takes from elsewhere in the file."""
    text = (DOCKER / "compose.yaml").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^x-(\w+): &\w+\n((?:  .*\n)+)", text, re.MULTILINE))
    _, _, below = text.partition("\nservices:\n")
    below, _, _ = below.partition("\nvolumes:\n")
    found = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", below, re.MULTILINE))
    for name, body in found.items():
        for _ in range(2):
            body = re.sub(r" *<<: \*(\w+)\n", lambda match: parts[match[1]], body)
        found[name] = body
    return found


def test_the_compose_file_has_a_server_and_two_bots_that_may_do_little() -> None:
    found = services()
    assert set(found) == {"server", "greedy", "search"}
    for name, body in found.items():
        for line in ("read_only: true", "cap_drop: [ALL]", "no-new-privileges:true", "restart: unless-stopped"):
            assert line in body, (name, line)
        assert re.search(r"mem_limit: \d+[mg]", body)
        assert re.search(r"pids_limit: \d+", body)
        assert "privileged: true" not in body
        if name != "server":
            assert "network_mode: none" in body
            assert "condition: service_healthy" in body
    assert 'ports: ["127.0.0.1:8080:8080"]' in found["server"]  # of this machine only, unless somebody wants more
    house = re.search(r'--house, "([^"]+)"', found["server"])
    assert house is not None
    bots = house[1].split(",")
    assert check_house(bots, "compose.yaml") == tuple(bots)
    assert len(bots) >= max(ladder.seats for ladder in default_ladders()) - 1  # a bot that is alone gets matches


def test_an_image_is_built_by_one_service_and_fetched_by_none() -> None:
    """Two builds at once of one name fail where the engine keeps images in containerd: the name is there already."""
    built: dict[str, list[str]] = {}
    for name, body in services().items():
        (image,) = re.findall(r"^ +image: (\S+)$", body, re.MULTILINE)
        dockerfiles = re.findall(r"^ +dockerfile: (\S+)$", body, re.MULTILINE)
        built[image] = built.get(image, []) + dockerfiles
        assert dockerfiles or re.search(r"^ +pull_policy: never\b", body, re.MULTILINE), name
    assert built == {f"cutpurse-{name}": [f"docker/{name}.Dockerfile"] for name in IMAGES}
    assert all((DOCKER / f"{name}.Dockerfile").is_file() for name in IMAGES)
