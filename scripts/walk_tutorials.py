"""A walk through tutorials as they are printed: `python scripts/walk_tutorials.py DOCS`.

It writes the files that the pages of DOCS/tutorial print, runs their commands with the `cutpurse` of the PATH, and
compares what stands below a command with what the command says. Numbers may differ, except in digests. It imports
nothing of Cutpurse, so that it walks with an installed wheel, too.
"""

from __future__ import annotations

import csv
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

__all__ = ["PAGES", "NotAsPrinted", "Walk"]

PAGES: Final = ("first_bot.md", "first_league.md")
BLOCK: Final = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILES: Final = {"# my_bot.py": "my_bot.py", "owner,label": "class.csv"}  # by the beginning of the block
INSTALLING: Final = ("python3 -m venv", "pip install")
VARYING: Final = ("cutpurse ladder rankings",)  # only the heading is compared: ratings come up to half a minute later


class NotAsPrinted(Exception):
    """Reports the command of a page that does not do what is printed."""


class Walk:
    """A reader of one page, with an empty folder and a server of their own."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page, self.folder = page, folder
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("CUTPURSE_")}
        self.environment["CUTPURSE_ADDRESS"] = self.environment["CUTPURSE_SERVER"] = free_address()
        self.environment["HOME"] = self.environment["XDG_CACHE_HOME"] = str(folder)
        self.tokens: dict[str, str] = {}  # by how the page prints them
        self.servers: list[subprocess.Popen[bytes]] = []
        self.last_file = ""

    def run(self, leave_out: Sequence[str] = ()) -> int:
        """Do what the page says, but for commands that begin with `leave_out`; return the number of commands.

        Raises:
            NotAsPrinted: If something differs.
        """
        count = 0
        try:
            for block in BLOCK.findall(self.page.read_text(encoding="utf-8")):
                first, *_ = block.splitlines()
                for beginning, name in FILES.items():
                    if first.startswith(beginning):
                        (self.folder / name).write_text(block, encoding="utf-8")
                text, *commands = re.split(r"^\$ ", block, flags=re.MULTILINE)
                if text and self.last_file:  # what a command wrote
                    printed = text.splitlines()
                    self.compare(f"> {self.last_file}", [printed[0], printed[-1]], self.read(self.last_file))
                self.last_file = ""
                for command in commands:
                    line, *printed = command.splitlines()
                    if not line.startswith((*INSTALLING, *leave_out)):
                        self.obey(line, printed)
                        count += 1
        finally:
            for server in self.servers:
                end(server, signal.SIGTERM)
        return count

    def obey(self, command: str, printed: list[str]) -> None:
        """Run one command, and compare."""
        if export := re.fullmatch(r"export CUTPURSE_TOKEN=(\S+)", command):
            self.environment["CUTPURSE_TOKEN"] = self.tokens.get(export[1]) or self.token_of("ann")
        elif command.startswith("cutpurse serve"):
            command = re.sub(r"(?<=--web )\S+", free_address(), command)
            self.servers.append(self.begin(command, printed or ["bots dial in at ..."]))
        elif command.startswith("cutpurse bot run") and "--matches" not in command:
            if end(self.begin(command, printed), signal.SIGINT) != 0:
                raise NotAsPrinted(f"{self.page}: {command}: Ctrl-C ended it with an error")
        else:
            self.call(command, printed)

    def call(self, command: str, printed: list[str]) -> None:
        """Run a command that ends by itself."""
        if "other.py" in command:  # the page says how it differs
            (self.folder / "other.py").write_text(self.read("my_bot.py").replace(">= 3", ">= 4"), encoding="utf-8")
        environment = self.environment
        if command.startswith("cutpurse bot run greedy"):  # in Bob's terminal
            environment = environment | {"CUTPURSE_TOKEN": self.token_of("bob")}
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=environment,
            input="q\n",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode != (130 if "--human" in command else 0):  # it gets `q`
            raise NotAsPrinted(f"{self.page}: {command} ended with {done.returncode}:\n{done.stdout}")
        self.compare(command, printed[:1] if command.startswith(VARYING) else printed, done.stdout)
        if token := re.search(r"^cutp_\S+", "\n".join(printed), re.MULTILINE):
            self.tokens[token[0]] = re.findall(r"^cutp_\S+", done.stdout, re.MULTILINE)[0]
        if file := re.search(r"> (\S+)$", command):
            self.last_file = file[1]

    def begin(self, command: str, printed: list[str]) -> subprocess.Popen[bytes]:
        """Start a command that goes on, and wait until it has said what is printed."""
        output = self.folder / f"said-{len(list(self.folder.glob('said-*')))}"
        with output.open("wb") as file:
            process = subprocess.Popen(
                command.split(),
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        while missing := missing_lines(printed, lines := self.read(output.name)):
            if process.poll() is not None:
                raise NotAsPrinted(f"{self.page}: {command} ended, and has not said {missing[0]!r}:\n{lines}")
            time.sleep(0.1)
        return process

    def compare(self, command: str, printed: list[str], output: str) -> None:
        """Raise NotAsPrinted if a printed line is not in the output."""
        if missing := missing_lines(printed, output):
            raise NotAsPrinted(f"{self.page}: {command} does not say {missing[0]!r}:\n{output}")

    def token_of(self, owner: str) -> str:
        """Return the token of an owner of the class."""
        return {row["owner"]: row["token"] for row in csv.DictReader(self.read("tokens.csv").splitlines())}[owner]

    def read(self, name: str) -> str:
        """Read a file of the folder."""
        return (self.folder / name).read_text(encoding="utf-8")


def end(process: subprocess.Popen[bytes], number: signal.Signals) -> int:
    """Signal a process, and return its exit code."""
    process.send_signal(number)
    return process.wait()


def free_address() -> str:
    """Return an address of this machine with a port that no program uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def missing_lines(printed: Sequence[str], output: str) -> list[str]:
    """Return the printed lines that the output has nowhere."""
    lines = [line.strip() for line in output.splitlines()]
    return [text for text in printed if not any(re.fullmatch(pattern(text), line) for line in lines)]


def pattern(text: str) -> str:
    """Return a pattern for a printed line: numbers, IDs and `...` may be anything, digests are as printed."""
    if text.startswith("digest "):
        return re.escape(text)
    text = re.sub(r"(?<=match )[0-9a-f]{8}|(?<=token )\w{8}|(?<=cutp_)\w+", "0", text.strip())
    pieces = re.split(r"(\.{3}|\d(?:[\d,:]|\.(?!\.))*|\s+)", text)
    return "".join(
        ".*"
        if piece == "..."
        else r"\s+"
        if piece.isspace()
        else r"\w[\w,.:]*"
        if piece[:1].isdigit()
        else re.escape(piece)
        for piece in pieces
    )


def main() -> None:
    """Walk through all pages of a folder with documents."""
    for name in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            count = Walk(Path(sys.argv[1]) / "tutorial" / name, Path(folder)).run()
        print(f"{name}: {count} commands do what is printed", flush=True)


if __name__ == "__main__":
    main()
