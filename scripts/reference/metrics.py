"""The page of metrics, made from what a real arena reports."""

from __future__ import annotations

import asyncio
import io
import tempfile
from pathlib import Path
from typing import Final

from prometheus_client import Metric

from cutpurse.server.hosting.metrics import Metrics
from cutpurse.server.hosting.open_arena import open_arena
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.installed_parts import installed_parts
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from scripts.reference.page_parts import code, sentence, table

__all__ = ["families", "page"]

MANY: Final = 8  # values of a label, from which on they are not listed in the table
_OPEN: Final = {"ladder", "version", "python"}  # labels whose values differ from server to server
_PAGE: Final = """# Metrics

Look up a metric of `/metrics`, which `cutpurse serve --metrics HOST:PORT` serves for Prometheus.

{metrics}
Every series exists from the start. No label is chosen by a bot, but names of private ladders appear. The Python
client of Prometheus adds `process_*` and `python_gc_*`.

{labels}"""


def page() -> str:
    """Return the text of the page."""
    all_families = families()
    many: dict[str, list[str]] = {}
    for family in all_families:
        for label, values in _labels(family).items():
            if len(values) > MANY and label not in _OPEN:
                many[label] = list(dict.fromkeys([*many.get(label, ()), *values]))
    rows = [
        (code(_name(family)), family.type, _labels_text(family), sentence(family.documentation))
        for family in all_families
    ]
    return _PAGE.format(
        metrics=table(("metric", "type", "labels", "meaning"), rows),
        labels="\n".join(
            f"Where the table lists no values of `{label}`, they are {', '.join(map(code, values))}.\n"
            for label, values in many.items()
        ),
    )


def families() -> list[Metric]:
    """Return the metrics of an arena that has just been opened, sorted by name."""
    with tempfile.TemporaryDirectory() as folder:

        async def taken() -> list[Metric]:
            log = logger(io.StringIO(), "error")
            database, ladders = Path(folder) / "league.db", [Ladder("greed", "greed", 4)]
            parts = [PartWithSettings(kind, None) for kind in installed_parts().kinds]
            with open_arena(f"unix:{folder}/socket", database, ladders, log, parts=parts) as opened:
                await opened.arena.start()
                metrics = Metrics(opened)
                metrics.take()
                await opened.arena.stop()
                return list(metrics.collect())

        return sorted(asyncio.run(taken()), key=lambda family: family.name)


def _name(family: Metric) -> str:
    return f"{family.name}_total" if family.type == "counter" else family.name


def _labels(family: Metric) -> dict[str, list[str]]:
    """Return the values of each label of a metric, except the bounds of histograms."""
    by_label: dict[str, list[str]] = {}
    for sample in family.samples:
        for label, value in sample.labels.items():
            if label != "le" and value not in by_label.setdefault(label, []):
                by_label[label].append(value)
    return by_label


def _labels_text(family: Metric) -> str:
    texts = []
    for label, values in _labels(family).items():
        listed = "" if label in _OPEN or len(values) > MANY else f": {', '.join(values)}"
        texts.append(f"{code(label)}{listed}")
    return "; ".join(texts)
