# What the printer works on: columns and found values.

cdef extern from *:
    """
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    #define LOW_BYTES_FIRST 1
    #define clean_bytes(mask) (__builtin_ctzll(mask) >> 3)
    #define used_bits(value) (64 - __builtin_clzll((value) | 1))
    #else
    #define LOW_BYTES_FIRST 0
    #define clean_bytes(mask) 0
    static inline int used_bits(unsigned long long value) { int bits = 1; while (value >>= 1) bits++; return bits; }
    #endif
    """
    const bint LOW_BYTES_FIRST
    int clean_bytes(uint64_t mask) noexcept
    int used_bits(uint64_t value) noexcept

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
    JSON = 17

cdef enum:
    PLAIN_PLACES = 15  # how far from the digits the point may stand without an exponent
    MOST_DIGITS = 64
    MOST_PRECISION = 65
    MOST_SCALE = 38
    ORDER_TIME_BYTES = 14
    DAY_SECONDS = 86400
    MOST_HOURS = 838
    KEPT_BYTES = 1 << 20
    LONGEST_ESCAPE = 8

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
    const char* name   # `{"a":"` or `,"b":"`
    Py_ssize_t name_size

cdef struct Ordinals:
    int* each
    int count

cdef struct Span:
    const uint8_t* start
    Py_ssize_t size    # -1: NULL


cdef int fill(Ordinals* ordinals, tuple numbers, int columns) except -1:
    """Keep ordinals of so many columns."""
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
