# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Prints the rows of one event from its bytes: spans first, every one checked against the event's end, then texts.

Whatever it does not understand, or finds damaged, it leaves alone (None): the readable path in decode, encode and partition then
does the work, or says what is wrong. Both give the same bytes (tests/unit/compiled).
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_Free
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy

cdef extern from "Python.h":
    char* PyOS_double_to_string(double value, char format_code, int precision, int flags, int* type) except NULL

cdef enum:
    SIGNED = 0
    UNSIGNED = 1
    DECIMAL = 2
    DATE = 3
    DATETIME = 4
    TIMESTAMP = 5
    TIME = 6
    YEAR = 7
    UTF8 = 8
    TABLE = 9
    BASE64 = 10
    ENUM = 11
    SET = 12
    BIT = 13
    OTHER = 14
    FLOAT = 15
    DOUBLE = 16

cdef enum:
    PLAIN_PLACES = 15  # how far from the digits the point may stand without an exponent
    MOST_DIGITS = 64
    ORDER_BYTES = 33
    ORDER_TIME_BYTES = 14
    DAY_SECONDS = 86400

cdef uint64_t _TENS[20]
cdef int _i
_TENS[0] = 1
for _i in range(1, 20):
    _TENS[_i] = _TENS[_i - 1] * 10

cdef const char* _HEX = b"0123456789abcdef"
cdef const char* _BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
cdef int _BYTES_FOR_DIGITS[10]
_BYTES_FOR_DIGITS[:] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4]

cdef struct Column:
    int kind
    int width          # bytes of a fixed value, or of the length before a variable one
    bint variable
    bint nullable
    bint by_text       # equal when it prints equal
    int digits         # fractional digits, DECIMAL's precision, BIT's bits, BINARY's length, labels
    int scale
    const char* name   # `{"a":` or `,"b":`
    Py_ssize_t name_size

cdef struct Span:
    const uint8_t* start
    Py_ssize_t size    # -1: NULL


cdef class Buffer:
    """Bytes that grow."""

    cdef char* data
    cdef Py_ssize_t size
    cdef Py_ssize_t room

    def __cinit__(self):
        self.room = 4096
        self.data = <char*>malloc(self.room)
        self.size = 0
        if self.data == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.data)

    cdef inline int need(self, Py_ssize_t more) except -1:
        cdef Py_ssize_t wanted = self.size + more
        cdef char* moved
        if wanted > self.room:
            while self.room < wanted:
                self.room *= 2
            moved = <char*>realloc(self.data, self.room)
            if moved == NULL:
                raise MemoryError
            self.data = moved
        return 0

    cdef inline int put(self, const char* text, Py_ssize_t size) except -1:
        self.need(size)
        memcpy(self.data + self.size, text, size)
        self.size += size
        return 0

    cdef inline int byte(self, char one) except -1:
        self.need(1)
        self.data[self.size] = one
        self.size += 1
        return 0

    cdef inline int number(self, uint64_t value) except -1:
        cdef char digits[20]
        cdef int at = 20
        while True:
            at -= 1
            digits[at] = 48 + value % 10
            value //= 10
            if value == 0:
                break
        return self.put(digits + at, 20 - at)

    cdef inline int padded(self, uint64_t value, int width) except -1:
        cdef int at
        self.need(width)
        for at in range(width - 1, -1, -1):
            self.data[self.size + at] = 48 + value % 10
            value //= 10
        self.size += width
        return 0


cdef inline uint64_t little(const uint8_t* at, int width) noexcept:
    cdef uint64_t value = 0
    cdef int i
    for i in range(width - 1, -1, -1):
        value = value << 8 | at[i]
    return value


cdef inline uint64_t big(const uint8_t* at, int width) noexcept:
    cdef uint64_t value = 0
    cdef int i
    for i in range(width):
        value = value << 8 | at[i]
    return value


cdef inline bint same(Span* left, Span* right) noexcept:
    return left.size == right.size and (left.size <= 0 or memcmp(left.start, right.start, left.size) == 0)


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


cdef bytes order_bytes(bytes time, uint64_t position):
    cdef char order[ORDER_BYTES]
    memcpy(order, PyBytes_AS_STRING(time), ORDER_TIME_BYTES)
    digits(order + ORDER_TIME_BYTES, position)
    return PyBytes_FromStringAndSize(order, ORDER_BYTES)


cdef class RowPrinter:
    """The printer of one table under one name, for images that hold every column.

    `columns` are tuples (kind, width, variable, nullable, by_text, digits, scale, name, extra): `extra` is the labels' bytes of
    ENUM and SET, the 256 bytes objects of TABLE (None: no character), the function bytes → text of OTHER. `key` and `placed` are
    ordinals, `key_head` the key up to its first value, `seed` and `partitions` what placing starts from and is cut by; the names are
    those of the headers with a message's first order and with those of its other rows.
    """

    cdef Column* columns
    cdef Span* first
    cdef Span* second
    cdef int count
    cdef int null_bytes
    cdef list extras
    cdef list names
    cdef tuple key
    cdef tuple placed
    cdef bytes key_head
    cdef int32_t seed
    cdef int64_t partitions
    cdef Buffer out
    cdef Buffer key_out
    cdef str order_name
    cdef str orders_name

    def __cinit__(self, columns, tuple key, bytes key_head, tuple placed, seed, partitions, str order_name, str orders_name):
        cdef int i
        self.count = len(columns)
        self.null_bytes = (self.count + 7) // 8
        self.columns = <Column*>malloc(self.count * sizeof(Column))
        self.first = <Span*>malloc(self.count * sizeof(Span))
        self.second = <Span*>malloc(self.count * sizeof(Span))
        if self.columns == NULL or self.first == NULL or self.second == NULL:
            raise MemoryError
        self.extras = [each[8] for each in columns]
        self.names = [each[7] for each in columns]
        for i in range(self.count):
            each = columns[i]
            self.columns[i].kind = each[0]
            self.columns[i].width = each[1]
            self.columns[i].variable = each[2]
            self.columns[i].nullable = each[3]
            self.columns[i].by_text = each[4]
            self.columns[i].digits = each[5]
            self.columns[i].scale = each[6]
            self.columns[i].name = PyBytes_AS_STRING(self.names[i])
            self.columns[i].name_size = PyBytes_GET_SIZE(self.names[i])
        self.key = key
        self.key_head = key_head
        self.placed = placed
        self.seed = seed
        self.partitions = partitions
        self.out = Buffer()
        self.key_out = Buffer()
        self.order_name = order_name
        self.orders_name = orders_name

    def __dealloc__(self):
        free(self.columns)
        free(self.first)
        free(self.second)

    def print_rows(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, bytes time, uint64_t position, Py_ssize_t skip, list tail):
        """Return (rows of the event, messages), or None.

        `before_old` stands between a row and `old`, `after_old` behind; for an update `old` itself is printed between them. `time` is
        the order header's first part, `position` the execute position before the first row; the first `skip` rows give no message.
        `tail` are the headers behind the order.
        """
        cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(body)
        cdef const uint8_t* end = at + PyBytes_GET_SIZE(body)
        cdef Py_ssize_t rows = 0
        cdef list messages = []
        if start > PyBytes_GET_SIZE(body):
            return None
        at += start
        while at < end:
            at = self.next_row(at, end, update)
            if at == NULL:
                return None
            rows += 1
            position += 1
            if rows <= skip:
                continue
            if not self.print_message(update, before_old, after_old):
                return None
            image = self.second if update else self.first
            partition = self.place(image)
            if partition < 0:
                return None
            key = None
            if self.key:
                if not self.print_key(image):
                    return None
                key = PyBytes_FromStringAndSize(self.key_out.data, self.key_out.size)
            messages.append((
                PyBytes_FromStringAndSize(self.out.data, self.out.size),
                key,
                [(self.order_name, order_bytes(time, position)), *tail],
                partition,
            ))
        return rows, messages

    def pack_rows(self, bytes body, Py_ssize_t start, bint update, bytes before_old, bytes after_old, bytes time, uint64_t position, Py_ssize_t skip, list tail, Py_ssize_t largest):
        """Return (rows of the event, messages) with one message for each partition, in the order of their first rows, or None.

        As `print_rows`; None also where a message's value would have more than `largest` bytes.
        """
        cdef const uint8_t* at = <const uint8_t*>PyBytes_AS_STRING(body)
        cdef const uint8_t* end = at + PyBytes_GET_SIZE(body)
        cdef Py_ssize_t rows = 0
        cdef dict runs = {}
        cdef Run run
        if start > PyBytes_GET_SIZE(body):
            return None
        at += start
        while at < end:
            at = self.next_row(at, end, update)
            if at == NULL:
                return None
            rows += 1
            position += 1
            if rows <= skip:
                continue
            image = self.second if update else self.first
            partition = self.place(image)
            if partition < 0:
                return None
            found = runs.get(partition)
            if found is None:
                found = runs[partition] = Run(position)
            run = <Run>found
            if not self.add_row(run, update, position):
                return None
        messages = []
        for partition, found in runs.items():
            value = self.packed_value(<Run>found, update, before_old, after_old)
            if PyBytes_GET_SIZE(value) > largest:
                return None
            messages.append((value, None, self.packed_headers(<Run>found, time, tail), partition))
        return rows, messages

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

    cdef bytes packed_value(self, Run run, bint update, bytes before_old, bytes after_old):
        cdef Buffer out = self.out
        out.size = 0
        out.put(b'{"data":[', 9)
        out.put(run.data.data, run.data.size)
        put_bytes(out, before_old)
        if update:
            out.byte(b"[")
            out.put(run.old.data, run.old.size)
            out.byte(b"]")
        put_bytes(out, after_old)
        return PyBytes_FromStringAndSize(out.data, out.size)

    cdef list packed_headers(self, Run run, bytes time, list tail):
        own = (self.order_name, order_bytes(time, run.first))
        if run.rows == 1:
            return [own, *tail]
        return [own, (self.orders_name, PyBytes_FromStringAndSize(run.offsets.data, run.offsets.size)), *tail]

    cdef const uint8_t* next_row(self, const uint8_t* at, const uint8_t* end, bint update):
        """Find the values of the next row, of both its images for an update; NULL where it is damaged, or moves to another key or place."""
        at = self.scan(at, end, self.first)
        if at == NULL or not update:
            return at
        at = self.scan(at, end, self.second)
        return NULL if at == NULL or self.moves() else at

    cdef const uint8_t* scan(self, const uint8_t* at, const uint8_t* end, Span* spans) noexcept:
        """Find every value of an image; NULL when it does not fit into the event."""
        cdef const uint8_t* nulls = at
        cdef Py_ssize_t size
        cdef Column* column
        cdef int i
        if end - at < self.null_bytes:
            return NULL
        at += self.null_bytes
        for i in range(self.count):
            column = &self.columns[i]
            if nulls[i >> 3] >> (i & 7) & 1:
                if not column.nullable:
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
        cdef int i
        for i in self.key:
            if not same(&self.first[i], &self.second[i]):
                return True
        for i in self.placed:
            if not same(&self.first[i], &self.second[i]):
                return True
        return False

    cdef bint print_message(self, bint update, bytes before_old, bytes after_old) except -1:
        cdef Buffer out = self.out
        cdef Span* image = self.second if update else self.first
        out.size = 0
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
            out.put(self.columns[i].name, self.columns[i].name_size)
            if not self.print_value(out, i, &image[i]):
                return False
        out.byte(b"}")
        return True

    cdef bint print_old(self, Buffer out) except -1:
        """The former values of what changed."""
        cdef int i
        cdef bint none_yet = True
        out.byte(b"{")
        for i in range(self.count):
            if same(&self.first[i], &self.second[i]) or self.prints_same(i):
                continue
            if not none_yet:
                out.byte(b",")
            none_yet = False
            out.put(self.columns[i].name + 1, self.columns[i].name_size - 1)
            if not self.print_value(out, i, &self.first[i]):
                return False
        out.byte(b"}")
        return True

    cdef bint prints_same(self, int i):
        cdef Span* left = &self.first[i]
        cdef Span* right = &self.second[i]
        if not self.columns[i].by_text or left.size < 0 or right.size < 0:
            return False
        text = self.extras[i]
        return text((<const char*>left.start)[:left.size]) == text((<const char*>right.start)[:right.size])

    cdef bint print_key(self, Span* image) except -1:
        cdef Buffer out = self.key_out
        cdef int i
        out.size = 0
        out.put(PyBytes_AS_STRING(self.key_head), PyBytes_GET_SIZE(self.key_head))
        for i in self.key:
            out.byte(b",")
            if not self.print_value(out, i, &image[i]):
                return False
        out.byte(b"]")
        return True

    cdef int64_t place(self, Span* image) except -2:
        """The partition; -1 when a text cannot be hashed here."""
        cdef int32_t value = self.seed
        cdef uint32_t hashed
        cdef Buffer out = self.key_out
        cdef int i
        for i in self.placed:
            if image[i].size < 0:
                continue
            out.size = 0
            if self.columns[i].kind == UTF8:
                if not valid_hash(image[i].start, image[i].size, &hashed):
                    return -1
            else:
                if not self.print_value(out, i, &image[i]):
                    return -1
                hashed = ascii_hash(out.data + 1, out.size - 2)
            value ^= <int32_t>hashed
        return (<int64_t>value if value >= 0 else -<int64_t>value) % self.partitions

    cdef bint print_value(self, Buffer out, int i, Span* span) except -1:
        """Append a JSON string, or null; False when the value is none of the column's."""
        cdef Column* column = &self.columns[i]
        cdef int kind = column.kind
        cdef const uint8_t* at = span.start
        cdef uint64_t number
        cdef int64_t signed_number
        if span.size < 0:
            out.put(b"null", 4)
            return True
        out.byte(b'"')
        if kind == SIGNED:
            signed_number = <int64_t>(little(at, column.width) << (64 - 8 * column.width)) >> (64 - 8 * column.width)
            if signed_number < 0:
                out.byte(b"-")
                out.number(<uint64_t>0 - <uint64_t>signed_number)
            else:
                out.number(<uint64_t>signed_number)
        elif kind == UNSIGNED:
            out.number(little(at, column.width))
        elif kind == UTF8:
            if not print_utf8(out, at, span.size):
                return False
        elif kind == DECIMAL:
            if not print_decimal(out, at, column):
                return False
        elif kind == DATETIME:
            if not print_datetime(out, at, column):
                return False
        elif kind == TIMESTAMP:
            if not print_timestamp(out, at, column):
                return False
        elif kind == DOUBLE or kind == FLOAT:
            if not print_floating(out, at, kind == FLOAT):
                return False
        elif kind == DATE:
            number = little(at, 3)
            if not print_day(out, number >> 9, number >> 5 & 15, number & 31):
                return False
        elif kind == TIME:
            if not print_time(out, at, column):
                return False
        elif kind == YEAR:
            out.padded(1900 + at[0] if at[0] else 0, 4)
        elif kind == BIT:
            number = big(at, column.width)
            if column.digits < 64 and number >> column.digits:
                return False
            out.number(number)
        elif kind == BASE64:
            print_base64(out, at, span.size, column.digits)
        elif kind == ENUM:
            number = little(at, column.width)
            if number > <uint64_t>column.digits:
                return False
            if number:
                put_bytes(out, (<tuple>self.extras[i])[number - 1])
        elif kind == SET:
            if not print_set(out, little(at, column.width), column.digits, self.extras[i]):
                return False
        elif kind == TABLE:
            if not print_table(out, at, span.size, self.extras[i]):
                return False
        else:
            text = (<str>self.extras[i]((<const char*>at)[:span.size])).encode()
            if not print_utf8(out, <const uint8_t*>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)):
                return False
        out.byte(b'"')
        return True


cdef inline int put_bytes(Buffer out, bytes text) except -1:
    return out.put(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))


cdef inline void digits(char* at, uint64_t value) noexcept:
    cdef int i
    for i in range(18, -1, -1):
        at[i] = 48 + value % 10
        value //= 10


cdef inline uint32_t ascii_hash(const char* text, Py_ssize_t size) noexcept:
    """Java's String.hashCode."""
    cdef uint32_t value = 0
    cdef Py_ssize_t i
    for i in range(size):
        value = value * 31 + <uint8_t>text[i]
    return value


cdef inline int utf8_step(const uint8_t* at, Py_ssize_t left, uint32_t* point) noexcept:
    """Bytes of the character at `at` (RFC 3629), 0 for none."""
    cdef uint8_t lead = at[0]
    if lead < 0x80:
        point[0] = lead
        return 1
    if 0xC2 <= lead <= 0xDF:
        if left < 2 or at[1] & 0xC0 != 0x80:
            return 0
        point[0] = (lead & 0x1F) << 6 | (at[1] & 0x3F)
        return 2
    if 0xE0 <= lead <= 0xEF:
        if left < 3 or at[1] & 0xC0 != 0x80 or at[2] & 0xC0 != 0x80:
            return 0
        point[0] = (lead & 0x0F) << 12 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F)
        if point[0] < 0x800 or 0xD800 <= point[0] <= 0xDFFF:
            return 0
        return 3
    if 0xF0 <= lead <= 0xF4:
        if left < 4 or at[1] & 0xC0 != 0x80 or at[2] & 0xC0 != 0x80 or at[3] & 0xC0 != 0x80:
            return 0
        point[0] = <uint32_t>(lead & 0x07) << 18 | (at[1] & 0x3F) << 12 | (at[2] & 0x3F) << 6 | (at[3] & 0x3F)
        if point[0] < 0x10000 or point[0] > 0x10FFFF:
            return 0
        return 4
    return 0


cdef bint valid_hash(const uint8_t* at, Py_ssize_t size, uint32_t* result) noexcept:
    """Java's hash over the UTF-16 units of UTF-8 bytes; False when they are none."""
    cdef uint32_t value = 0, point = 0
    cdef int step
    while size > 0:
        step = utf8_step(at, size, &point)
        if step == 0:
            return False
        if point >= 0x10000:
            point -= 0x10000
            value = value * 31 + (0xD800 | point >> 10)
            value = value * 31 + (0xDC00 | point & 0x3FF)
        else:
            value = value * 31 + point
        at += step
        size -= step
    result[0] = value
    return True


cdef bint print_utf8(Buffer out, const uint8_t* at, Py_ssize_t size) except -1:
    """Append with JSON's escapes; False for bytes that are no UTF-8."""
    cdef uint32_t point = 0
    cdef uint8_t one
    cdef int step
    cdef char* to
    out.need(6 * size)
    to = out.data + out.size
    while size > 0:
        one = at[0]
        if one >= 0x80:
            step = utf8_step(at, size, &point)
            if step == 0:
                return False
            memcpy(to, at, step)
            to += step
            at += step
            size -= step
            continue
        if one >= 0x20 and one != 0x22 and one != 0x5C:
            to[0] = one
            to += 1
        else:
            to += escape(to, one)
        at += 1
        size -= 1
    out.size = to - out.data
    return True


cdef inline int escape(char* to, uint8_t one) noexcept:
    cdef char short_form = 0
    if one == 0x22 or one == 0x5C:
        short_form = one
    elif one == 0x08:
        short_form = 98
    elif one == 0x09:
        short_form = 116
    elif one == 0x0A:
        short_form = 110
    elif one == 0x0C:
        short_form = 102
    elif one == 0x0D:
        short_form = 114
    to[0] = 0x5C
    if short_form:
        to[1] = short_form
        return 2
    memcpy(to + 1, b"u00", 3)
    to[4] = _HEX[one >> 4]
    to[5] = _HEX[one & 15]
    return 6


cdef bint print_table(Buffer out, const uint8_t* at, Py_ssize_t size, tuple characters) except -1:
    cdef Py_ssize_t i
    for i in range(size):
        character = characters[at[i]]
        if character is None:
            return False
        put_bytes(out, character)
    return True


cdef bint print_set(Buffer out, uint64_t mask, int count, tuple labels) except -1:
    cdef int i
    cdef bint none_yet = True
    if count < 64 and mask >> count:
        return False
    for i in range(count):
        if mask >> i & 1:
            if not none_yet:
                out.byte(b",")
            none_yet = False
            put_bytes(out, labels[i])
    return True


cdef int print_base64(Buffer out, const uint8_t* at, Py_ssize_t size, Py_ssize_t padded_size) except -1:
    """Append base64, the bytes first filled with zeros to `padded_size`."""
    cdef Py_ssize_t whole = size if size > padded_size else padded_size
    cdef Py_ssize_t i
    cdef uint32_t three
    cdef char* to
    out.need((whole + 2) // 3 * 4)
    to = out.data + out.size
    for i in range(0, whole, 3):
        three = <uint32_t>(at[i] if i < size else 0) << 16
        three |= <uint32_t>(at[i + 1] if i + 1 < size else 0) << 8
        three |= at[i + 2] if i + 2 < size else 0
        to[0] = _BASE64[three >> 18]
        to[1] = _BASE64[three >> 12 & 63]
        to[2] = _BASE64[three >> 6 & 63] if i + 1 < whole else 0x3D
        to[3] = _BASE64[three & 63] if i + 2 < whole else 0x3D
        to += 4
    out.size = to - out.data
    return 0


cdef bint print_decimal(Buffer out, const uint8_t* raw, Column* column) except -1:
    cdef uint8_t copy[40]
    cdef uint8_t flip
    cdef const uint8_t* at = copy
    cdef int whole = column.digits - column.scale
    cdef int left, group, i
    cdef uint64_t number
    cdef bint begun = False
    flip = 0 if raw[0] & 0x80 else 0xFF
    for i in range(column.width):
        copy[i] = raw[i] ^ flip
    copy[0] ^= 0x80
    if flip:
        out.byte(b"-")
    left = whole
    while left > 0:
        group = left % 9 if left % 9 else 9
        number = big(at, _BYTES_FOR_DIGITS[group])
        if number >= _TENS[group]:
            return False
        at += _BYTES_FOR_DIGITS[group]
        left -= group
        if begun:
            out.padded(number, group)
        elif number:
            begun = True
            out.number(number)
    if not begun:
        out.byte(b"0")
    left = column.scale
    if left:
        out.byte(b".")
    while left > 0:
        group = 9 if left >= 9 else left
        number = big(at, _BYTES_FOR_DIGITS[group])
        if number >= _TENS[group]:
            return False
        at += _BYTES_FOR_DIGITS[group]
        left -= group
        out.padded(number, group)
    return True


cdef inline bint print_day(Buffer out, uint64_t year, uint64_t month, uint64_t day) except -1:
    if year > 9999 or month > 12:
        return False
    out.padded(year, 4)
    out.byte(b"-")
    out.padded(month, 2)
    out.byte(b"-")
    out.padded(day, 2)
    return True


cdef inline int print_clock(Buffer out, uint64_t hour, uint64_t minute, uint64_t second) except -1:
    out.padded(hour, 2 if hour < 100 else 3)
    out.byte(b":")
    out.padded(minute, 2)
    out.byte(b":")
    out.padded(second, 2)
    return 0


cdef inline bint print_fraction(Buffer out, uint64_t fraction, int precision) except -1:
    cdef int stored = (precision + 1) // 2 * 2
    if precision == 0:
        return True
    if fraction >= _TENS[stored]:
        return False
    out.byte(b".")
    out.padded(fraction // _TENS[stored - precision], precision)
    return True


cdef bint print_datetime(Buffer out, const uint8_t* at, Column* column) except -1:
    cdef uint64_t packed = big(at, 5)
    cdef uint64_t months, hour, minute, second
    if not packed >> 39 & 1:
        return False
    packed &= (<uint64_t>1 << 39) - 1
    months = packed >> 22
    hour, minute, second = packed >> 12 & 31, packed >> 6 & 63, packed & 63
    if hour > 23 or minute > 59 or second > 59 or not print_day(out, months // 13, months % 13, packed >> 17 & 31):
        return False
    out.byte(b" ")
    print_clock(out, hour, minute, second)
    return print_fraction(out, big(at + 5, column.width - 5), column.digits)


cdef bint print_timestamp(Buffer out, const uint8_t* at, Column* column) except -1:
    cdef uint64_t seconds = big(at, 4)
    cdef uint64_t fraction = big(at + 4, column.width - 4)
    cdef uint64_t days, rest, era, doe, yoe, doy, mp, year, month
    if seconds == 0 and fraction == 0:
        out.put(b"0000-00-00 00:00:00", 19)
        return print_fraction(out, 0, column.digits)
    days, rest = seconds // DAY_SECONDS, seconds % DAY_SECONDS
    # Days to civil date in whole numbers (Hinnant, chrono-Compatible Low-Level Date Algorithms).
    days += 719468
    era = days // 146097
    doe = days - era * 146097
    yoe = (doe - doe // 1460 + doe // 36524 - doe // 146096) // 365
    doy = doe - (365 * yoe + yoe // 4 - yoe // 100)
    mp = (5 * doy + 2) // 153
    month = mp + 3 if mp < 10 else mp - 9
    year = yoe + era * 400 + (1 if month <= 2 else 0)
    print_day(out, year, month, doy - (153 * mp + 2) // 5 + 1)
    out.byte(b" ")
    print_clock(out, rest // 3600, rest // 60 % 60, rest % 60)
    return print_fraction(out, fraction, column.digits)


cdef bint print_time(Buffer out, const uint8_t* at, Column* column) except -1:
    cdef int bits = 8 * column.width
    cdef int shift = bits - 24
    cdef int64_t value = <int64_t>big(at, column.width) - (<int64_t>1 << (bits - 1))
    cdef uint64_t packed
    if value < 0:
        out.byte(b"-")
        value = -value
    packed = <uint64_t>value >> shift
    if packed >> 12 > 838 or packed >> 6 & 63 > 59 or packed & 63 > 59:
        return False
    print_clock(out, packed >> 12, packed >> 6 & 63, packed & 63)
    return print_fraction(out, <uint64_t>value & ((<uint64_t>1 << shift) - 1), column.digits)


cdef bint print_floating(Buffer out, const uint8_t* at, bint single) except -1:
    """The shortest digits of a DOUBLE, six of a FLOAT, in the server's form."""
    cdef float four
    cdef double eight
    cdef char* digits
    if single:
        memcpy(&four, at, 4)
        digits = PyOS_double_to_string(four, b"e", 5, 0, NULL)
    else:
        memcpy(&eight, at, 8)
        digits = PyOS_double_to_string(eight, b"r", 0, 0, NULL)
    try:
        return print_general(out, digits)
    finally:
        PyMem_Free(digits)


cdef bint print_general(Buffer out, const char* number) except -1:
    """Print Python's digits as the server places their point (relay.encode.server_numbers is the readable form)."""
    cdef char digits[MOST_DIGITS]
    cdef int count = 0, point = 0, exponent = 0, first = 0, i
    cdef bint behind_point = False, small = False
    if number[0] == b"-":
        out.byte(b"-")
        number += 1
    while number[0] == b"." or 48 <= number[0] <= 57:
        if number[0] == b".":
            behind_point = True
        elif count == MOST_DIGITS:
            return False
        else:
            digits[count] = number[0]
            count += 1
            if not behind_point:
                point += 1
        number += 1
    if number[0] == b"e":
        number += 1
        small = number[0] == b"-"
        number += 1
        while 48 <= number[0] <= 57:
            exponent = exponent * 10 + number[0] - 48
            number += 1
    if count == 0 or number[0] != 0:
        return False  # no number
    while first < count and digits[first] == b"0":
        first += 1
    point += (-exponent if small else exponent) - first
    while count > first and digits[count - 1] == b"0":
        count -= 1
    count -= first
    if count == 0:
        out.byte(b"0")
    elif not (-PLAIN_PLACES < point <= PLAIN_PLACES or 0 < point < count):
        out.byte(digits[first])
        if count > 1:
            out.byte(b".")
            out.put(digits + first + 1, count - 1)
        out.byte(b"e")
        if point < 1:
            out.byte(b"-")
        out.number(point - 1 if point >= 1 else 1 - point)
    elif point <= 0:
        out.put(b"0.", 2)
        for i in range(-point):
            out.byte(b"0")
        out.put(digits + first, count)
    else:
        out.put(digits + first, point if point < count else count)
        for i in range(count, point):
            out.byte(b"0")
        if point < count:
            out.byte(b".")
            out.put(digits + first + point, count - point)
    return True
