# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Prints the rows of one event from its bytes: spans first, every one checked against the event's end, then texts.

It returns a SlowReason for an event that it does not print: the readable path in decode, encode and partition then does the work,
or names the damage. Both give the same bytes (tests/unit/pipeline).
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cython cimport final
from libc.stdint cimport int64_t, uint8_t, uint64_t

from relay.compiled.block cimport NONE, begin, end
from relay.compiled.row_images cimport BY_DAMAGE, BY_SIZE, BY_VALUE, RowImages
from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.texts cimport put_bytes
from relay.model.row_path import SlowReason

cdef tuple _REASONS = (SlowReason.DAMAGED, SlowReason.VALUE, SlowReason.MOVED_ROW, SlowReason.LARGE)


@final
cdef class Run:
    """Rows that become one message."""

    def __cinit__(self, uint64_t first):
        self.data = Buffer()
        self.old = Buffer()
        self.offsets = Buffer()
        self.first = first
        self.rows = 0


@final
cdef class Workplace:
    """What an event is printed in; lent for one event, so that ten thousand printers need not one each."""

    def __cinit__(self):
        self.out = Buffer()
        self.placing = Buffer()
        self.compared = Buffer()


cdef list _workplaces = []  # as many as threads have printed at once


cdef Workplace borrow_workplace():
    return <Workplace>(_workplaces.pop() if _workplaces else Workplace())


cdef int give_back(Workplace place) except -1:
    _workplaces.append(place)
    return 0


@final
cdef class RowPrinter:
    """The printer of one table under one name, for images that hold every column. The parameters are those of RowImages."""

    def __cinit__(self, columns, tuple key, bytes key_head, tuple placed, seed, partitions):
        self.images = RowImages(columns, key, key_head, placed, seed, partitions)
        self.has_key = len(key) > 0
        self.messages = self.value_bytes = 0

    def print_rows(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, largest):
        """Return (rows of the event, messages, bytes of their values together, block of messages), or why not as a SlowReason.

        `before_old` stands between a row and `old`, `after_old` behind; for an update `old` itself is printed between them. `time` is the
        execute time of all rows, `position` the execute position before the first row; the first `skip` rows give no message.
        `largest` None: one message a row; else one for each partition, in the order of their first rows, and LARGE where the value of
        one would have more than `largest` bytes. The block is that of relay.model.message.
        """
        cdef Workplace place = borrow_workplace()
        self.use(place)
        try:
            return self.print_event(body, start, update, before_old, after_old, time, position, skip, largest)
        finally:
            self.leave()
            give_back(place)

    def print_copied(self, bytes body, bytes before_old, bytes after_old, uint64_t time, uint64_t position):
        """Return what print_rows returns, for inserted rows that share one execute position; `body` holds their images alone."""
        cdef Workplace place = borrow_workplace()
        cdef Py_ssize_t rows
        self.use(place)
        try:
            self.out.empty()
            self.messages = self.value_bytes = 0
            rows = self.add_event(body, 0, False, before_old, after_old, time, position, 0, 0)
            return _REASONS[self.images.reason] if rows < 0 else (rows, self.messages, self.value_bytes, PyBytes_FromStringAndSize(self.out.data, self.out.size))
        finally:
            self.leave()
            give_back(place)

    cdef int use(self, Workplace place) except -1:
        """Print into the buffers of `place` until `leave`."""
        self.out, self.placing, self.compared = place.out, place.placing, place.compared
        return 0

    cdef int leave(self) except -1:
        self.out = self.placing = self.compared = None
        return 0

    cdef object print_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, largest):
        cdef Py_ssize_t rows
        self.out.empty()
        self.messages = self.value_bytes = 0
        if largest is None:
            rows = self.add_event(body, start, update, before_old, after_old, time, position, skip, 1)
        else:
            rows = self.add_packed_event(body, start, update, before_old, after_old, time, position, skip, largest)
        return _REASONS[self.images.reason] if rows < 0 else (rows, self.messages, self.value_bytes, PyBytes_FromStringAndSize(self.out.data, self.out.size))

    cdef Py_ssize_t add_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, int step) except -2:
        """Append a message for each row behind `skip`; return how many rows the event has, -1 where it is left alone.

        The execute position rises by `step` with each row.
        """
        cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(body)
        cdef const uint8_t* end = at + PyBytes_GET_SIZE(body)
        cdef Py_ssize_t rows = 0
        cdef int64_t partition
        if start > PyBytes_GET_SIZE(body) or time > LATEST_TIME_MS:
            self.images.reason = BY_VALUE if time > LATEST_TIME_MS else BY_DAMAGE
            return -1
        at += start
        while at < end:
            at = self.images.next_row(at, end, update)
            if at == NULL:
                return -1
            self.images.reason = BY_VALUE
            rows += 1
            position += step
            if rows <= skip:
                continue
            partition = self.images.place(self.placing, update)
            if partition < 0 or not self.add_message(update, before_old, after_old, time, position, partition):
                return -1
        return rows

    cdef Py_ssize_t add_packed_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, Py_ssize_t largest) except -2:
        """As `add_event`, with a message for each partition."""
        cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(body)
        cdef const uint8_t* end = at + PyBytes_GET_SIZE(body)
        cdef Py_ssize_t rows = 0
        cdef int64_t partition
        cdef dict runs = {}
        if start > PyBytes_GET_SIZE(body) or time > LATEST_TIME_MS:
            self.images.reason = BY_VALUE if time > LATEST_TIME_MS else BY_DAMAGE
            return -1
        at += start
        while at < end:
            at = self.images.next_row(at, end, update)
            if at == NULL:
                return -1
            self.images.reason = BY_VALUE
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

    def count_rows(self, bytes body, Py_ssize_t start, bint update):
        """Return how many rows the event has, or None where it is damaged."""
        cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(body)
        cdef const uint8_t* end = at + PyBytes_GET_SIZE(body)
        cdef Py_ssize_t rows = 0
        if start > PyBytes_GET_SIZE(body):
            return None
        at += start
        while at < end:
            at = self.images.scan(at, end, self.images.first)
            if at != NULL and update:
                at = self.images.scan(at, end, self.images.second)
            if at == NULL:
                return None
            rows += 1
        return rows

    cdef bint add_message(self, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, int64_t partition) except -1:
        """Append the message of one row; False when a value is none of its column's."""
        cdef Buffer out = self.out
        cdef Py_ssize_t head = self.begin_message(time, position)
        cdef Py_ssize_t key = out.size
        if self.has_key and not self.images.print_key(out, update):
            return False
        cdef Py_ssize_t value = out.size
        if not self.print_message(update, before_old, after_old):
            return False
        self.end_message(head, partition, value - key if self.has_key else NONE, NONE, out.size - value)
        return True

    cdef Py_ssize_t begin_message(self, uint64_t time, uint64_t position) except -1:
        """Leave room for the head, append the order; return where the head stands."""
        return begin(self.out, time, position)

    cdef int end_message(self, Py_ssize_t head, int64_t partition, Py_ssize_t key, Py_ssize_t orders, Py_ssize_t value) except -1:
        end(self.out, head, partition, key, orders, value)
        self.messages += 1
        self.value_bytes += value
        return 0

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
        cdef Py_ssize_t head = self.begin_message(time, run.first)
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
        self.end_message(head, partition, NONE, orders, out.size - value)
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
