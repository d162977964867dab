# What the compiled build knows of zones.py beyond the Python: fields and methods with a place of their own in C.

cdef class Zone:
    cdef public list cards, columns, counters, journal, kept, masks
    cdef public dict backs
    cdef public tuple runs
    cdef public object kind
    cdef public long everyone, number, owner, sees
    cdef public bint ordered, plain, remembers, shared
    cpdef put(self, card, long seers, columns)
    cpdef take_over(self, Zone src, long seers)
    cpdef tuple column_values(self, Py_ssize_t place)
    cpdef tuple learned(self)
    cpdef forget(self, card, long seers)
    cpdef learn(self, long viewers)
    cpdef drop_intel(self, long viewers)
    cpdef picture(self, long viewer)
    cpdef _keep_for_the_blind(self, list kept)
    cpdef _picture(self, tuple seen, tuple known=*, tuple maybe=*)
