"""A server in its own process with HTTP monitoring, and the HTTP client."""

from __future__ import annotations

import asyncio
import http.client
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from tests.roots import CHECKOUT

__all__ = ["Figures", "WatchedServer", "figures", "get", "watched_server"]

Figures = dict[tuple[str, tuple[tuple[str, str], ...]], float]

PROGRAM = """
import asyncio, sys
from pathlib import Path
from cutpurse.server.hosting.arena import serve
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger, capture_library_logs
from cutpurse.server.hosting.open_arena import open_arena
from cutpurse.server.hosting.probes import pages
from cutpurse.server.hosting.monitoring import Monitoring
from tests.server.arenas import QUICK

log = logger(sys.stderr)
capture_library_logs(log)
ladders = [Ladder("greed", "greed", 2, control=QUICK, matches_wanted=1)]
with open_arena("127.0.0.1:0", Path(sys.argv[1]), ladders, log) as opened:
    with Monitoring("127.0.0.1:0", pages(opened), log) as monitoring:
        asyncio.run(serve(opened.arena, 30.0, lambda address: print(address, monitoring.address, flush=True)))
"""


@dataclass
class WatchedServer:
    """A server for one match of Greed with two seats and fast clocks, with its addresses for bots and monitoring."""

    process: asyncio.subprocess.Process
    address: str
    watched: str

    async def get(self, path: str) -> tuple[int, str]:
        """Return status and text of a page."""
        return await asyncio.to_thread(get, self.watched, path)

    async def figures(self) -> Figures:
        """Return the current metrics."""
        return figures((await self.get("/metrics"))[1])


@asynccontextmanager
async def watched_server(database: Path) -> AsyncIterator[WatchedServer]:
    """Run the server for the length of the block; its log on stderr can be read after its end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-W", "error", "-c", PROGRAM, str(database)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=CHECKOUT,
    )
    assert process.stdout is not None
    try:
        address, watched = (await process.stdout.readline()).decode().split()
        yield WatchedServer(process, address, watched)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


def get(address: str, path: str, method: str = "GET") -> tuple[int, str]:
    """Return status and text of a page, on a new connection."""
    connection = http.client.HTTPConnection(address, timeout=240)
    try:
        connection.request(method, path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def figures(text: str) -> Figures:
    """Parse metrics with Prometheus' own parser: values by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
