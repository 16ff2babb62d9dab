# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""The base class of the printers of rows and of envelopes: the loop over the rows of one event, and the buffers for messages.

A printer returns a SlowReason for an event that it does not print. The readable packages then print the event, or raise an error.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cython cimport final
from libc.stdint cimport int64_t, uint8_t, uint64_t

from relay.compiled.row_images cimport BY_DAMAGE, BY_VALUE, RowImages
from relay.compiled.values.buffer cimport Buffer
from relay.model.row_path import SlowReason

cdef tuple _REASONS = (SlowReason.DAMAGED, SlowReason.VALUE, SlowReason.MOVED_ROW, SlowReason.LARGE)


@final
cdef class PrintBuffers:
    """The buffers into which one event is printed. Printers borrow them, because an installation may have ten thousand printers."""

    def __cinit__(self):
        self.out = Buffer()
        self.placing = Buffer()
        self.compared = Buffer()


cdef list _free_buffers = []  # as many as the largest number of threads that printed at the same time


cdef PrintBuffers borrow_buffers():
    return <PrintBuffers>(_free_buffers.pop() if _free_buffers else PrintBuffers())


cdef int give_back(PrintBuffers buffers) except -1:
    _free_buffers.append(buffers)
    return 0


cdef class MessagePrinter:
    """The printer of one real table under one logical name. Its row images must contain every column. A subclass prints the message of a row.

    All messages of an event contain the same two texts, `first` and `second`; the subclass defines where. The parameters are those of
    RowImages, and further ones that the subclass reads.
    """

    def __cinit__(self, columns, tuple key, bytes key_head, tuple placed, seed, partitions, *more):
        self.images = RowImages(columns, key, key_head, placed, seed, partitions)
        self.has_key = len(key) > 0
        self.messages = self.value_bytes = 0

    def print_rows(self, bytes body, Py_ssize_t start, bint update, bytes first, bytes second, uint64_t time, uint64_t position, Py_ssize_t skip, largest):
        """Return (rows of the event, messages, sum of the bytes of their values, block of messages), or a SlowReason if it does not print them.

        `time` is the execute time of all rows, `position` the execute position before the first row. The first `skip` rows give no message.
        `largest` None: one message for each row. Otherwise: one message for each partition, in the order of their first rows; the result is
        LARGE if a value would have more than `largest` bytes. relay.model.message defines the layout of the block.
        """
        cdef PrintBuffers buffers = borrow_buffers()
        buffers.out.empty()
        self.use(buffers)
        try:
            return self.print_event(body, start, update, first, second, time, position, skip, largest)
        finally:
            self.leave()
            give_back(buffers)

    def print_copied(self, bytes body, bytes first, bytes second, uint64_t time, uint64_t position):
        """Return what print_rows returns, for inserted rows that share one execute position. `body` contains only their images."""
        cdef PrintBuffers buffers = borrow_buffers()
        buffers.out.empty()
        self.use(buffers)
        try:
            return self.printed(self.add_event(body, 0, False, first, second, time, position, 0, 0))
        finally:
            self.leave()
            give_back(buffers)

    def count_rows(self, bytes body, Py_ssize_t start, bint update):
        """Return how many rows the event has; None if it is damaged."""
        cdef const uint8_t* at = self.first_row(body, start, 0)
        cdef const uint8_t* end_of_body = <const uint8_t*>PyBytes_AS_STRING(body) + PyBytes_GET_SIZE(body)
        cdef Py_ssize_t rows = 0
        if at == NULL:
            return None
        while at < end_of_body:
            at = self.images.scan(at, end_of_body, self.images.first)
            if at != NULL and update:
                at = self.images.scan(at, end_of_body, self.images.second)
            if at == NULL:
                return None
            rows += 1
        return rows

    cdef int use(self, PrintBuffers buffers) except -1:
        """Append messages to `buffers` until `leave`, and count them from 0."""
        self.out, self.placing, self.compared = buffers.out, buffers.placing, buffers.compared
        self.messages = self.value_bytes = 0
        return 0

    cdef int leave(self) except -1:
        self.out = self.placing = self.compared = None
        return 0

    cdef object print_event(self, bytes body, Py_ssize_t start, bint update, bytes first, bytes second, uint64_t time, uint64_t position, Py_ssize_t skip, largest):
        """Print an event into the buffers in use; return the result of `print_rows`."""
        if largest is not None:
            raise ValueError(largest)
        return self.printed(self.add_event(body, start, update, first, second, time, position, skip, 1))

    cdef object printed(self, Py_ssize_t rows):
        """Return the result of `print_rows` for an event with this number of rows; -1: it was not printed."""
        if rows < 0:
            return _REASONS[self.images.reason]
        return rows, self.messages, self.value_bytes, PyBytes_FromStringAndSize(self.out.data, self.out.size)

    cdef const uint8_t* first_row(self, bytes body, Py_ssize_t start, uint64_t time) noexcept:
        """Return the address of the first row of an event; NULL if no row can be printed, with the reason in `images`."""
        if start > PyBytes_GET_SIZE(body) or time > LATEST_TIME_MS:
            self.images.reason = BY_VALUE if time > LATEST_TIME_MS else BY_DAMAGE
            return NULL
        return <const uint8_t*>PyBytes_AS_STRING(body) + start

    cdef Py_ssize_t add_event(self, bytes body, Py_ssize_t start, bint update, bytes first, bytes second, uint64_t time, uint64_t position, Py_ssize_t skip, int step) except -2:
        """Append a message for each row after the first `skip` ones; return how many rows the event has, -1 if it is not printed.

        The execute position rises by `step` with each row.
        """
        cdef const uint8_t* at = self.first_row(body, start, time)
        cdef const uint8_t* end_of_body = <const uint8_t*>PyBytes_AS_STRING(body) + PyBytes_GET_SIZE(body)
        cdef Py_ssize_t rows = 0
        cdef int64_t partition
        if at == NULL:
            return -1
        while at < end_of_body:
            at = self.images.next_row(at, end_of_body, update)
            if at == NULL:
                return -1
            rows += 1
            position += step
            if rows <= skip:
                continue
            partition = self.images.place(self.placing, update)
            if partition < 0 or not self.add_message(update, first, second, time, position, partition):
                return -1
        return rows

    cdef bint add_message(self, bint update, bytes first, bytes second, uint64_t time, uint64_t position, int64_t partition) except -1:
        """Append the message of the row that was found last; return False if a value is not valid for its column."""
        raise NotImplementedError
