"""The spectators' web page, as a separate process that the server starts and that costs it only the page's requests.

The server opens the socket for browsers and passes it on. So an address that is not available is reported at once, and
browsers wait while the process restarts instead of being refused. The process reads as an anonymous client. People who
play there have a token of this run, and the tokens of people who sign in come with their requests. It runs as long as
the server's process, even if that hangs, and ends with it. If the server cannot end it, as after kill -9, it exits by
itself.
"""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from cutpurse.leaderboard.tokens import Token, new_token
from cutpurse.process.interpreter import module_command
from cutpurse.server.errors import AddressError, CannotListen
from cutpurse.server.hosting.arena import Arena
from cutpurse.server.hosting.listen_address import checked
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
    if checked(address, may_be_reached=True).startswith("unix:"):
        raise AddressError(f"{address!r:.80} cannot be asked over HTTP; it can be HOST:PORT, as 127.0.0.1:7780")
    host, _, port = address.rpartition(":")
    ends_at = time.monotonic() + patience_s
    while True:
        try:
            family, _, _, _, where = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)[0]
            listening = socket.create_server(where[:2], family=family, backlog=BACKLOG)
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE and time.monotonic() < ends_at:
                time.sleep(LOOK_S)
                continue
            raise CannotListen(
                f"cannot listen on {address}: another program does, or the system does not allow it"
            ) from None
        return listening, f"{host}:{listening.getsockname()[1]}"


class Page(Supervisor):
    """The page of one run of a server; leaving the `with` block ends it. `address` is for browsers."""

    def __init__(
        self,
        address: str,
        log: Logger,
        processes: ServiceSpawner | None = None,
        *,
        people: int = 0,
        people_share: int = 0,
        house: Sequence[str] = (),
    ) -> None:
        """Listen at HOST:PORT (port 0 means any free one).

        Args:
            address: HOST:PORT.
            log: The server's log.
            processes: Runs the process; a real one by default.
            people: Number of people who may play on the page at once.
            people_share: Number of those from one address; 0 means half.
            house: House bots that play with them.

        Raises:
            AddressError: If the address is invalid.
            CannotListen: If the address is not available.
        """
        self._listening, self.address = listening_socket(address, RELEASE_S)
        self._bots_dial = ""
        share = ("--people-per-address", str(people_share)) if people_share else ()
        self._seats = (*share, "--people", str(people), "--house", ",".join(house)) if people else ()
        self.token: Token | None = new_token() if people else None
        super().__init__(["page"], self._page, log, noun="page", processes=processes, is_heard=True)

    def begin(self, arena: Arena, bots_dial: str = "") -> None:
        """Start the page.  `bots_dial` is the address for bots, which the page shows to readers."""
        self._bots_dial = bots_dial
        super().begin(arena)

    def _page(self, name: str, address: str) -> ServiceSpec:
        file = self._listening.fileno()
        command = (
            *(*module_command("cutpurse.cli"), "web", "--socket", str(file), "--arena", self._bots_dial),
            *("--parent", str(os.getpid())),
            *self._seats,
        )
        # An attacker who broke into the page must find no other token than that of the people who play there.
        token = "" if self.token is None else self.token.reveal()
        return ServiceSpec(command, {SERVER_VARIABLE: address, TOKEN_VARIABLE: token}, (file,))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self._listening.close()
