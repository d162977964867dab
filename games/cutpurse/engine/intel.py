"""What viewers who may not see a zone have learned of its cards: a journal, and what it comes to.

An entry (face, certain, maybe) stands for a card that somebody has learned of: the viewers who know it to lie there,
and those for whom it may have left unseen. Far more cards move than anybody asks about, so what happens is only noted,
and worked off when somebody looks. Entries in a row that are known alike stand together as a run, so a pile that is
passed on is one thing to know and not twelve. This module knows no zone and no rules.
"""

from __future__ import annotations

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
    runs: list[tuple[list[int], int, int]] = []
    last_sure = last_maybe = 0
    for face, sure, maybe in entries:
        if sure or maybe:
            if sure != last_sure or maybe != last_maybe:
                faces: list[int] = []
                runs.append((faces, sure, maybe))
                last_sure, last_maybe = sure, maybe
            faces.append(face)
    return tuple([(tuple(faces), sure, maybe) for faces, sure, maybe in runs])


def work_off(runs: tuple[Run, ...], journal: list[Note], everyone: int) -> tuple[Run, ...]:
    """What is known once all of the journal has happened; `everyone` are all viewers there are.

    Here and below are plain loops that leave alone what stays as it is: this is done for most cards that anybody sees.
    """
    known = [*runs]
    for note in journal:
        if len(note) == 2:
            if known:
                _leave(known, note[0], note[1], everyone & ~note[1])
        elif len(note) == 3:
            face, sure, maybe = note
            if known and (last := known[-1])[1] == sure and last[2] == maybe:
                known[-1] = ((*last[0], face), sure, maybe)
            else:
                known.append(((face,), sure, maybe))
        elif len(note) == 1:
            known = _kept_by(~note[0], known)
        else:
            known = _came_over(known, note[0], note[1], note[2])
    return tuple(known)


def _kept_by(viewers: int, runs: list[Run]) -> list[Run]:
    """Only these viewers go on with what they had learned."""
    return [(faces, sure & viewers, maybe & viewers) for faces, sure, maybe in runs if (sure | maybe) & viewers]


def _leave(known: list[Run], card: int, seers: int, blind: int) -> None:
    """A card leaves: `seers` see which, the `blind` only that one does.

    For the blind all entries become uncertain; for who sees it one entry of that face goes, a certain one before an
    uncertain one.
    """
    if blind:
        for i, (faces, sure, maybe) in enumerate(known):
            if lost := sure & blind:
                known[i] = (faces, sure ^ lost, maybe | lost)
    at = 0
    doubted = 0  # the viewers who may have to go by an uncertain entry
    while seers and at < len(known):
        faces, sure, maybe = known[at]
        if (sure | maybe) & seers and card in faces:
            doubted |= maybe
            if hit := sure & seers:
                seers ^= hit
                at += _strike(known, at, card, sure ^ hit, maybe)
                continue
        at += 1
    at = 0
    while doubted & seers and at < len(known):
        faces, sure, maybe = known[at]
        if (hit := maybe & seers) and card in faces:
            seers ^= hit
            at += _strike(known, at, card, sure, maybe ^ hit)
        else:
            at += 1


def _strike(known: list[Run], at: int, card: int, sure: int, maybe: int) -> int:
    """Of the run at this place, the first entry of this face is known like that now; how many runs that makes."""
    faces, was_sure, was_maybe = known[at]
    i = faces.index(card)
    if not (sure or maybe):
        if len(faces) == 1:
            del known[at]
            return 0
        known[at] = (faces[:i] + faces[i + 1 :], was_sure, was_maybe)
        return 1
    parts: list[Run] = [((card,), sure, maybe)]
    if i:
        parts.insert(0, (faces[:i], was_sure, was_maybe))
    if i + 1 < len(faces):
        parts.append((faces[i + 1 :], was_sure, was_maybe))
    known[at : at + 1] = parts
    return len(parts)


def _came_over(known: list[Run], cards: tuple[int, ...], learners: int, blind: int) -> list[Run]:
    """All these cards came over to where none lay, with what was known of them.

    `learners` see them, and know them from now on; the `blind` go on with what they had learned, nobody else does.
    """
    if not learners:
        return _kept_by(blind, known)
    new = [*cards]
    runs: list[tuple[list[int], int, int]] = []
    last_sure = last_maybe = -1
    for run, were_sure, maybe in known:
        were_sure &= blind
        maybe &= blind
        for face in run:
            sure = were_sure
            if face in new:  # one entry tells of everybody who knows this card
                new.remove(face)
                sure |= learners
            if sure != last_sure or maybe != last_maybe:
                faces: list[int] = []
                runs.append((faces, sure, maybe))
                last_sure, last_maybe = sure, maybe
            faces.append(face)
    if new:
        runs.append((new, learners, 0))
    return [(tuple(faces), sure, maybe) for faces, sure, maybe in runs if sure or maybe]
