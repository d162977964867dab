"""A bot that is handed in to a server that runs bots in containers: built, checked, played, and gone with the server.

`CUTPURSE_RUNNER_IMAGE` names an image with the SDK where it is not called cutpurse-bot.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutpurse.server.runners.container import LABEL
from cutpurse.server.runners.container_engine import Engine, socket_of
from tests.looking import until
from tests.parts.submissions.servers import RealServer, cutpurse
from tests.sandbox.trying import runner_or_skip

pytestmark = pytest.mark.soak

GONE_S = 60.0
# It may write into its folder, and finds the .proto files of the image.
BUILD = [
    "python",
    "-c",
    "import os; open('built', 'w').write(open(os.environ['CUTPURSE_PROTO'] + '/cutpurse/v1/arena.proto').read())",
]


@pytest.fixture
def server(short: Path) -> Iterator[RealServer]:
    image = runner_or_skip("container").image
    made = RealServer(short, "--submissions", "container", "--runner-image", image, "--game", "greed")
    yield made
    made.stop()


def of_servers() -> set[str]:
    """The containers of all servers on this machine."""
    path = socket_of(os.environ)
    assert path is not None
    return {str(found["Id"]) for found in Engine(path).containers(LABEL)}


def until_left(count: int, before: set[str]) -> None:
    """Wait until there are so many containers more than before: an engine takes a moment to remove what is over."""
    until(lambda: len(of_servers() - before) == count, f"{count} containers are left", GONE_S)


def test_a_bot_is_built_checked_and_played_in_containers_that_a_killed_server_does_not_leave(
    server: RealServer, short: Path
) -> None:
    before = of_servers()
    made = cutpurse("token", "create", "ann", "--db", "league.db", "--json", folder=short)
    token = str(json.loads(made.stdout)["token"])
    server.start()
    assert cutpurse("bot", "init", "sneak", folder=short).returncode == 0
    manifest = short / "sneak" / "bot.toml"
    manifest.write_text(manifest.read_text().replace("run =", f"build = {json.dumps(BUILD)}\nrun =", 1))
    done = cutpurse(
        "bot", "submit", "sneak", "--json", folder=short, CUTPURSE_TOKEN=token, CUTPURSE_SERVER=server.address
    )
    assert done.returncode == 0, (done.stderr, server.said()[-2_000:])
    told = json.loads(done.stdout)
    assert (told["state"], told["is_running"]) == ("accepted", True)
    until_left(1, before)  # those of its build and its check are over
    server.kill()
    until_left(0, before)
