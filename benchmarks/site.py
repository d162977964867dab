"""Measures how much processor time a browser needs to show the first decision of a match on a site without a server.

    $ npm ci --prefix server/cutpurse/page/site --ignore-scripts
    $ python -m benchmarks.site --game greed --visits 3

The first visit loads all files, later ones have them from the browser's cache. All processes of Chromium count.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.page_load.processes import cpu_s
from cutpurse.page.site.build import build_site
from cutpurse.process.child_processes import descendants
from tests.page.browser import PATIENCE_MS, chromium


def main() -> None:
    """Build the site, serve it, visit a table, and print the seconds of each visit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="greed")
    parser.add_argument("--visits", type=int, default=3)
    chosen = parser.parse_args()
    with TemporaryDirectory() as folder:
        size = build_site(Path(folder) / "site")
        print(f"{size.files} files, {size.bytes / 1e6:.1f} MB, {size.engine_bytes / 1e6:.1f} MB before the first match")
        command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
            try:
                assert server.stdout is not None
                port = server.stdout.readline().split(" port ")[1].split()[0]
                visit(
                    f"http://127.0.0.1:{port}/site/table/{chosen.game}.html?opponent=greedy&opponent=random",
                    chosen.visits,
                )
            finally:
                server.terminate()


def visit(table: str, visits: int) -> None:
    """Open a table some times in one browser, and print the seconds until the person is asked."""
    with chromium() as browser:
        context = browser.new_context()
        context.set_default_timeout(PATIENCE_MS)
        for number in range(1, visits + 1):
            before = browser_s()
            page = context.new_page()
            page.goto(table)
            page.wait_for_selector("html[data-decision]")
            print(f"visit {number}: {browser_s() - before:.1f} s of processor time, Chromium {browser.version}")
            page.close()


def browser_s() -> float:
    """Return the processor time of all processes of the browser, the server left out."""
    seconds = 0.0
    for pid in descendants(os.getpid()):
        with suppress(OSError):  # one that ends meanwhile
            if "chrom" in Path(f"/proc/{pid}/exe").readlink().name:
                seconds += cpu_s(pid)
    return seconds


if __name__ == "__main__":
    main()
