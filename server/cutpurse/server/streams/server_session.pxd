# What the compiled build knows of session.py beyond the Python.

cdef class Place:
    cdef public object seat
    cdef public bint is_start_told, is_end_told

cdef class ServerSession:
    cdef public object id, secret, introduction, max_tables, link, lost_at, one_match, _matches
    cdef public bint leaving, is_met, is_forgotten, wants_events, wants_agenda
    cdef public dict places, ready_places
    cdef public long _last_table, _over
