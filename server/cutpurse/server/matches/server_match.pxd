# What the compiled build knows of table.py beyond the Python.

from cutpurse.engine.clocks cimport TimedMatch
from cutpurse.engine.match cimport Match
from cutpurse.sdk.wire.encode cimport MatchEncoder

cdef class _MatchSeat:
    cdef public long number, seat, _sent, _first, _told
    cdef public object player, notes
    cdef public ServerMatch _table

cdef class ServerMatch:
    cdef public object ladder, name, deal, incident, began, requested_by, reason
    cdef public object _moved, _incident_number, _ending
    cdef public list on_moved
    cdef public Match match
    cdef public TimedMatch timed
    cdef public MatchEncoder encoder
    cdef public tuple tables, seats, _identities, _sealed_seats
    cdef public bytes _beginning
    cdef public double look_by
    cdef public bint _is_rated, _is_seated, _is_opened
