"""The arena's figures as tables.  This module knows no clock, process or file."""

from collections.abc import Sequence

from benchmarks.arena.summary import BARE, IN_TURN, Aim, Crowd, RateRow, Round, crowd_aims, middle, rate_aims
from benchmarks.report import table

__all__ = ["crowd_lines", "rate_lines"]


def rate_lines(rounds: Sequence[Round], rows: Sequence[RateRow]) -> list[str]:
    """Format the rates of four bots, and the ratios."""
    head = (
        *("Greed, four bots, tables each", "decisions/s", "p50 ms", "p99 ms"),
        *("server CPU us", "bots CPU us", "gathered", "elsewhere"),
    )
    body = [_rate(rounds, name) for name in (BARE, IN_TURN, *(row.name for row in rows))]
    return [*table(head, body), "", *_ratios(rate_aims(rounds, rows))]


def _rate(rounds: Sequence[Round], name: str) -> tuple[str, ...]:
    return (
        name,
        f"{middle(rounds, name, lambda each: each.rate):,.0f}",
        f"{middle(rounds, name, lambda each: each.p50_ms):.2f}",
        f"{middle(rounds, name, lambda each: each.p99_ms):.2f}",
        f"{middle(rounds, name, lambda each: each.server_us):.1f}",
        f"{middle(rounds, name, lambda each: each.bots_us):.1f}",
        f"{middle(rounds, name, lambda each: each.gathered):.1f}",
        _share([each[name].elsewhere for each in rounds]),
    )


def _share(elsewhere: Sequence[float | None]) -> str:
    """Format the highest share of all rounds."""
    shares = [share for share in elsewhere if share is not None]
    return f"{100 * max(shares):.0f} %" if shares else "-"


def _ratios(aims: Sequence[Aim]) -> list[str]:
    return table(
        ["ratio of decisions", "a second", "a CPU second", "target", ""],
        [
            (
                *(aim.what, _or_dash(aim.value), _or_dash(aim.by_cpu)),
                "-" if aim.target is None else f">= {aim.target:.1f}",
                aim.verdict,
            )
            for aim in aims
        ],
    )


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _aims(what: str, aims: Sequence[Aim]) -> list[str]:
    return table(
        [what, "measured", "target", ""],
        [(aim.what, f"{aim.value:.1f} {aim.unit}", f"<= {aim.target:.1f} {aim.unit}", aim.verdict) for aim in aims],
    )


def crowd_lines(crowd: Crowd) -> list[str]:
    """Format the figures of many bots."""
    rows = [
        (name, f"{rate:,.0f}", *(f"{waits.ms(percent):.2f}" for percent in (50, 99, 99.9)), f"{100 * load:.0f} %")
        for name, rate, waits, load in (
            ("bare messages", crowd.bare_decisions_a_second, crowd.bare, crowd.bare_load),
            ("arena", crowd.decisions_a_second, crowd.arena, crowd.server_load),
        )
    ]
    storm = crowd.storm
    shares = [
        f"{percent} % after {'-' if (at := storm.share_back(percent)) is None else f'{at:.2f} s'}"
        for percent in (50, 99, 100)
    ]
    remarks = [
        f"connects a second: {crowd.connects_a_second:,.0f}, {crowd.server_cpu_ms_a_connect:.2f} server CPU ms each",
        f"the server was killed, and listened again after {storm.away_s:.2f} s",
        f"of the bots were welcomed again since then: {', '.join(shares)}",
    ]
    if storm.gave_up:
        remarks.append(f"{storm.gave_up} bots were refused for good")
    if crowd.faults:
        remarks.append(f"{crowd.faults} decisions were faults")
    if crowd.arena.odd or crowd.bare.odd:
        remarks.append(f"moments that did not fit together: {crowd.arena.odd}, and {crowd.bare.odd} of bare messages")
    head = (f"{crowd.bots:,} bots, a decision a second", "decisions/s", "p50 ms", "p99 ms", "p99.9 ms", "server's core")
    return [*table(head, rows), "", *remarks, "", *_aims(f"{crowd.bots:,} bots", crowd_aims(crowd))]
