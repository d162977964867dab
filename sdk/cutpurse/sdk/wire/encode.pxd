# What the compiled build knows of encode.py beyond the Python.

cdef class MatchEncoder:
    cdef public object rules, settings, phrases
    cdef public Py_ssize_t seats, _of_table, _of_seat, _fixed
    cdef public list _told, _counters
    cdef public dict _events
    cdef public tuple _values, _left_ms
    cdef public bytes _left
    cpdef _observation(self, seat, tuple counters, tuple seat_counters, zones, list shown, steps, agenda)
    cpdef list _sides_with_made(self, zones, list shown)
    cpdef _encode_counters(self, tuple values)
    cpdef bytes options(self, options)
    cpdef bytes _time_left(self, base_ms, bank_ms)
