# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Prints the rows of one event from its bytes. For each row it finds all values, checks them against the end of the event, and prints them.

The readable packages write the same bytes (tests/unit/pipeline).
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cython cimport final
from libc.stdint cimport int64_t, uint8_t, uint64_t

from relay.compiled.block cimport NONE, begin
from relay.compiled.message_printer cimport MessagePrinter, end_message
from relay.compiled.row_images cimport BY_SIZE
from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.texts cimport put_bytes


@final
cdef class Run:
    """The rows of one partition, which become one message. `first` is the execute position of the first row."""

    def __cinit__(self, uint64_t first):
        self.data = Buffer()
        self.old = Buffer()
        self.offsets = Buffer()
        self.first = first
        self.rows = 0


@final
cdef class RowPrinter(MessagePrinter):
    """The printer of messages with the fields `data` and, for an update, `old`. A message has one row, or all rows of a partition.

    The two texts of an event are `before_old`, after the rows in `data`, and `after_old`, the rest of the message. For an update, `old` is
    printed between them.
    """

    def __cinit__(self, columns, tuple key, bytes key_head, tuple placed, seed, partitions):
        pass  # this signature refuses further parameters, which the base class would accept

    cdef object print_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, largest):
        if largest is None:
            return self.printed(self.add_event(body, start, update, before_old, after_old, time, position, skip, 1))
        return self.printed(self.add_packed_event(body, start, update, before_old, after_old, time, position, skip, largest))

    cdef Py_ssize_t add_packed_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, Py_ssize_t largest) except -2:
        """Append one message for each partition; return the result of `add_event`."""
        cdef const uint8_t* at = self.first_row(body, start, time)
        cdef const uint8_t* end = <const uint8_t*>PyBytes_AS_STRING(body) + PyBytes_GET_SIZE(body)
        cdef Py_ssize_t rows = 0
        cdef int64_t partition
        cdef dict runs = {}
        if at == NULL:
            return -1
        while at < end:
            at = self.images.next_row(at, end, update)
            if at == NULL:
                return -1
            rows += 1
            position += 1
            if rows <= skip:
                continue
            partition = self.images.place(self.placing, update)
            if partition < 0:
                return -1
            run = runs.get(partition)
            if run is None:
                run = runs[partition] = Run(position)
            if not self.add_row(<Run>run, update, position):
                return -1
        for place, run in runs.items():
            if self.add_packed(<Run>run, update, before_old, after_old, time, place) > largest:
                self.images.reason = BY_SIZE
                return -1
        return rows

    cdef bint add_message(self, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, int64_t partition) except -1:
        """Append the message of one row; return False if a value is not valid for its column."""
        cdef Buffer out = self.out
        cdef Py_ssize_t head = begin(out, time, position)
        cdef Py_ssize_t key = out.size
        if self.has_key and not self.images.print_key(out, update):
            return False
        cdef Py_ssize_t value = out.size
        if not self.print_message(update, before_old, after_old):
            return False
        end_message(self, head, partition, value - key if self.has_key else NONE, NONE, out.size - value)
        return True

    cdef bint add_row(self, Run run, bint update, uint64_t position) except -1:
        if run.rows:
            run.data.byte(b",")
            run.offsets.byte(b",")
        run.rows += 1
        run.offsets.number(position - run.first)
        if not self.images.print_row(run.data, update):
            return False
        if update:
            if run.rows > 1:
                run.old.byte(b",")
            return self.images.print_old(run.old, self.compared)
        return True

    cdef Py_ssize_t add_packed(self, Run run, bint update, bytes before_old, bytes after_old, uint64_t time, int64_t partition) except -1:
        """Append the message of several rows; return the bytes of its value."""
        cdef Buffer out = self.out
        cdef Py_ssize_t head = begin(out, time, run.first)
        cdef Py_ssize_t orders = run.offsets.size if run.rows > 1 else NONE
        if run.rows > 1:
            out.put(run.offsets.data, run.offsets.size)
        cdef Py_ssize_t value = out.size
        out.put(b'{"data":[', 9)
        out.put(run.data.data, run.data.size)
        put_bytes(out, before_old)
        if update:
            out.byte(b"[")
            out.put(run.old.data, run.old.size)
            out.byte(b"]")
        put_bytes(out, after_old)
        end_message(self, head, partition, NONE, orders, out.size - value)
        return out.size - value

    cdef bint print_message(self, bint update, bytes before_old, bytes after_old) except -1:
        cdef Buffer out = self.out
        out.put(b'{"data":[', 9)
        if not self.images.print_row(out, update):
            return False
        put_bytes(out, before_old)
        if update:
            out.byte(b"[")
            if not self.images.print_old(out, self.compared):
                return False
            out.byte(b"]")
        put_bytes(out, after_old)
        return True
