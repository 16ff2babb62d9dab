# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Prints the rows of one event in formats with envelopes, which contain the row before and after the change: Debezium's JSON, and Avro.

A message consists of head, first image, middle, order key and end. For an update, a separator and the second image follow the first image.
relay.encode.formats writes the same bytes (tests/unit/pipeline/messages).
"""

from cython cimport final
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from relay.compiled.block cimport NONE, ORDER_BYTES, Head, begin
from relay.compiled.message_printer cimport MessagePrinter, end_message
from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.texts cimport put_bytes


@final
cdef class EnvelopePrinter(MessagePrinter):
    """The printer of messages with an envelope. Each message has one row, so `largest` of print_rows must be None.

    The two texts of an event are `head`, before the images, and `middle`, after them. `between` separates the two images of an update.
    `last` follows the order key. `binary`: True for Avro, False for JSON.
    """

    cdef bint binary
    cdef bytes between
    cdef bytes last

    def __cinit__(self, columns, tuple key, bytes key_head, tuple placed, seed, partitions, bytes between not None, bytes last not None, bint binary):
        self.between = between
        self.last = last
        self.binary = binary

    cdef bint add_message(self, bint update, bytes head, bytes middle, uint64_t time, uint64_t position, int64_t partition) except -1:
        cdef Buffer out = self.out
        cdef Py_ssize_t first = begin(out, time, position)
        cdef Py_ssize_t key = out.size
        cdef Py_ssize_t value
        if self.has_key and not self.images.print_key(out, update):
            return False
        value = out.size
        put_bytes(out, head)
        if not self.images.print_typed(out, self.compared, self.images.first, self.binary):
            return False
        if update:
            put_bytes(out, self.between)
            if not self.images.print_typed(out, self.compared, self.images.second, self.binary):
                return False
        put_bytes(out, middle)
        out.need(ORDER_BYTES)
        memcpy(out.data + out.size, out.data + first + sizeof(Head), ORDER_BYTES)
        out.size += ORDER_BYTES
        put_bytes(out, self.last)
        end_message(self, first, partition, value - key if self.has_key else NONE, NONE, out.size - value)
        return True
