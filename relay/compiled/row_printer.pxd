# Prints the rows of one event as messages.

from cython cimport final
from libc.stdint cimport int64_t, uint64_t

from relay.compiled.row_images cimport RowImages
from relay.compiled.values.buffer cimport Buffer

cdef enum:
    LATEST_TIME_MS = 9999999999999  # of 13 digits, in the year 2286

cdef Workplace borrow_workplace()
cdef int give_back(Workplace place) except -1


@final
cdef class Run:
    cdef Buffer data
    cdef Buffer old
    cdef Buffer offsets
    cdef uint64_t first
    cdef Py_ssize_t rows


@final
cdef class Workplace:
    cdef Buffer out
    cdef Buffer placing
    cdef Buffer compared


@final
cdef class RowPrinter:
    cdef RowImages images
    cdef bint has_key
    cdef Buffer out
    cdef Buffer placing
    cdef Buffer compared
    cdef Py_ssize_t messages
    cdef Py_ssize_t value_bytes

    cdef int use(self, Workplace place) except -1
    cdef int leave(self) except -1
    cdef object print_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, largest)
    cdef Py_ssize_t add_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, int step) except -2
    cdef Py_ssize_t add_packed_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, Py_ssize_t largest) except -2
    cdef bint add_message(self, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, int64_t partition) except -1
    cdef Py_ssize_t begin_message(self, uint64_t time, uint64_t position) except -1
    cdef int end_message(self, Py_ssize_t head, int64_t partition, Py_ssize_t key, Py_ssize_t orders, Py_ssize_t value) except -1
    cdef bint add_row(self, Run run, bint update, uint64_t position) except -1
    cdef Py_ssize_t add_packed(self, Run run, bint update, bytes before_old, bytes after_old, uint64_t time, int64_t partition) except -1
    cdef bint print_message(self, bint update, bytes before_old, bytes after_old) except -1
