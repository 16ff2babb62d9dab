# Finds the values of row images and prints them.

from cython cimport final
from libc.stdint cimport int32_t, int64_t, uint8_t

from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.column cimport Column, Span

cdef enum:  # the reasons why an event is not printed: indices of `_REASONS` in message_printer
    BY_DAMAGE
    BY_VALUE
    BY_MOVE
    BY_SIZE

cdef struct Ordinals:
    int* each
    int count


@final
cdef class RowImages:
    cdef Column* columns
    cdef Span* first       # the values of an inserted or deleted row, or those before an update
    cdef Span* second      # the values after an update
    cdef int count
    cdef int null_bytes
    cdef list extras
    cdef list names
    cdef Ordinals key
    cdef Ordinals placed
    cdef bytes key_head
    cdef int32_t seed
    cdef int64_t partitions
    cdef int reason        # why the last event was not printed

    cdef const uint8_t* next_row(self, const uint8_t* at, const uint8_t* end, bint update) noexcept
    cdef const uint8_t* scan(self, const uint8_t* at, const uint8_t* end, Span* spans) noexcept
    cdef bint moves(self) noexcept
    cdef bint print_row(self, Buffer out, bint update) except -1
    cdef bint print_old(self, Buffer out, Buffer compared) except -1
    cdef bint print_typed(self, Buffer out, Buffer scratch, Span* image, bint binary) except -1
    cdef int compare(self, Buffer both, int i) except -1
    cdef bint print_key(self, Buffer out, bint update) except -1
    cdef int64_t place(self, Buffer out, bint update) except -2
    cdef bint print_value(self, Buffer out, int i, Span* span) except -1
