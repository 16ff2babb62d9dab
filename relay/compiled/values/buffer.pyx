# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""A growing byte buffer. The functions that are called for every value are inlined in the declaration (.pxd)."""

from cython cimport final
from libc.stdlib cimport free, malloc, realloc

cdef enum:
    FIRST_BYTES = 4096
    KEPT_BYTES = 1 << 20


@final
cdef class Buffer:

    def __cinit__(self):
        self.room = FIRST_BYTES
        self.data = <char*>malloc(self.room)
        self.size = 0
        if self.data == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.data)

    cdef int empty(self) except -1:
        """Empty the buffer, and free memory beyond KEPT_BYTES that a large event needed."""
        cdef char* smaller
        self.size = 0
        if self.room > KEPT_BYTES:
            smaller = <char*>realloc(self.data, KEPT_BYTES)
            if smaller != NULL:
                self.data = smaller
                self.room = KEPT_BYTES
        return 0

    cdef int grow(self, Py_ssize_t wanted) except -1:
        cdef Py_ssize_t room = self.room
        cdef char* moved
        while room < wanted:
            room *= 2
        moved = <char*>realloc(self.data, room)
        if moved == NULL:
            raise MemoryError
        self.data = moved
        self.room = room
        return 0
