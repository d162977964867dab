"""The parts of a compose file: their commands, settings and health checks."""

from __future__ import annotations

from typing import Any

import yaml  # type: ignore[import-untyped]  # its stubs are another package

from tests.roots import CHECKOUT

__all__ = ["IMAGE_HEALTH", "parts"]

# What `docker/server.Dockerfile` runs in a part that names no check of its own.
IMAGE_HEALTH = "http://127.0.0.1:9100/healthz"


def parts(file: str) -> dict[str, dict[str, Any]]:
    """Return the services of a file in `docker/`, with all anchors and merges resolved."""
    read: dict[str, Any] = yaml.safe_load((CHECKOUT / "docker" / file).read_text(encoding="utf-8"))
    services: dict[str, dict[str, Any]] = read["services"]
    return services
