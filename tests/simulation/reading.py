"""The watch's processing of messages from bots: answers to decisions, and acknowledgements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from cutpurse.v1 import arena_pb2
from tests.simulation.books import STRIKES, Books, Read, SessionBook, StreamBook
from tests.simulation.network import Call

if TYPE_CHECKING:
    from tests.simulation.world import World

__all__ = ["Reading"]


class Reading:
    """The processing of messages from bots."""

    def __init__(self, world: World, books: Books) -> None:
        self._world = world
        self._books = books

    def read(self, call: Call, data: bytes) -> None:
        """Process an envelope that the server has read on a call."""
        stream = self._books.streams.setdefault(call.number, StreamBook())
        try:
            request = arena_pb2.PlayRequest.FromString(data)
        except DecodeError:
            stream.strikes += 1
            return
        at = self._world.effective()
        if stream.session is None:
            if stream.hello is None and request.HasField("hello"):
                stream.hello = request.hello
            stream.pending.append((request, at))
            return
        self.take(call, stream, request, at)

    def take(self, call: Call, stream: StreamBook, request: arena_pb2.PlayRequest, at: float) -> None:
        """Process an envelope of a bot with a session."""
        session = stream.session
        assert session is not None
        if request.received > stream.sent or (request.HasField("hello") and stream.sent):
            stream.strikes += 1
            return  # the whole envelope is ignored
        is_live = self._books.live.get(session.name) == call.number
        is_sure = is_live and not self._world.is_gone(call.number) and not stream.is_ended and stream.strikes < STRIKES
        is_sure = is_sure and not self._books.is_being_taken_over(session)
        if request.received > stream.heard:
            stream.heard = request.received
            for envelope in [one for one in stream.ends if one <= stream.heard]:
                if is_sure:
                    session.heard.update(stream.ends.pop(envelope))
                else:
                    session.maybe_heard.update(stream.ends[envelope])
        for answer in request.answers:
            option = answer.option if answer.HasField("option") else None
            self._said(session, answer.table, answer.decision, Read(option, at, is_live, is_sure, call.number))
        for given_up in request.give_ups:
            read = Read(None, at, is_live, is_sure, call.number, gives_up=True)
            self._said(session, given_up.table, given_up.decision, read)

    def _said(self, session: SessionBook, table: int, decision: int, read: Read) -> None:
        if table not in session.tables:  # the table may exist already
            session.guessed.append((decision, read))
        book = self._books.matches.get(session.tables.get(table, ""))
        if book is None:
            return
        seat = next(seat for seat in book.seats if seat.name == session.name)
        if 0 < decision <= len(seat.asked):
            asked = seat.asked[decision - 1]
            if not asked.is_closed:
                asked.reads.append(read)
