"""A client of the Docker Engine API, for Docker or podman on this machine, over the engine's socket.

It has only the calls that running a program needs (https://docs.docker.com/reference/api/engine/, version 1.41, which
podman supports too). Each request has its own connection. This module knows no program.
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
HOST_VARIABLE: Final = "DOCKER_HOST"  # Docker's own programs read it too
UNIX: Final = "unix://"
ANSWER_S: Final = 60.0  # a busy engine starts containers slowly
SAID_MOST: Final = 300  # characters of an engine's error message


class EngineError(CutpurseError):
    """A refusal of the engine, with its HTTP status; status 0 means that the engine did not answer."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status

    @property
    def is_gone(self) -> bool:
        """Whether the container does not exist. While it is being removed, podman reports that by another status."""
        return self.status == 404 or "no such container" in str(self).lower()


def socket_of(environment: Mapping[str, str]) -> Path | None:
    """Return the socket of an engine: that of DOCKER_HOST, else a default one of Docker or podman, else None.

    Raises:
        UsageError: If DOCKER_HOST names another machine.
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
    """A container engine that listens on a socket."""

    def __init__(self, path: Path) -> None:
        """Create a client without connecting.

        Raises:
            ImportError: If the package httpx is missing.
        """
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
        """Return whether the engine is podman."""
        parts = self._asked("GET", "/version").json().get("Components") or []
        return any("podman" in str(part.get("Name")).lower() for part in parts)

    def info(self) -> dict[str, Any]:
        """Return the engine's facts about itself and this machine."""
        return self._told("GET", "/info")

    def has_image(self, name: str) -> bool:
        """Return whether the engine has an image. It does not download one."""
        try:
            self._asked("GET", f"/images/{quote(name, safe='/:@')}/json")
        except EngineError as problem:
            if problem.status == 404:
                return False
            raise
        return True

    def create(self, name: str, wanted: Mapping[str, Any]) -> str:
        """Create a container without starting it. Return its ID."""
        return str(self._told("POST", "/containers/create", {"name": name}, wanted)["Id"])

    def attach(self, container: str) -> socket.socket:
        """Connect to a container's standard input and outputs. Call it before `start`, so that no output is missed.

        Returns:
            A non-blocking socket.
        """
        import httpx

        wanted = dict.fromkeys(("stream", "stdin", "stdout", "stderr"), "true")
        headers = {"Connection": "Upgrade", "Upgrade": "tcp"}
        try:
            with self._http.stream("POST", f"/containers/{container}/attach", params=wanted, headers=headers) as answer:
                _check(answer)
                opened: socket.socket = answer.extensions["network_stream"].get_extra_info("socket")
                taken = opened.dup()  # from here on it has raw bytes, not HTTP
        except httpx.HTTPError as problem:
            raise self._silent(problem) from None
        taken.setblocking(False)
        return taken

    def start(self, container: str) -> None:
        """Start a container."""
        self._asked("POST", f"/containers/{container}/start")

    def inspect(self, container: str) -> dict[str, Any]:
        """Return the state and configuration of a container."""
        return self._told("GET", f"/containers/{container}/json")

    def figures(self, container: str) -> dict[str, Any]:
        """Return the current resource usage of a container."""
        return self._told("GET", f"/containers/{container}/stats", {"stream": "false", "one-shot": "true"})

    def containers(self, label: str) -> list[dict[str, Any]]:
        """List the containers with a label, including stopped ones."""
        found = self._asked("GET", "/containers/json", {"all": "true", "filters": f'{{"label": ["{label}"]}}'}).json()
        return [*found]

    def remove(self, container: str) -> None:
        """Kill and remove a container, if it still exists."""
        try:
            self._asked("DELETE", f"/containers/{container}", {"force": "true", "v": "true"})
        except EngineError as problem:
            if not problem.is_gone and problem.status != 409:  # 409: its removal is in progress
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
    """Check the status of a response.

    Raises:
        EngineError: If it is an error, with the engine's message.
    """
    if answer.status_code < 400:
        return
    answer.read()
    try:
        words = str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        words = answer.text
    raise EngineError(" ".join(words.split())[:SAID_MOST] or f"HTTP {answer.status_code}", answer.status_code)
