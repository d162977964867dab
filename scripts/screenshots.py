"""The script that takes the screenshots of the web page for the documentation.

Usage: python scripts/screenshots.py [FOLDER]     (default: docs/pictures; needs chromium and Playwright)

The ladders are small ones of `cutpurse demo`. Pictures are small too, with 256 colours, because each stays in the
repository's history permanently.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
import urllib.request
import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CHECKOUT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT))  # for the browser of the tests

from playwright.sync_api import Browser  # noqa: E402

from tests.page.browser import chromium  # noqa: E402
from tests.page.leagues import live_league, page_process  # noqa: E402

MOST_BYTES: Final = 150_000  # maximum size of a picture
MATCHES: Final = "40"  # per game


@dataclass(frozen=True)
class Picture:
    """A picture to take.

    In `path`, MATCH stands for a match of the game. If `is_moving`, the page must show a live match first. `height` is
    that of the window, in px.
    """

    name: str
    path: str
    game: str = "greed"
    dark: bool = False
    phone: bool = False
    is_moving: bool = False
    height: int = 800


PICTURES: Final = (
    Picture("home", "/"),
    Picture("ladder", "/ladders/greed"),
    Picture("bot", "/bots/local/greedy?ladder=greed", dark=True),
    Picture("match", "/matches/MATCH"),
    Picture("replay", "/matches/MATCH/replay?at=40", height=900),
    Picture("scores", "/matches/MATCH", "steal_and_plunder"),
    Picture("replay-dark", "/matches/MATCH/replay?at=30", "steal_and_plunder", dark=True),
    Picture("phone", "/matches/MATCH/replay?at=24", "szmal", dark=True, phone=True),
)


LIVE: Final = Picture("live", "/live?ladder=stolen_treasure", is_moving=True)


def main() -> int:
    """Play the matches and save the pictures; return the exit code."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else CHECKOUT / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as workshop, chromium() as browser:
        database = _played(Path(workshop))
        with page_process(database) as site:
            for picture in PICTURES:
                _take(browser, site, picture, folder)
        with live_league(Path(workshop), "--watch-delay", "0") as league:
            _take(browser, league.page, LIVE, folder)
    return 0


def _played(workshop: Path) -> Path:
    """Create the database of a demo, with estimates from all its results."""
    database = workshop / "demo" / "demo.db"
    for words in (
        ("demo", "--matches", MATCHES, "--folder", str(database.parent)),
        ("db", "estimate", str(database)),
    ):
        command = [sys.executable, "-m", "cutpurse.cli", *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return database


def _take(browser: Browser, site: str, picture: Picture, folder: Path) -> None:
    """Save one picture.  Fails if it is too large."""
    path = picture.path
    if "MATCH" in path:
        with urllib.request.urlopen(f"{site}/api/v1/matches?ladder={picture.game}&limit=5") as answer:
            matches: list[dict[str, Any]] = json.load(answer)["matches"]
        path = path.replace("MATCH", next(str(match["match"]) for match in matches if match["rated_number"]))
    context = browser.new_context(
        color_scheme="dark" if picture.dark else "light",
        viewport={"width": 390, "height": 780} if picture.phone else {"width": 1280, "height": picture.height},
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(site + path, timeout=90_000)
    if picture.is_moving:
        page.wait_for_selector("#moment [data-key]", timeout=60_000)
        turn = "Number((document.querySelector('#moment').innerText.match(/turn\\s+(\\d+)/) || [0, 0])[1])"
        page.wait_for_function(f"() => {turn} > 12", timeout=60_000)
    loaded = "() => [...document.images].every((one) => one.complete || one.getBoundingClientRect().top > innerHeight)"
    page.wait_for_function(loaded, timeout=60_000)  # tables that are drawn when they are asked for
    file = folder / f"{picture.name}.png"
    seen = page.screenshot()
    context.close()
    file.write_bytes(_small(browser, seen))
    size = file.stat().st_size
    if size > MOST_BYTES:
        raise SystemExit(f"{file} has {size:,} bytes; a picture may have {MOST_BYTES:,}")
    print(f"{file}: {size:,} bytes")


def _small(browser: Browser, png: bytes) -> bytes:
    """Return the picture reduced to 256 colours, which a browser computes."""
    page = browser.new_page()
    image = page.evaluate(_COUNT, b64encode(png).decode())
    page.close()
    width, height = image["width"], image["height"]
    pixels = b64decode(image["pixels"])
    rows = b"".join(b"\0" + pixels[at : at + width] for at in range(0, width * height, width))
    colours = b"".join(struct.pack("<I", colour)[:3] for colour in image["palette"])  # red comes first in memory
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"PLTE", colours), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


_COUNT: Final = """async (picture) => {
  const blob = await (await fetch("data:image/png;base64," + picture)).blob();
  const image = await createImageBitmap(blob);
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  const seen = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
  const counts = new Map();
  for (const one of seen) counts.set(one, (counts.get(one) || 0) + 1);
  const palette = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([one]) => one);
  const parts = (one) => [one & 255, (one >> 8) & 255, (one >> 16) & 255];
  const shown = palette.map(parts);
  const nearest = new Map(palette.map((one, at) => [one, at]));
  for (const one of counts.keys()) {
    if (nearest.has(one)) continue;
    const [red, green, blue] = parts(one);
    let best = 0, least = Infinity;
    shown.forEach(([r, g, b], at) => {
      const far = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
      if (far < least) [best, least] = [at, far];
    });
    nearest.set(one, best);
  }
  let pixels = "";
  for (const one of seen) pixels += String.fromCharCode(nearest.get(one));
  return {width: image.width, height: image.height, palette, pixels: btoa(pixels)};
}"""


if __name__ == "__main__":
    sys.exit(main())
