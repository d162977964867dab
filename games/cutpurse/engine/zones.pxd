# What the compiled build knows of zones.py beyond the Python: fields and methods with a place of their own in C.

cdef class Zone:
    cdef public list cards, columns, counters, kept, masks, notes
    cdef public dict backs
    cdef public tuple clues, runs
    cdef public object kind
    cdef public long doubtful, everyone, number, owner, sees, tracked
    cdef public bint ordered, plain, remembers, shared
    cpdef put(self, card, long seers, columns)
    cpdef take_over(self, Zone src, long seers)
    cpdef tuple column_values(self, Py_ssize_t place)
    cpdef forget(self)
    cpdef uncover(self, long viewers)
    cpdef changed_for(self, long viewers)
    cpdef tuple known_by(self, long viewer)
    cpdef picture(self, long viewer)
    cpdef _keep_for_the_blind(self, list kept)
    cpdef _picture(self, tuple seen, tuple known=*, tuple maybe=*)
