# What the compiled build knows of match.py beyond the Python.

cdef class Match:
    cdef public object rules, game
    cdef public tuple seats
    cdef public bytes key
    cdef public list choices, faults, taken_over, _to_take, lone_asked
    cdef public long questions, conduct
    cdef public dict open
    cdef public bint held
    cdef public object _last, _void
    cdef public dict _wrong, _played_on
    cdef public list _asked
    cdef public bint _hold_polls, _ask_all
    cpdef answer(self, seat, number, answer)
    cpdef release(self)
    cpdef _hold(self, seat, option)
    cpdef _take(self, decision, option, cause)
    cpdef _advance(self)
