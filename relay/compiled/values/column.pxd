# The data that the printers read: columns, the values that were found in an event, and numbers in bytes.

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy

cdef extern from *:
    """
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    #define LOW_BYTES_FIRST 1
    #define clean_bytes(mask) (__builtin_ctzll(mask) >> 3)
    #else
    #define LOW_BYTES_FIRST 0
    #define clean_bytes(mask) 0
    #endif
    """
    const bint LOW_BYTES_FIRST
    int clean_bytes(uint64_t mask) noexcept

cdef enum:  # relay.compiled.column_plan.Kind
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
    JSON = 17

cdef enum:  # relay.compiled.column_plan.Wire
    QUOTED = 0
    BARE = 1
    VARINT = 2
    FLOATING = 3
    BYTES = 4
    CHARACTERS = 5

cdef struct Column:
    int kind
    int width          # bytes of a fixed value, or of the length before a variable one
    bint variable
    bint nullable
    bint by_text       # two values are equal if their printed texts are equal
    int wire           # how the value is written in a message
    int digits         # fractional digits, DECIMAL's precision, BIT's bits, BINARY's length, labels
    int scale
    const char* name   # `{"a":"` or `,"b":"`
    Py_ssize_t name_size

cdef struct Ordinals:
    int* each
    int count

cdef struct Span:
    const uint8_t* start
    Py_ssize_t size    # -1: NULL


cdef inline uint64_t little(const uint8_t* at, int width) noexcept:
    cdef uint64_t value = 0
    cdef int i
    if width == 1:
        return at[0]
    if LOW_BYTES_FIRST and width == 8:
        memcpy(&value, at, 8)
        return value
    if LOW_BYTES_FIRST and width == 4:
        memcpy(&value, at, 4)
        return value
    for i in range(width - 1, -1, -1):
        value = value << 8 | at[i]
    return value


cdef inline int64_t signed_little(const uint8_t* at, int width) noexcept:
    return <int64_t>(little(at, width) << (64 - 8 * width)) >> (64 - 8 * width)


cdef inline uint64_t big(const uint8_t* at, int width) noexcept:
    cdef uint64_t value = 0
    cdef int i
    for i in range(width):
        value = value << 8 | at[i]
    return value


cdef inline bint same(Span* left, Span* right) noexcept:
    return left.size == right.size and (left.size <= 0 or memcmp(left.start, right.start, left.size) == 0)
