# The tables whose rows the printer of whole transactions can print, and the counts of their rows.

from cython cimport final

from relay.compiled.row_printer cimport RowPrinter
from relay.compiled.values.buffer cimport Buffer

cdef enum:
    INSERTED
    UPDATED
    DELETED


cdef struct Tally:              # counts of one event
    void* logical           # a LogicalTable; a KnownTable holds the reference to it
    int operation
    Py_ssize_t rows
    Py_ssize_t value_bytes
    Py_ssize_t transaction  # its number in the call


@final
cdef class LogicalTable:
    cdef object name
    cdef bint counted
    cdef Py_ssize_t rows[3]
    cdef Py_ssize_t transactions[3]
    cdef Py_ssize_t value_bytes[3]
    cdef Py_ssize_t last_transaction[3]

    cdef int reset(self) except -1
    cdef int add(self, Tally* tally) except -1
    cdef int move_to(self, list found) except -1


@final
cdef class KnownTable:
    cdef object table
    cdef object plan
    cdef RowPrinter printer
    cdef Py_ssize_t largest
    cdef tuple parts
    cdef LogicalTable logical
    cdef bytes publish_time
    cdef list behind
    cdef object encoder
    cdef Py_ssize_t marked_in
    cdef object undecodable

    cdef int mark(self, Py_ssize_t transaction) except -1
    cdef bytes behind_old(self, int operation, bytes publish_time)


@final
cdef class Tallies:
    cdef Buffer data

    cdef int empty(self) except -1
    cdef Py_ssize_t number(self)
    cdef int cut(self, Py_ssize_t number) except -1
    cdef int add(self, LogicalTable logical, int operation, Py_ssize_t rows, Py_ssize_t value_bytes, Py_ssize_t transaction) except -1
    cdef list counted(self)
