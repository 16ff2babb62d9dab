# The base class of the printers of rows and of envelopes.

from cython cimport final
from libc.stdint cimport int64_t, uint8_t, uint64_t

from relay.compiled.block cimport end
from relay.compiled.row_images cimport RowImages
from relay.compiled.values.buffer cimport Buffer

cdef enum:
    LATEST_TIME_MS = 9999999999999  # largest time of 13 digits, in the year 2286

cdef PrintBuffers borrow_buffers()
cdef int give_back(PrintBuffers buffers) except -1


@final
cdef class PrintBuffers:
    cdef Buffer out
    cdef Buffer placing
    cdef Buffer compared


cdef class MessagePrinter:
    cdef RowImages images
    cdef bint has_key
    cdef Buffer out
    cdef Buffer placing
    cdef Buffer compared
    cdef Py_ssize_t messages
    cdef Py_ssize_t value_bytes

    cdef int use(self, PrintBuffers buffers) except -1
    cdef int leave(self) except -1
    cdef object print_event(self, bytes body, Py_ssize_t start, bint update, bytes first, bytes second, uint64_t time, uint64_t position, Py_ssize_t skip, largest)
    cdef object printed(self, Py_ssize_t rows)
    cdef const uint8_t* first_row(self, bytes body, Py_ssize_t start, uint64_t time) noexcept
    cdef Py_ssize_t add_event(self, bytes body, Py_ssize_t start, bint update, bytes first, bytes second, uint64_t time, uint64_t position, Py_ssize_t skip, int step) except -2
    cdef bint add_message(self, bint update, bytes first, bytes second, uint64_t time, uint64_t position, int64_t partition) except -1


cdef inline int end_message(MessagePrinter printer, Py_ssize_t head, int64_t partition, Py_ssize_t key, Py_ssize_t orders, Py_ssize_t value) except -1:
    """Write the head of a message whose other parts are already appended, and count the message."""
    end(printer.out, head, partition, key, orders, value)
    printer.messages += 1
    printer.value_bytes += value
    return 0
