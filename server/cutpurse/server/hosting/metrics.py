"""The server's metrics in the Prometheus format.

No label contains anything that a bot chose, and all label values are known beforehand. So the number of series is
bounded, and each exists from the start. Nothing is computed while bots play: the values are plain numbers (`counts.py`,
`stall_monitor.py`), collected on request.
"""

from __future__ import annotations

import platform
from asyncio import all_tasks
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Final

from prometheus_client import CollectorRegistry, GCCollector, Metric, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

from cutpurse.engine.clocks import OutcomeKind
from cutpurse.engine.match import EndCause
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.counts import Histogram
from cutpurse.server.errors import REASONS
from cutpurse.server.hosting.open_arena import OpenArena
from cutpurse.server.hosting.part import Figure
from cutpurse.wire.version import VERSION

__all__ = ["TEXT_FORMAT", "Metrics"]

TEXT_FORMAT: Final = "text/plain; version=0.0.4; charset=utf-8"

_REFUSED: Final = [kind.value for kind in OutcomeKind if kind is not OutcomeKind.ACCEPTED]
_FAULTS: Final = [cause.value for cause in EndCause if cause is not EndCause.NORMAL and not cause.is_void]
_ENDED: Final = [*REASONS, "left", "lost"]


class Metrics(Collector):
    """The metrics of an arena, as of the latest `take`, and the current ones of its process."""

    def __init__(self, opened: OpenArena) -> None:
        self._opened = opened
        self._taken: list[Metric] = []
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def take(self) -> None:
        """Read the arena's metrics; call this on its event loop's thread."""
        self._taken = [*_families(self._opened)]

    def text(self) -> bytes:
        """Return all metrics in `TEXT_FORMAT`; thread-safe."""
        return generate_latest(self._registry)

    def collect(self) -> Iterable[Metric]:
        """Collect the metrics for a registry."""
        yield from self._taken
        yield _gauge(
            "loop_silent_seconds",
            "Time since the event loop's last activity",
            self._opened.arena.seconds_since_heartbeat,
        )
        yield _info()


def _families(opened: OpenArena) -> Iterator[Metric]:
    """Yield the metrics that must be read on the event loop."""
    arena, lobby, counts = opened.arena, opened.lobby, opened.arena.counts
    ladders = [ladder for names in lobby.ladders(HOUSE).values() for ladder in names]  # private ones too

    yield _counts("matches_started", "Matches dealt", "ladder", ladders, counts.matches_started)
    ended = CounterMetricFamily("cutpurse_matches_ended", "Matches ended, stored or void", labels=("ladder", "end"))
    for ladder in ladders:
        ended.add_metric((ladder, "normal"), counts.matches_finished[ladder])
        ended.add_metric((ladder, "void"), counts.matches_void[ladder])
    yield ended
    states = {"playing": lobby.tables - counts.storing, "storing": counts.storing}
    yield _gauges("open_matches", "Matches being played, or over and not stored yet", "state", states)

    yield _count("answers_accepted", "Accepted answers and give-ups", counts.accepted)
    yield _counts("answers_refused", "Refused answers and give-ups", "reason", _REFUSED, counts.refused)
    text = "Decisions answered with the safe option, counted after the match"
    yield _counts("faults", text, "cause", _FAULTS, counts.faults)
    text = "Time from question to answer, network included, counted after the match"
    yield _histogram("thinking_seconds", text, counts.thinking)

    yield _gauge("watch_streams", "Open calls that watch matches", opened.watching.watchers)

    states = {"connected": counts.connected, "lost": len(arena.sessions) - counts.connected}
    yield _gauges("sessions", "Sessions with a stream, and lost ones that may resume", "state", states)
    hows = {"new": counts.sessions_opened, "resumed": counts.sessions_resumed}
    yield _counts("streams_opened", "Accepted streams", "how", list(hows), hows)
    text = "Refused streams"
    yield _counts("streams_refused", text, "reason", REASONS, counts.streams_refused)
    text = "Ended streams; left: the bot was done; lost: without a reason"
    yield _counts("streams_ended", text, "reason", _ENDED, counts.streams_ended)
    yield _gauge("streams", "Streams that gRPC has not finished, including stalled ones", arena.streams)
    ways = {"in": counts.envelopes_in, "out": counts.envelopes_out}
    yield _counts("envelopes", "Messages on all streams", "direction", list(ways), ways)
    text = "Problems reported to bots; BAD_MESSAGE is a strike"
    yield _counts("problems", text, "reason", REASONS, counts.problems)
    ready, refusals = arena.sessions.waiting
    yield _gauge("pending_tables", "Matches with unsent updates for a bot", ready)
    yield _gauge("unsent_refusals", "Unsent refusals", refusals)

    yield _gauge("store_queue", "Results waiting to be stored", opened.store.waiting)
    text = "Void results not stored yet; no match starts while there are any"
    yield _gauge("pending_void_results", text, lobby.unstored)
    yield _count("store_failures", "Failed result writes", counts.not_stored)
    yield _count("incidents", "Server errors with an ID in the log", counts.incidents)

    yield _gauge("ladders", "Ladders that are played here", len(lobby.own_ladders))
    for part in opened.parts.values():
        yield from map(_of_part, part.figures())
    for kind in opened.off:
        yield from map(_of_part, kind.figures_when_off())

    pulse = arena.pulse
    yield _histogram("loop_lag_seconds", "Lateness of the event loop's timer, measured 20 times a second", pulse.lag)
    yield _count("loop_stalls", "Stalls of the event loop", pulse.stalls)
    text = "Total time of stalls, credited to every clock"
    yield _count("loop_stalled_seconds", text, pulse.stalled_s)
    yield _gauge("tasks", "Open tasks of the event loop", len(all_tasks()))


def _of_part(figure: Figure) -> Metric:
    if not isinstance(figure.value, Mapping):
        return (_count if figure.only_grows else _gauge)(figure.name, figure.text, figure.value)
    if figure.only_grows:
        return _counts(figure.name, figure.text, figure.label, list(figure.value), figure.value)
    return _gauges(figure.name, figure.text, figure.label, figure.value)


def _info() -> Metric:
    family = GaugeMetricFamily("cutpurse_build_info", "Always 1", labels=("version", "python"))
    family.add_metric((VERSION, platform.python_version()), 1)
    return family


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"cutpurse_{name}", text, value=value)


def _gauges(name: str, text: str, label: str, values: Mapping[str, float]) -> Metric:
    family = GaugeMetricFamily(f"cutpurse_{name}", text, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family


def _count(name: str, text: str, value: float) -> Metric:
    return CounterMetricFamily(f"cutpurse_{name}", text, value=value)


def _counts(name: str, text: str, label: str, keys: Iterable[str], values: Mapping[str, float]) -> Metric:
    family = CounterMetricFamily(f"cutpurse_{name}", text, labels=(label,))
    for key in keys:
        family.add_metric((key,), values.get(key, 0))
    return family


def _histogram(name: str, text: str, tally: Histogram) -> Metric:
    bounds = [*(f"{bound:g}" for bound in tally.bounds), "+Inf"]
    buckets = list(zip(bounds, accumulate(tally.counts), strict=True))
    return HistogramMetricFamily(f"cutpurse_{name}", text, buckets=buckets, sum_value=tally.total)
