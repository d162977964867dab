"""Places in processes of their own, for the benchmarks: they dial in over TLS, and can be killed and started again."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from pathlib import Path

import trustme

from cutpurse.server.hosting.certificate import Certificate
from cutpurse.server.logs import logger

__all__ = ["PlaceProcess", "certificate_of", "issue_certificate"]


def issue_certificate(folder: Path) -> None:
    """Write ca.pem, cert.pem and key.pem for 127.0.0.1."""
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    issued.private_key_pem.write_to_path(str(folder / "key.pem"))
    (folder / "cert.pem").write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))


def certificate_of(folder: Path) -> Certificate:
    """Return the certificate in a folder."""
    return Certificate(folder / "cert.pem", folder / "key.pem", logger(io.StringIO()))


class PlaceProcess:
    """A process of `cutpurse place`."""

    def __init__(self, folder: Path, address: str, runner: str, name: str, cores: float) -> None:
        """Prepare a place.

        Args:
            folder: Folder with the certificate; the place has a folder of its own in it.
            address: Address of the server.
            runner: process, bubblewrap or container.
            name: Name of the place.
            cores: Cores for bots.
        """
        words = ["place", "--server", address, "--runner", runner, "--cores", f"{cores:g}", "--name", name]
        self._command = [sys.executable, "-m", "cutpurse.cli", *words, "--folder", str(folder / name)]
        ours = {name: value for name, value in os.environ.items() if not name.startswith("CUTPURSE_")}
        self._environment = {**ours, "HOME": str(folder), "CUTPURSE_CA": str(folder / "ca.pem")}
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the place."""
        self._process = subprocess.Popen(self._command, env=self._environment, stderr=subprocess.DEVNULL)

    def kill(self) -> None:
        """Kill the place with SIGKILL, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """End the place at once, so that it waits for its bots' ends, if it runs."""
        if self._process is not None:
            self._process.terminate()
            self._process.send_signal(signal.SIGINT)  # the second signal ends it at once
            self._process.wait()
            self._process = None
