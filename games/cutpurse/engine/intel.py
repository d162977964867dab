"""What viewers who may not see a zone have learned of its cards: a journal, and what it comes to.

An entry (face, certain, maybe) stands for a card that somebody has learned of: the viewers who know it to lie there,
and those for whom it may have left unseen. Far more cards move than anybody asks about, so what happens is only noted,
and worked off when somebody looks. Entries in a row that are known alike stand together as a run, so a pile that is
passed on is one thing to know and not twelve. This module knows no zone and no rules.
"""

from __future__ import annotations

from itertools import groupby

__all__ = ["Entry", "Note", "Run", "entries_of", "runs_of", "work_off"]

Entry = tuple[int, int, int]  # a face, who knows it to lie here, for whom it may lie here
Run = tuple[tuple[int, ...], int, int]  # the faces of entries, who knows them to lie here, for whom they may
Note = (
    tuple[int, int]  # a card has left: its face, who saw which it was
    | tuple[int]  # these viewers see the cards themselves, or know nothing any more
    | tuple[int, int, int]  # an entry more
    | tuple[tuple[int, ...], int, int, None]  # all of these cards came over: who sees them, who goes on as before
)


def entries_of(runs: tuple[Run, ...]) -> list[Entry]:
    """Entry by entry, in order."""
    return [(face, sure, maybe) for faces, sure, maybe in runs for face in faces]


def runs_of(entries: list[Entry]) -> tuple[Run, ...]:
    """Entry by entry, those in a row that are known alike together; what nobody knows any more is gone."""
    known = groupby([entry for entry in entries if entry[1] or entry[2]], _by_whom)
    return tuple([(tuple([entry[0] for entry in run]), *by_whom) for by_whom, run in known])


def _by_whom(entry: Entry) -> tuple[int, int]:
    return entry[1:]


def work_off(runs: tuple[Run, ...], journal: list[Note], everyone: int) -> tuple[Run, ...]:
    """What is known once all of the journal has happened; `everyone` are all viewers there are."""
    for note in journal:
        if len(note) == 2:
            runs = _left(runs, *note, everyone)
        elif len(note) == 3:
            face, sure, maybe = note
            if runs and runs[-1][1:] == (sure, maybe):
                runs = (*runs[:-1], ((*runs[-1][0], face), sure, maybe))
            else:
                runs = (*runs, ((face,), sure, maybe))
        elif len(note) == 1:
            runs = _kept_by(~note[0], runs)
        else:
            runs = _came_over(runs, *note[:3])
    return runs


def _kept_by(viewers: int, runs: tuple[Run, ...]) -> tuple[Run, ...]:
    """Only these viewers go on with what they had learned."""
    return tuple([(faces, sure & viewers, maybe & viewers) for faces, sure, maybe in runs if (sure | maybe) & viewers])


def _left(runs: tuple[Run, ...], card: int, seers: int, everyone: int) -> tuple[Run, ...]:
    """A card has left: `seers` saw which, the others saw only that one did.

    For who saw it one entry of that face goes, a certain one before an uncertain one; for the others all entries
    become uncertain.
    """
    if everyone & ~seers:
        runs = tuple([(faces, sure & seers, maybe | sure & ~seers) for faces, sure, maybe in runs])
    for faces, sure, maybe in runs:
        if card in faces and (sure | maybe) & seers:
            return runs_of(_struck_off(entries_of(runs), card, seers))
    return runs


def _struck_off(entries: list[Entry], card: int, viewers: int) -> list[Entry]:
    """For each of these viewers one entry of this face goes, a certain one before an uncertain one."""
    left = viewers
    for i, (face, sure, maybe) in enumerate(entries):
        if face == card and (hit := sure & left):
            entries[i] = (face, sure ^ hit, maybe)
            left ^= hit
    if left:
        for i, (face, sure, maybe) in enumerate(entries):
            if face == card and (hit := maybe & left):
                entries[i] = (face, sure, maybe ^ hit)
                left ^= hit
    return entries


def _came_over(runs: tuple[Run, ...], cards: tuple[int, ...], learners: int, blind: int) -> tuple[Run, ...]:
    """All these cards came over to where none lay, with what was known of them.

    `learners` see them, and know them from now on; the `blind` go on with what they had learned, nobody else does.
    """
    if not learners:
        return _kept_by(blind, runs)
    new = list(cards)
    entries: list[Entry] = []
    for faces, sure, maybe in runs:
        sure, maybe = sure & blind, maybe & blind
        for face in faces:
            if face in new:  # one entry tells of everybody who knows this card
                new.remove(face)
                entries.append((face, sure | learners, maybe))
            else:
                entries.append((face, sure, maybe))
    entries += [(face, learners, 0) for face in new]
    return runs_of(entries)
