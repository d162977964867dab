"""The server's certificate: two files, read again when they change, so that a renewal needs no restart.

gRPC asks for it at each handshake, on a thread of its own. If the files do not fit together, for example while only one
of them is new, the previous certificate stays in use.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, cast

import grpc

from cutpurse.engine.errors import UsageError
from cutpurse.server.logs import Logger

__all__ = ["Certificate"]

_Stamp = tuple[tuple[int, int, int], ...]
_NEVER: Final = "never"  # prevents a prompt for a passphrase


class Certificate:
    """A certificate chain and its private key, as PEM files."""

    def __init__(self, chain: Path, key: Path, log: Logger) -> None:
        """Read certificate and key.

        Raises:
            UsageError: If they cannot be read or do not fit together.
        """
        self._chain = chain
        self._key = key
        self._log = log
        self._lock = threading.Lock()
        self._seen = self._stamp()  # state of the files at the latest check, good or not
        try:
            self._configuration = self._read()
        except (OSError, ValueError) as problem:
            raise UsageError(f"no certificate in {chain} with the key in {key}: {_said(problem)}") from None

    def credentials(self) -> grpc.ServerCredentials:
        """Return the credentials that gRPC listens with."""
        fetch = cast("Callable[[], grpc.ServerCertificateConfiguration]", self._latest)  # None means no change
        return grpc.dynamic_ssl_server_credentials(self._configuration, fetch)

    def _latest(self) -> grpc.ServerCertificateConfiguration | None:
        """Return the certificate if it has changed. gRPC calls this at each handshake, and it must not raise."""
        with self._lock:
            stamp = self._stamp()
            if stamp == self._seen:
                return None
            self._seen = stamp
            try:
                self._configuration = self._read()
            except (OSError, ValueError) as problem:
                self._log.warning("certificate not changed", file=str(self._chain), text=_said(problem))
                return None
        self._log.info("certificate changed", file=str(self._chain))
        return self._configuration

    def _stamp(self) -> _Stamp | None:
        """Return values that change with the files; None while one is missing."""
        try:
            found = [path.stat() for path in (self._chain, self._key)]
        except OSError:
            return None
        return tuple((one.st_ino, one.st_size, one.st_mtime_ns) for one in found)

    def _read(self) -> grpc.ServerCertificateConfiguration:
        # gRPC itself would accept any content, and then refuse every connection.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self._chain, self._key, password=_NEVER)
        pair = (self._key.read_bytes(), self._chain.read_bytes())
        return grpc.ssl_server_certificate_configuration([pair])


def _said(problem: OSError | ValueError) -> str:
    """Describe the error without quoting the files."""
    if isinstance(problem, ssl.SSLError):
        reason = (problem.reason or "neither is a PEM file of that kind").replace("_", " ").lower()
        return f"{reason}; they must be PEM files, and the key that of the certificate, without a passphrase"
    return problem.strerror or type(problem).__name__ if isinstance(problem, OSError) else type(problem).__name__
