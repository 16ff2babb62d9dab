# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Prints the rows of one event as envelopes with the row before and after: Debezium's JSON, and Avro.

Each message is: head, first image, for an update what separates the images and the second one, middle, order key, end. Like row_printer it
returns a SlowReason for an event that it does not print; relay.encode.formats gives the same bytes (tests/unit/pipeline/messages).
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cython cimport final
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from relay.compiled.block cimport NONE, ORDER_BYTES, Head, begin, end
from relay.compiled.row_images cimport BY_DAMAGE, BY_VALUE, RowImages
from relay.compiled.row_printer cimport LATEST_TIME_MS, Workplace, borrow_workplace, give_back
from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.texts cimport put_bytes
from relay.model.row_path import SlowReason

cdef tuple _REASONS = (SlowReason.DAMAGED, SlowReason.VALUE, SlowReason.MOVED_ROW, SlowReason.LARGE)


@final
cdef class EnvelopePrinter:
    """The printer of one table under one name, for images that hold every column.

    `between` separates the images of an update, `last` follows the order key; `binary`: Avro instead of JSON. The other parameters are those
    of RowImages.
    """

    cdef RowImages images
    cdef bint has_key
    cdef bint binary
    cdef bytes between
    cdef bytes last
    cdef Py_ssize_t messages
    cdef Py_ssize_t value_bytes

    def __cinit__(self, columns, tuple key, bytes key_head, tuple placed, seed, partitions, bytes between not None, bytes last not None, bint binary):
        self.images = RowImages(columns, key, key_head, placed, seed, partitions)
        self.has_key = len(key) > 0
        self.between = between
        self.last = last
        self.binary = binary

    def print_rows(self, bytes body, Py_ssize_t start, bint update, bytes head, bytes middle, uint64_t time, uint64_t position, Py_ssize_t skip, largest):
        """Return what RowPrinter.print_rows returns, with one message a row; `largest` must be None."""
        cdef Workplace place = borrow_workplace()
        cdef Py_ssize_t rows
        if largest is not None:
            raise ValueError(largest)
        self.messages = self.value_bytes = 0
        try:
            place.out.empty()
            rows = self.add_event(place, body, start, update, head, middle, time, position, skip, 1)
            if rows < 0:
                return _REASONS[self.images.reason]
            return rows, self.messages, self.value_bytes, PyBytes_FromStringAndSize(place.out.data, place.out.size)
        finally:
            give_back(place)

    def print_copied(self, bytes body, bytes head, bytes middle, uint64_t time, uint64_t position):
        """Return what print_rows returns, for inserted rows that share one execute position; `body` holds their images alone."""
        cdef Workplace place = borrow_workplace()
        cdef Py_ssize_t rows
        self.messages = self.value_bytes = 0
        try:
            place.out.empty()
            rows = self.add_event(place, body, 0, False, head, middle, time, position, 0, 0)
            if rows < 0:
                return _REASONS[self.images.reason]
            return rows, self.messages, self.value_bytes, PyBytes_FromStringAndSize(place.out.data, place.out.size)
        finally:
            give_back(place)

    cdef Py_ssize_t add_event(self, Workplace place, bytes body, Py_ssize_t start, bint update, bytes head, bytes middle, uint64_t time, uint64_t position, Py_ssize_t skip, int step) except -2:
        """Append a message for each row after `skip`; return how many rows the event has, -1 where it is not printed.

        The execute position rises by `step` with each row.
        """
        cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(body)
        cdef const uint8_t* stop = at + PyBytes_GET_SIZE(body)
        cdef Py_ssize_t rows = 0
        cdef int64_t partition
        if start > PyBytes_GET_SIZE(body) or time > LATEST_TIME_MS:
            self.images.reason = BY_VALUE if time > LATEST_TIME_MS else BY_DAMAGE
            return -1
        at += start
        while at < stop:
            at = self.images.next_row(at, stop, update)
            if at == NULL:
                return -1
            self.images.reason = BY_VALUE
            rows += 1
            position += step
            if rows <= skip:
                continue
            partition = self.images.place(place.placing, update)
            if partition < 0 or not self.add_message(place, update, head, middle, time, position, partition):
                return -1
        return rows

    cdef bint add_message(self, Workplace place, bint update, bytes head, bytes middle, uint64_t time, uint64_t position, int64_t partition) except -1:
        """Append the message of one row; False when a value is not valid for its column."""
        cdef Buffer out = place.out
        cdef Py_ssize_t first = begin(out, time, position)
        cdef Py_ssize_t key = out.size
        cdef Py_ssize_t value
        if self.has_key and not self.images.print_key(out, update):
            return False
        value = out.size
        put_bytes(out, head)
        if not self.images.print_typed(out, place.compared, self.images.first, self.binary):
            return False
        if update:
            put_bytes(out, self.between)
            if not self.images.print_typed(out, place.compared, self.images.second, self.binary):
                return False
        put_bytes(out, middle)
        out.need(ORDER_BYTES)
        memcpy(out.data + out.size, out.data + first + sizeof(Head), ORDER_BYTES)
        out.size += ORDER_BYTES
        put_bytes(out, self.last)
        end(out, first, partition, value - key if self.has_key else NONE, NONE, out.size - value)
        self.messages += 1
        self.value_bytes += out.size - value
        return True
