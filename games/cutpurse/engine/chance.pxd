# What the compiled build knows of chance.py beyond the Python.

cdef class Chance:
    cdef public long block, deal
    cdef public bytes key, stream
    cdef public list words
    cpdef open(self, deal)
    cpdef list _next_words(self, long blocks=*)
    cpdef below(self, n)
    cpdef shuffle(self, list cards)
