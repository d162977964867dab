# What the compiled build knows of link.py beyond the Python.

from cutpurse.server.streams.server_session cimport ServerSession

cdef class Link:
    cdef public ServerSession session
    cdef public object wake, closed, _limits, _counts, _paced, _sent_at, _accepted_at, _parting
    cdef public double _stalled_s
    cdef public long _sent, _strikes_left
    cdef public bint _is_unread, _is_unwritten
    cdef public list _ends, _accepted, _refusals, _problems, _openings
    cdef public bytes _welcome, _drain
