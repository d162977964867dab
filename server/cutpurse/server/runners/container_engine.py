"""An engine of containers on this machine, Docker's or podman's, asked over its socket by the Docker Engine API.

Only what running a program needs: https://docs.docker.com/reference/api/engine/, version 1.41, which podman speaks as
well. Each request has a connection of its own. This module knows no program, and does nothing by itself.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from cutpurse.engine.errors import CutpurseError, UsageError

if TYPE_CHECKING:
    import httpx

__all__ = ["Engine", "EngineError", "socket_of"]

API: Final = "v1.41"
HOST_VARIABLE: Final = "DOCKER_HOST"  # as Docker's own programs read it
UNIX: Final = "unix://"
ANSWER_S: Final = 60.0  # an engine that is busy starts containers slowly
SAID_MOST: Final = 300  # characters of its own words


class EngineError(CutpurseError):
    """The engine refused, or cannot be asked.  status: of HTTP; 0: it did not answer."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status

    @property
    def is_gone(self) -> bool:
        """What was asked for is not there. (podman says so with another number where it is just going.)"""
        return self.status == 404 or "no such container" in str(self).lower()


def socket_of(environment: Mapping[str, str]) -> Path | None:
    """Where an engine listens: as DOCKER_HOST says, else where Docker's or podman's usually is; None: there is none.

    Raises UsageError for a DOCKER_HOST that is another machine's.
    """
    if wanted := environment.get(HOST_VARIABLE):
        if not wanted.startswith(UNIX):
            raise UsageError(f"{HOST_VARIABLE} is {wanted!r:.80}: only an engine of this machine will do, {UNIX}/PATH")
        return Path(wanted.removeprefix(UNIX))
    own = environment.get("XDG_RUNTIME_DIR")
    usual = ["/var/run/docker.sock", "/run/podman/podman.sock"]
    usual += [f"{own}/docker.sock", f"{own}/podman/podman.sock"] if own else []
    return next((Path(path) for path in usual if os.access(path, os.R_OK | os.W_OK)), None)


class Engine:
    """An engine that listens on a socket."""

    def __init__(self, path: Path) -> None:
        """Nothing is asked yet.  Raises ImportError without the package httpx."""
        import httpx

        self.path: Final = path
        self._http: Final = httpx.Client(
            transport=httpx.HTTPTransport(
                uds=str(path), limits=httpx.Limits(max_connections=None, max_keepalive_connections=0)
            ),
            base_url=f"http://engine/{API}",
            timeout=ANSWER_S,
        )

    def is_podman(self) -> bool:
        """Whether it is podman, which differs where it reads files."""
        parts = self._asked("GET", "/version").json().get("Components") or []
        return any("podman" in str(part.get("Name")).lower() for part in parts)

    def info(self) -> dict[str, Any]:
        """Return what the engine can do here."""
        return self._told("GET", "/info")

    def has_image(self, name: str) -> bool:
        """Whether it has that image; none is fetched."""
        try:
            self._asked("GET", f"/images/{quote(name, safe='/:@')}/json")
        except EngineError as problem:
            if problem.status == 404:
                return False
            raise
        return True

    def create(self, name: str, wanted: Mapping[str, Any]) -> str:
        """Make a container, which does not run yet; its number."""
        return str(self._told("POST", "/containers/create", {"name": name}, wanted)["Id"])

    def attach(self, container: str) -> socket.socket:
        """Its standard input and its outputs, as one stream; before it is started, so that nothing is missed."""
        import httpx

        wanted = dict.fromkeys(("stream", "stdin", "stdout", "stderr"), "true")
        headers = {"Connection": "Upgrade", "Upgrade": "tcp"}
        try:
            with self._http.stream("POST", f"/containers/{container}/attach", params=wanted, headers=headers) as answer:
                _check(answer)
                opened: socket.socket = answer.extensions["network_stream"].get_extra_info("socket")
                taken = opened.dup()  # from here on nobody speaks HTTP on it
        except httpx.HTTPError as problem:
            raise self._silent(problem) from None
        taken.setblocking(False)
        return taken

    def start(self, container: str) -> None:
        """Let it run."""
        self._asked("POST", f"/containers/{container}/start")

    def inspect(self, container: str) -> dict[str, Any]:
        """All about it."""
        return self._told("GET", f"/containers/{container}/json")

    def figures(self, container: str) -> dict[str, Any]:
        """Return what a container uses now."""
        return self._told("GET", f"/containers/{container}/stats", {"stream": "false", "one-shot": "true"})

    def containers(self, label: str) -> list[dict[str, Any]]:
        """Those that have a label, whether they run or not."""
        found = self._asked("GET", "/containers/json", {"all": "true", "filters": f'{{"label": ["{label}"]}}'}).json()
        return [*found]

    def remove(self, container: str) -> None:
        """End it, and away with it; it need not be there any more."""
        try:
            self._asked("DELETE", f"/containers/{container}", {"force": "true", "v": "true"})
        except EngineError as problem:
            if not problem.is_gone and problem.status != 409:  # it is on its way already
                raise

    def _told(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        return dict(self._asked(method, path, query, body).json())

    def _asked(
        self, method: str, path: str, query: Mapping[str, str] | None = None, body: Mapping[str, Any] | None = None
    ) -> httpx.Response:
        import httpx

        try:
            answer = self._http.request(method, path, params=query, json=body)
        except httpx.HTTPError as problem:
            raise self._silent(problem) from None
        _check(answer)
        return answer

    def _silent(self, problem: Exception) -> EngineError:
        return EngineError(f"the engine at {self.path} does not answer: {problem}")


def _check(answer: httpx.Response) -> None:
    """Check an answer.  Raises EngineError with the engine's words."""
    if answer.status_code < 400:
        return
    answer.read()
    try:
        words = str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        words = answer.text
    raise EngineError(" ".join(words.split())[:SAID_MOST] or f"HTTP {answer.status_code}", answer.status_code)
