# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Prints the rows of one event from its bytes: spans first, every one checked against the event's end, then texts.

It returns a SlowReason for an event that it does not print: the readable path in decode, encode and partition then does the work,
or names the damage. Both give the same bytes (tests/unit/pipeline).
"""

from cython cimport final
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy

from relay.compiled.column_plan import Kind
from relay.compiled.contracts import check_fields, check_numbers
from relay.compiled.fields cimport (
    BEGIN_COMMIT_TIME_MS, BEGIN_GTID, BEGIN_HEADER_TIME_S, BEGIN_POSITION,
    EVENT_BODY, EVENT_HEADER_TIME_S, EVENT_IMAGES_AT, EVENT_OPERATION, EVENT_POSITION, EVENT_ROWS, EVENT_SIZE_BYTES, EVENT_TABLE,
    POSITION_FILE, POSITION_OFFSET,
)
from relay.model.change import Operation, RowsEvent, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition
from relay.model.row_path import SlowReason

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

include "block.pxi"
include "memory.pxi"
include "buffer.pxi"
include "texts.pxi"
include "java_hash.pxi"
include "numbers.pxi"
include "floating.pxi"
include "times.pxi"
include "json_binary.pxi"
include "json_text.pxi"
include "values.pxi"


cdef uint64_t LATEST_TIME_MS = 9999999999999  # of 13 digits, in the year 2286

cdef enum:
    LARGEST_PART = 0x7FFFFFFF

cdef enum:
    SAME
    DIFFERENT
    REFUSED

cdef enum:  # why an event is not printed here, indices of `_REASONS`
    BY_DAMAGE
    BY_VALUE
    BY_MOVE
    BY_SIZE

cdef tuple _REASONS = (SlowReason.DAMAGED, SlowReason.VALUE, SlowReason.MOVED_ROW, SlowReason.LARGE)

@final
cdef class Run:
    """Rows that become one message."""

    cdef Buffer data
    cdef Buffer old
    cdef Buffer offsets
    cdef uint64_t first
    cdef Py_ssize_t rows

    def __cinit__(self, uint64_t first):
        self.data = Buffer()
        self.old = Buffer()
        self.offsets = Buffer()
        self.first = first
        self.rows = 0


@final
cdef class Workplace:
    """What an event is printed in; lent for one event, so that ten thousand printers need not one each."""

    cdef Buffer out
    cdef Buffer placing
    cdef Buffer compared

    def __cinit__(self):
        self.out = Buffer()
        self.placing = Buffer()
        self.compared = Buffer()


cdef list _workplaces = []  # as many as threads have printed at once


@final
cdef class RowPrinter:
    """The printer of one table under one name, for images that hold every column.

    `columns` are the ColumnPlan of each column. `key` and `placed` are ordinals, `key_head` the key up to its first value, `seed` and `partitions` what placing starts from and is cut by.
    """

    cdef Column* columns
    cdef Span* first
    cdef Span* second
    cdef int count
    cdef int null_bytes
    cdef list extras
    cdef list names
    cdef Ordinals key
    cdef Ordinals placed
    cdef bytes key_head
    cdef int32_t seed
    cdef int64_t partitions
    cdef Buffer out
    cdef Buffer placing
    cdef Buffer compared
    cdef Py_ssize_t messages
    cdef Py_ssize_t value_bytes
    cdef int reason  # why the last event was not printed

    def __cinit__(self, columns, tuple key, bytes key_head, tuple placed, seed, partitions):
        cdef int i
        self.count = len(columns)
        self.null_bytes = (self.count + 7) // 8
        self.columns = <Column*>malloc(self.count * sizeof(Column))
        self.first = <Span*>malloc(self.count * sizeof(Span))
        self.second = <Span*>malloc(self.count * sizeof(Span))
        if self.columns == NULL or self.first == NULL or self.second == NULL:
            raise MemoryError
        self.extras = [each.extra for each in columns]
        self.names = [each.name + b'"' for each in columns]
        for i in range(self.count):
            each = columns[i]
            self.columns[i].kind = each.kind
            self.columns[i].width = each.width
            self.columns[i].variable = each.variable
            self.columns[i].nullable = each.nullable
            self.columns[i].by_text = each.by_text
            self.columns[i].digits = each.digits
            self.columns[i].scale = each.scale
            self.columns[i].name = PyBytes_AS_STRING(self.names[i])
            self.columns[i].name_size = PyBytes_GET_SIZE(self.names[i])
        fill(&self.key, key, self.count)
        self.key_head = key_head
        fill(&self.placed, placed, self.count)
        self.seed = seed
        self.partitions = partitions
        self.messages = self.value_bytes = 0
        self.reason = BY_VALUE

    def __dealloc__(self):
        free(self.columns)
        free(self.first)
        free(self.second)
        free(self.key.each)
        free(self.placed.each)

    def print_rows(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, largest):
        """Return (rows of the event, messages, bytes of their values together, block of messages), or why not as a SlowReason.

        `before_old` stands between a row and `old`, `after_old` behind; for an update `old` itself is printed between them. `time` is the
        execute time of all rows, `position` the execute position before the first row; the first `skip` rows give no message.
        `largest` None: one message a row; else one for each partition, in the order of their first rows, and LARGE where the value of
        one would have more than `largest` bytes. The block is that of relay.model.message.
        """
        cdef Workplace place = <Workplace>(_workplaces.pop() if _workplaces else Workplace())
        self.out, self.placing, self.compared = place.out, place.placing, place.compared
        try:
            return self.print_event(body, start, update, before_old, after_old, time, position, skip, largest)
        finally:
            self.out = self.placing = self.compared = None
            _workplaces.append(place)

    cdef object print_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip, largest):
        cdef Py_ssize_t rows
        self.out.empty()
        self.messages = self.value_bytes = 0
        if largest is None:
            rows = self.add_event(body, start, update, before_old, after_old, time, position, skip)
        else:
            rows = self.add_packed_event(body, start, update, before_old, after_old, time, position, skip, largest)
        return _REASONS[self.reason] if rows < 0 else (rows, self.messages, self.value_bytes, PyBytes_FromStringAndSize(self.out.data, self.out.size))

    cdef Py_ssize_t add_event(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, Py_ssize_t skip) except -2:
        """Append a message for each row behind `skip`; return how many rows the event has, -1 where it is left alone."""
        cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(body)
        cdef const uint8_t* end = at + PyBytes_GET_SIZE(body)
        cdef Py_ssize_t rows = 0
        cdef int64_t partition
        if start > PyBytes_GET_SIZE(body) or time > LATEST_TIME_MS:
            self.reason = BY_VALUE if time > LATEST_TIME_MS else BY_DAMAGE
            return -1
        at += start
        while at < end:
            at = self.next_row(at, end, update)
            if at == NULL:
                return -1
            self.reason = BY_VALUE
            rows += 1
            position += 1
            if rows <= skip:
                continue
            partition = self.place(self.second if update else self.first)
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
            self.reason = BY_VALUE if time > LATEST_TIME_MS else BY_DAMAGE
            return -1
        at += start
        while at < end:
            at = self.next_row(at, end, update)
            if at == NULL:
                return -1
            self.reason = BY_VALUE
            rows += 1
            position += 1
            if rows <= skip:
                continue
            partition = self.place(self.second if update else self.first)
            if partition < 0:
                return -1
            run = runs.get(partition)
            if run is None:
                run = runs[partition] = Run(position)
            if not self.add_row(<Run>run, update, position):
                return -1
        for place, run in runs.items():
            if self.add_packed(<Run>run, update, before_old, after_old, time, place) > largest:
                self.reason = BY_SIZE
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
            at = self.scan(at, end, self.first)
            if at != NULL and update:
                at = self.scan(at, end, self.second)
            if at == NULL:
                return None
            rows += 1
        return rows

    cdef bint add_message(self, bint update, bytes before_old, bytes after_old, uint64_t time, uint64_t position, int64_t partition) except -1:
        """Append the message of one row; False when a value is none of its column's."""
        cdef Buffer out = self.out
        cdef Py_ssize_t head = self.begin_message(time, position)
        cdef Py_ssize_t key = out.size
        if self.key.count and not self.print_key(self.second if update else self.first):
            return False
        cdef Py_ssize_t value = out.size
        if not self.print_message(update, before_old, after_old):
            return False
        self.end_message(head, partition, value - key if self.key.count else NONE, NONE, out.size - value)
        return True

    cdef Py_ssize_t begin_message(self, uint64_t time, uint64_t position) except -1:
        """Leave room for the head, append the order; return where the head stands."""
        cdef Buffer out = self.out
        cdef Py_ssize_t head = out.size
        cdef char* order
        out.need(sizeof(Head) + ORDER_BYTES)
        order = out.data + head + sizeof(Head)
        write_digits(order, time, ORDER_TIME_BYTES - 1)
        order[ORDER_TIME_BYTES - 1] = b"."
        write_digits(order + ORDER_TIME_BYTES, position, ORDER_BYTES - ORDER_TIME_BYTES)
        out.size += sizeof(Head) + ORDER_BYTES
        return head

    cdef int end_message(self, Py_ssize_t head, int64_t partition, Py_ssize_t key, Py_ssize_t orders, Py_ssize_t value) except -1:
        cdef Head sizes
        if value > LARGEST_PART or key > LARGEST_PART or orders > LARGEST_PART:
            raise MemoryError
        sizes.partition, sizes.value, sizes.key, sizes.orders = <int32_t>partition, <int32_t>value, <int32_t>key, <int32_t>orders
        memcpy(self.out.data + head, &sizes, sizeof(Head))
        self.messages += 1
        self.value_bytes += value
        return 0

    cdef bint add_row(self, Run run, bint update, uint64_t position) except -1:
        if run.rows:
            run.data.byte(b",")
            run.offsets.byte(b",")
        run.rows += 1
        run.offsets.number(position - run.first)
        if not self.print_row(run.data, self.second if update else self.first):
            return False
        if update:
            if run.rows > 1:
                run.old.byte(b",")
            return self.print_old(run.old)
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

    cdef const uint8_t* next_row(self, const uint8_t* at, const uint8_t* end, bint update):
        """Find the values of the next row, of both its images for an update; NULL where it is damaged, or moves to another key or place."""
        at = self.scan(at, end, self.first)
        if at == NULL or not update:
            return at
        at = self.scan(at, end, self.second)
        if at != NULL and self.moves():
            self.reason = BY_MOVE
            return NULL
        return at

    cdef const uint8_t* scan(self, const uint8_t* at, const uint8_t* end, Span* spans) noexcept:
        """Find every value of an image; NULL when it does not fit into the event, or a column is null that cannot be."""
        cdef const uint8_t* nulls = at
        cdef Py_ssize_t size
        cdef Column* column
        cdef int i
        self.reason = BY_DAMAGE
        if end - at < self.null_bytes:
            return NULL
        at += self.null_bytes
        for i in range(self.count):
            column = &self.columns[i]
            if nulls[i >> 3] >> (i & 7) & 1:
                if not column.nullable:
                    self.reason = BY_VALUE
                    return NULL
                spans[i].size = -1
                continue
            if end - at < column.width:
                return NULL
            size = column.width
            if column.variable:
                size = <Py_ssize_t>little(at, column.width)
                at += column.width
                if end - at < size:
                    return NULL
            spans[i].start = at
            spans[i].size = size
            at += size
        return at

    cdef bint moves(self):
        """Whether an update changes the key or the place of its row."""
        cdef int i, n
        for n in range(self.key.count):
            i = self.key.each[n]
            if not same(&self.first[i], &self.second[i]):
                return True
        for n in range(self.placed.count):
            i = self.placed.each[n]
            if not same(&self.first[i], &self.second[i]):
                return True
        return False

    cdef bint print_message(self, bint update, bytes before_old, bytes after_old) except -1:
        cdef Buffer out = self.out
        cdef Span* image = self.second if update else self.first
        out.put(b'{"data":[', 9)
        if not self.print_row(out, image):
            return False
        put_bytes(out, before_old)
        if update:
            out.byte(b"[")
            if not self.print_old(out):
                return False
            out.byte(b"]")
        put_bytes(out, after_old)
        return True

    cdef bint print_row(self, Buffer out, Span* image) except -1:
        cdef int i
        for i in range(self.count):
            if not self.print_member(out, i, &image[i], 0):
                return False
        out.byte(b"}")
        return True

    cdef inline bint print_member(self, Buffer out, int i, Span* span, int skipped) except -1:
        """Append name and value, without the first `skipped` bytes of the name."""
        cdef Column* column = &self.columns[i]
        if span.size < 0:
            out.put(column.name + skipped, column.name_size - skipped - 1)
            out.put(b"null", 4)
            return True
        out.put(column.name + skipped, column.name_size - skipped)
        if not print_text(out, &self.columns[i], span, self.extras, i):
            return False
        out.byte(b'"')
        return True

    cdef bint print_old(self, Buffer out) except -1:
        """The former values of what changed."""
        cdef int i, compared
        cdef bint none_yet = True
        out.byte(b"{")
        for i in range(self.count):
            if same(&self.first[i], &self.second[i]):
                continue
            if self.columns[i].by_text and self.first[i].size >= 0 and self.second[i].size >= 0:
                compared = self.compare(i)
                if compared == REFUSED:
                    return False
                if compared == SAME:
                    continue
            if not none_yet:
                out.byte(b",")
            none_yet = False
            if not self.print_member(out, i, &self.first[i], 1):
                return False
        out.byte(b"}")
        return True

    cdef int compare(self, int i) except -1:
        """Whether both values of an update print SAME or DIFFERENT; REFUSED when one is none of its column's."""
        cdef Buffer both = self.compared
        cdef Py_ssize_t size
        both.empty()
        if not print_text(both, &self.columns[i], &self.first[i], self.extras, i):
            return REFUSED
        size = both.size
        if not print_text(both, &self.columns[i], &self.second[i], self.extras, i):
            return REFUSED
        return SAME if both.size == 2 * size and memcmp(both.data, both.data + size, size) == 0 else DIFFERENT

    cdef bint print_key(self, Span* image) except -1:
        cdef Buffer out = self.out
        cdef int i, n
        out.put(PyBytes_AS_STRING(self.key_head), PyBytes_GET_SIZE(self.key_head))
        for n in range(self.key.count):
            i = self.key.each[n]
            out.byte(b",")
            if not self.print_value(out, i, &image[i]):
                return False
        out.byte(b"]")
        return True

    cdef int64_t place(self, Span* image) except -2:
        """The partition; -1 when a text cannot be hashed here."""
        cdef int32_t value = self.seed
        cdef uint32_t hashed
        cdef Buffer out = self.placing
        cdef int i, n
        for n in range(self.placed.count):
            i = self.placed.each[n]
            if image[i].size < 0:
                continue
            out.size = 0
            if self.columns[i].kind == UTF8:
                if not valid_hash(image[i].start, image[i].size, &hashed):
                    return -1
            else:
                if not print_text(out, &self.columns[i], &image[i], self.extras, i):
                    return -1
                hashed = ascii_hash(out.data, out.size)
            value ^= <int32_t>hashed
        return (<int64_t>value if value >= 0 else -<int64_t>value) % self.partitions

    cdef bint print_value(self, Buffer out, int i, Span* span) except -1:
        """Append a JSON string, or null; False when the value is none of the column's."""
        if span.size < 0:
            out.put(b"null", 4)
            return True
        out.byte(b'"')
        if not print_text(out, &self.columns[i], span, self.extras, i):
            return False
        out.byte(b'"')
        return True


cdef object INSERT = Operation.INSERT
cdef object UPDATE = Operation.UPDATE

include "transactions.pxi"


check_numbers(
    Kind, SIGNED=SIGNED, UNSIGNED=UNSIGNED, DECIMAL=DECIMAL, DATE=DATE, DATETIME=DATETIME, TIMESTAMP=TIMESTAMP, TIME=TIME, YEAR=YEAR,
    UTF8=UTF8, TABLE=TABLE, BASE64=BASE64, ENUM=ENUM, SET=SET, BIT=BIT, OTHER=OTHER, FLOAT=FLOAT, DOUBLE=DOUBLE, JSON=JSON,
)
check_fields(
    RowsEvent, operation=EVENT_OPERATION, table=EVENT_TABLE, rows=EVENT_ROWS, header_time_s=EVENT_HEADER_TIME_S, position=EVENT_POSITION,
    size_bytes=EVENT_SIZE_BYTES, body=EVENT_BODY, images_at=EVENT_IMAGES_AT,
)
check_fields(
    TransactionBegin, position=BEGIN_POSITION, gtid=BEGIN_GTID, commit_time_ms=BEGIN_COMMIT_TIME_MS, header_time_s=BEGIN_HEADER_TIME_S,
)
check_fields(BinlogPosition, file=POSITION_FILE, offset=POSITION_OFFSET)
