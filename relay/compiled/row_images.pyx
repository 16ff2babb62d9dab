# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Finds the values of row images in the bytes of an event, and prints them. It checks every value against the end of the event."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cython cimport final
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp

from relay.compiled.column_plan import Kind, Wire
from relay.compiled.contracts import check_numbers
from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.column cimport (
    BARE, BASE64, BIT, BYTES, CHARACTERS, DATE, DATETIME, DECIMAL, DOUBLE, ENUM, FLOAT, FLOATING, JSON, OTHER, QUOTED, SET, SIGNED, TABLE, TIME,
    TIMESTAMP, UNSIGNED, UTF8, VARINT, YEAR, Column, Span, little, same,
)
from relay.compiled.values.java_hash cimport ascii_hash, valid_hash
from relay.compiled.values.value cimport print_binary, print_text

cdef enum:
    SAME
    DIFFERENT
    REFUSED


@final
cdef class RowImages:
    """The row images of one table, which must contain every column. It stores the values of the row that was found last.

    `columns` has the ColumnPlan of each column. `key` has the ordinals of the key columns, `placed` those of the columns that choose the
    partition. `key_head` is the text of a message key before its first value. A row's partition is the absolute value of the XOR of `seed`
    and the hashes of its columns, modulo `partitions`.
    """

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
            self.columns[i].wire = each.wire
            self.columns[i].name = PyBytes_AS_STRING(self.names[i])
            self.columns[i].name_size = PyBytes_GET_SIZE(self.names[i])
        fill(&self.key, key, self.count)
        self.key_head = key_head
        fill(&self.placed, placed, self.count)
        self.seed = seed
        self.partitions = partitions
        self.reason = BY_VALUE

    def __dealloc__(self):
        free(self.columns)
        free(self.first)
        free(self.second)
        free(self.key.each)
        free(self.placed.each)

    cdef const uint8_t* next_row(self, const uint8_t* at, const uint8_t* end, bint update) noexcept:
        """Find the values of the next row, in both images of an update; return the address after it.

        Return NULL if the row is damaged, or an update changes the key or a column that chooses the partition; `reason` then says which.
        Otherwise `reason` becomes BY_VALUE, for the case that printing a value of this row fails.
        """
        at = self.scan(at, end, self.first)
        if at != NULL and update:
            at = self.scan(at, end, self.second)
            if at != NULL and self.moves():
                self.reason = BY_MOVE
                return NULL
        if at != NULL:
            self.reason = BY_VALUE
        return at

    cdef const uint8_t* scan(self, const uint8_t* at, const uint8_t* end, Span* spans) noexcept:
        """Find every value of an image; return NULL if the image exceeds the event, or a NOT NULL column is NULL."""
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

    cdef bint moves(self) noexcept:
        """Return whether an update changes the key, or a column that chooses the partition."""
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

    cdef bint print_row(self, Buffer out, bint update) except -1:
        cdef Span* image = self.second if update else self.first
        cdef int i
        for i in range(self.count):
            if not print_member(self, out, i, &image[i], 0):
                return False
        out.byte(b"}")
        return True

    cdef bint print_old(self, Buffer out, Buffer compared_in) except -1:
        """Print the former values of the changed columns. `compared_in` is a buffer for comparisons."""
        cdef int i, compared
        cdef bint none_yet = True
        out.byte(b"{")
        for i in range(self.count):
            if same(&self.first[i], &self.second[i]):
                continue
            if self.columns[i].by_text and self.first[i].size >= 0 and self.second[i].size >= 0:
                compared = self.compare(compared_in, i)
                if compared == REFUSED:
                    return False
                if compared == SAME:
                    continue
            if not none_yet:
                out.byte(b",")
            none_yet = False
            if not print_member(self, out, i, &self.first[i], 1):
                return False
        out.byte(b"}")
        return True

    cdef bint print_typed(self, Buffer out, Buffer scratch, Span* image, bint binary) except -1:
        """Append the image of a row with typed values: a JSON object, or an Avro record if `binary`. `scratch` is a buffer for texts."""
        cdef Column* column
        cdef int i
        for i in range(self.count):
            column = &self.columns[i]
            if binary:
                if not print_binary(out, scratch, column, &image[i], self.extras, i):
                    return False
            elif column.wire == QUOTED:
                if not print_member(self, out, i, &image[i], 0):
                    return False
            elif not print_bare(self, out, i, &image[i]):
                return False
        if not binary:
            out.byte(b"}")
        return True

    cdef int compare(self, Buffer both, int i) except -1:
        """Return whether the printed texts of both values of an update are SAME or DIFFERENT; REFUSED if a value is not valid for its column."""
        cdef Py_ssize_t size
        both.empty()
        if not print_text(both, &self.columns[i], &self.first[i], self.extras, i):
            return REFUSED
        size = both.size
        if not print_text(both, &self.columns[i], &self.second[i], self.extras, i):
            return REFUSED
        return SAME if both.size == 2 * size and memcmp(both.data, both.data + size, size) == 0 else DIFFERENT

    cdef bint print_key(self, Buffer out, bint update) except -1:
        cdef Span* image = self.second if update else self.first
        cdef int i, n
        out.put(PyBytes_AS_STRING(self.key_head), PyBytes_GET_SIZE(self.key_head))
        for n in range(self.key.count):
            i = self.key.each[n]
            out.byte(b",")
            if not self.print_value(out, i, &image[i]):
                return False
        out.byte(b"]")
        return True

    cdef int64_t place(self, Buffer out, bint update) except -2:
        """Return the partition of the row; -1 if a text cannot be hashed here. `out` is a buffer for texts."""
        cdef Span* image = self.second if update else self.first
        cdef int32_t value = self.seed
        cdef uint32_t hashed
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
        """Append a JSON string, or null; return False if the value is not valid for its column."""
        if span.size < 0:
            out.put(b"null", 4)
            return True
        out.byte(b'"')
        if not print_text(out, &self.columns[i], span, self.extras, i):
            return False
        out.byte(b'"')
        return True


cdef inline bint print_member(RowImages self, Buffer out, int i, Span* span, int skipped) except -1:
    """Append the column's name, without its first `skipped` bytes, and the value as a JSON string or null."""
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


cdef inline bint print_bare(RowImages self, Buffer out, int i, Span* span) except -1:
    """Append the column's name, and the value as a JSON number or null."""
    cdef Column* column = &self.columns[i]
    out.put(column.name, column.name_size - 1)
    if span.size < 0:
        out.put(b"null", 4)
        return True
    if column.kind == YEAR:  # the year 0 has one digit
        out.number(1900 + span.start[0] if span.start[0] else 0)
        return True
    return print_text(out, column, span, self.extras, i)


cdef int fill(Ordinals* ordinals, tuple numbers, int columns) except -1:
    """Store the ordinals of columns. `columns` is the number of columns of the table."""
    cdef int i
    ordinals.each = <int*>malloc(max(1, len(numbers)) * sizeof(int))
    if ordinals.each == NULL:
        raise MemoryError
    for i in range(len(numbers)):
        if not 0 <= numbers[i] < columns:
            raise IndexError(numbers[i])
        ordinals.each[i] = numbers[i]
    ordinals.count = <int>len(numbers)
    return 0


check_numbers(
    Kind, SIGNED=SIGNED, UNSIGNED=UNSIGNED, DECIMAL=DECIMAL, DATE=DATE, DATETIME=DATETIME, TIMESTAMP=TIMESTAMP, TIME=TIME, YEAR=YEAR,
    UTF8=UTF8, TABLE=TABLE, BASE64=BASE64, ENUM=ENUM, SET=SET, BIT=BIT, OTHER=OTHER, FLOAT=FLOAT, DOUBLE=DOUBLE, JSON=JSON,
)
check_numbers(Wire, QUOTED=QUOTED, BARE=BARE, VARINT=VARINT, FLOATING=FLOATING, BYTES=BYTES, CHARACTERS=CHARACTERS)
