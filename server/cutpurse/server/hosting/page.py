"""The spectators' web page, as a separate process that the server starts and that costs it only the page's requests.

The server opens the socket for browsers and passes it on. So an address that is not available is reported at once, and
browsers wait while the process restarts instead of being refused. The process reads as an anonymous client, unless a
part of the server gives it a token; the tokens of people who sign in come with their requests. It runs as long as the
server's process, even if that hangs, and ends with it. If the server cannot end it, as after kill -9, it exits by
itself.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from cutpurse.process.interpreter import module_command
from cutpurse.server.hosting.arena import Arena
from cutpurse.server.hosting.listen_address import cannot_listen, http_address
from cutpurse.server.hosting.part import PageExtras
from cutpurse.server.hosting.supervisor import ServiceSpawner, ServiceSpec, Supervisor
from cutpurse.server.logs import Logger
from cutpurse.wire.server_address import SERVER_VARIABLE, TOKEN_VARIABLE

__all__ = ["Page", "listening_socket"]

BACKLOG: Final = 256
RELEASE_S: Final = 3.0  # seconds that the page of a killed server may take to exit
LOOK_S: Final = 0.1


def listening_socket(address: str, patience_s: float = 0.0) -> tuple[socket.socket, str]:
    """Open a socket at HOST:PORT (port 0 means any free one), and return it with its address.

    Args:
        address: HOST:PORT.
        patience_s: Seconds to wait while another program uses it.

    Raises:
        AddressError: If the address is invalid.
        CannotListen: If the address is not available.
    """
    parts = http_address(address)
    ends_at = time.monotonic() + patience_s
    while True:
        try:
            family, _, _, _, where = socket.getaddrinfo(parts.host, parts.port, type=socket.SOCK_STREAM)[0]
            listening = socket.create_server(where[:2], family=family, backlog=BACKLOG)
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE and time.monotonic() < ends_at:
                time.sleep(LOOK_S)
                continue
            raise cannot_listen(address, problem) from None
        return listening, str(replace(parts, port=listening.getsockname()[1]))


class Page(Supervisor):
    """The page of one run of a server; leaving the `with` block ends it. `address` is for browsers."""

    def __init__(self, address: str, log: Logger, processes: ServiceSpawner | None = None) -> None:
        """Listen at HOST:PORT (port 0 means any free one).

        Args:
            address: HOST:PORT.
            log: The server's log.
            processes: Runs the process; a real one by default.

        Raises:
            AddressError: If the address is invalid.
            CannotListen: If the address is not available.
        """
        self._listening, self.address = listening_socket(address, RELEASE_S)
        self._bots_dial = ""
        self._extras: Sequence[PageExtras] = ()
        super().__init__(["page"], self._page, log, noun="page", processes=processes, is_heard=True)

    def begin(self, arena: Arena, bots_dial: str = "", extras: Sequence[PageExtras] = ()) -> None:
        """Start the page.

        Args:
            arena: The server.
            bots_dial: The address for bots, which the page shows to readers.
            extras: What parts of the server add.
        """
        self._bots_dial, self._extras = bots_dial, extras
        super().begin(arena)

    def _page(self, name: str, address: str) -> ServiceSpec:
        file = self._listening.fileno()
        command = (
            *(*module_command("cutpurse.cli"), "web", "--socket", str(file), "--arena", self._bots_dial),
            *("--parent", str(os.getpid())),
            *(word for extra in self._extras for word in extra.words),
        )
        # An attacker who broke into the page must find no token of the server's environment.
        token = next((extra.token.reveal() for extra in self._extras if extra.token is not None), "")
        return ServiceSpec(command, {SERVER_VARIABLE: address, TOKEN_VARIABLE: token}, (file,))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._listening.close()
