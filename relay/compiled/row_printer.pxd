# Prints the rows of one event as messages.

from cython cimport final
from libc.stdint cimport int64_t, uint64_t

from relay.compiled.message_printer cimport MessagePrinter
from relay.compiled.values.buffer cimport Buffer


@final
cdef class Run:
    cdef Buffer data
    cdef Buffer old
    cdef Buffer offsets
    cdef uint64_t first
    cdef Py_ssize_t rows


@final
cdef class RowPrinter(MessagePrinter):
    cdef Py_ssize_t add_packed_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, Py_ssize_t largest) except -2
    cdef bint add_row(self, Run run, bint update, uint64_t position) except -1
    cdef Py_ssize_t add_packed(self, Run run, bint update, bytes before_old, bytes after_old, uint64_t time, int64_t partition) except -1
    cdef bint print_message(self, bint update, bytes before_old, bytes after_old) except -1
