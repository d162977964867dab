# What the compiled build knows of dealer.py beyond the Python.

from cutpurse.engine.chance cimport Chance
from cutpurse.engine.zones cimport Zone

cdef class Dealer:
    cdef public Chance chance
    cdef public long everyone
    cdef public list clues, log, notes
    cpdef move(self, card, Zone src, Zone dst, long shown=*, columns=*)
    cpdef move_at(self, Py_ssize_t place, Zone src, Zone dst, long shown=*, columns=*)
    cpdef _lift(self, Py_ssize_t place, Zone src, Zone dst, long seers, columns)
    cpdef move_top(self, Zone src, Zone dst, long shown=*, columns=*)
    cpdef deal(self, Zone src, Zone dst, Py_ssize_t cards)
    cpdef move_random(self, Zone src, Zone dst, long shown=*, columns=*)
    cpdef move_all(self, Zone src, Zone dst, long shown=*, columns=*)
    cpdef _note_left(self, Zone src, Zone dst, card, long seers, long hidden, tuple masks)
