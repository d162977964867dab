"""The results as tables."""

from __future__ import annotations

from collections.abc import Mapping

from benchmarks.boards.initial_parameters import Fit
from benchmarks.boards.players import in_words
from benchmarks.boards.variances import Estimate, Savings
from benchmarks.report import table

__all__ = ["lines"]


def lines(found: Mapping[tuple[str, str], Savings], fits: Mapping[str, Fit]) -> list[str]:
    """Format tables: savings by boards, savings by strength for each group of bots, and fitted parameters."""
    shown: list[str] = []
    if found:
        shown += table(
            ["game, company", "matches", "luck of a match", "cards", "rotation", "duplicate", "+-5 % needs"],
            [
                (
                    f"{game}, {company}",
                    f"{one.matches:,}",
                    f"{one.sd:.3f}",
                    _shown(one.cards),
                    _shown(one.rotation),
                    _shown(one.duplicate),
                    f"{max(one.cards.matches, one.rotation.matches, one.duplicate.matches):,}",
                )
                for (game, company), one in found.items()
            ],
        )
    for company in dict.fromkeys(company for _, company in found):
        rows = {game: one for (game, of), one in found.items() if of == company}
        bots = list(next(iter(rows.values())).mean)
        shown += [
            "",
            *table(
                [f"{company}: mean points, rotation", *(in_words(bot) for bot in bots)],
                [
                    (game, *(f"{one.mean[bot]:.2f}, {_shown(one.by_strength[bot])}" for bot in bots))
                    for game, one in rows.items()
                ],
            ),
        ]
    if fits:
        shown += [
            "",
            *table(
                ["fitted", "matches", "beta", "tau", "ties", "log-loss", "library", "and these ties", "as begun"],
                [
                    (
                        game,
                        f"{one.matches:,}",
                        f"{one.found.beta:.2f}",
                        f"{one.found.tau:.4f}",
                        f"{one.found.draw_probability:.4f}",
                        *(f"{loss:.4f}" for loss in (one.fitted, one.library, one.library_with_ties, one.as_begun)),
                    )
                    for game, one in fits.items()
                ],
            ),
        ]
    return shown


def _shown(one: Estimate) -> str:
    return f"{one.value:.2f} ({one.low:.2f} - {one.high:.2f})"
