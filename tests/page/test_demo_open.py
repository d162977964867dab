"""`cutpurse demo --open`: when all is played, server and page stay until they are told to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.looking import until
from tests.page.test_serving import is_gone, ladder_names, page_address


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)])
def test_the_page_stays_open_in_a_browser_and_ends_in_order(number: signal.Signals, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {shown}.new && mv {shown}.new {shown}\n', encoding="utf-8")
    browser.chmod(0o755)
    words = ("demo", "--open", "--matches", "1", "--folder", str(tmp_path / "run"))
    with subprocess.Popen(
        [sys.executable, "-m", "cutpurse.cli", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "DISPLAY": ":0", "BROWSER": str(browser)},
    ) as process:
        assert process.stderr is not None
        said = ""
        while "stay open until Ctrl-C" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        address = page_address(said)
        assert ladder_names(address) == {"bag_o_loot", "greed", "steal_and_plunder", "stolen_treasure", "szmal"}
        assert httpx.get(f"{address}ladders/greed", timeout=240).text.count('class="badge here"') >= 4
        until(shown.exists, "a browser is opened")
        assert shown.read_text(encoding="utf-8").strip() == address
        process.send_signal(number)
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        assert "Greed: 1 matches" in out
        assert is_gone(address)
