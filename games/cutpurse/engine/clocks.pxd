# What the compiled build knows of clocks.py beyond the Python; moments and times are microseconds, in 64 bits.

from cutpurse.engine.match cimport Match

cdef class _Clock:
    cdef public object decision
    cdef public long number
    cdef public long long deadline, allowed
    cdef public bint is_handed_over
    cdef public tuple refused, repeats
    cpdef thought(self, long long now)

cdef class TimedMatch:
    cdef public Match match
    cdef public object control
    cdef public long long _base_ms, _base, _grace, _poll_floor, _handover, _now, _floor
    cdef public list _clocks, _bank, _thought, _away, _over, _opened
    cdef public long _questions
    cdef public double none_ends_before
    cpdef list opened(self)
    cpdef _stop(self, _Clock clock, long long at, bint is_late=*)
    cpdef _go_on(self, long long at=*)
