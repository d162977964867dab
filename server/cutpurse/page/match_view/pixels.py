"""The pixels of our pictures: a PNG of one SVG, and an animated GIF of several, the same on every machine.

The font lies beside this module, and fonts of the system are not used. resvg draws without the interpreter giving way
to other threads, about 50 ms for a picture, so the page runs this module as a process: a request as JSON on stdin, the
file on stdout. This module knows no match and no page.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from cutpurse.wire.errors import needs

__all__ = ["GIF", "PNG", "PNG_ZOOM", "has_pixels", "request", "to_gif", "to_png"]

PNG: Final = "png"
GIF: Final = "gif"
PNG_ZOOM: Final = 2.0  # previews of links are 1,200 pixels wide
GIF_ZOOM: Final = 1.5
FRAME_MS: Final = 1_200  # for which a moment is shown
LAST_MS: Final = 3_600  # and the last one
COLOURS: Final = 96  # of a frame; the cards and felts are flat
NICENESS: Final = 10  # of the process: pages and bots go first
_FONT: Final = "Roboto"
_FONTS: Final = Path(__file__).parents[1] / "fonts"


def has_pixels() -> bool:
    """Return whether the libraries of the extra `pictures` are installed."""
    return find_spec("resvg_py") is not None and find_spec("PIL") is not None


def to_png(svg: str, zoom: float = PNG_ZOOM) -> bytes:
    """Draw an SVG as PNG.

    Args:
        svg: The picture.
        zoom: Pixels for each of its units.

    Raises:
        ExtraMissing: If the extra `pictures` is not installed.
    """
    with needs("pictures"):
        from resvg_py import svg_to_bytes
    return svg_to_bytes(
        svg_string=svg,
        zoom=zoom,
        skip_system_fonts=True,
        font_files=[str(path) for path in sorted(_FONTS.glob("*.ttf"))],
        font_family=_FONT,
        sans_serif_family=_FONT,
    )


def to_gif(svgs: Iterable[str]) -> bytes:
    """Draw SVGs of one size as an animated GIF that repeats.

    Raises:
        ExtraMissing: If the extra `pictures` is not installed.
    """
    with needs("pictures"):
        from PIL import Image
    frames = []
    for svg in svgs:
        with Image.open(io.BytesIO(to_png(svg, GIF_ZOOM))) as drawn:
            # The fast octree takes a quarter of the time of the median cut, and flat colours look the same.
            method, dither = Image.Quantize.FASTOCTREE, Image.Dither.NONE
            frames.append(drawn.convert("RGB").quantize(COLOURS, method=method, dither=dither))
    made = io.BytesIO()
    times = [FRAME_MS] * (len(frames) - 1) + [LAST_MS]
    frames[0].save(made, "GIF", save_all=True, append_images=frames[1:], duration=times, loop=0)
    return made.getvalue()


# -- as a process
def request(kind: str, svgs: Sequence[str]) -> bytes:
    """Return the request to the process: for a PNG of the only SVG, or a GIF of all."""
    return json.dumps({"kind": kind, "svgs": list(svgs)}).encode()


def main() -> None:
    """Answer one request."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    asked = json.load(sys.stdin)
    svgs: list[str] = asked["svgs"]
    sys.stdout.buffer.write(to_gif(svgs) if asked["kind"] == GIF else to_png(svgs[0]))


if __name__ == "__main__":
    main()
