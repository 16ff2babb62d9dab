# A growing byte buffer, and functions that write decimal digits.

from cython cimport final
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define used_bits(value) (64 - __builtin_clzll((value) | 1))
    #else
    static inline int used_bits(unsigned long long value) { int bits = 1; while (value >>= 1) bits++; return bits; }
    #endif
    static const char PAIRS[] =
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
        "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    static const unsigned long long TENS[20] = {
        1ULL, 10ULL, 100ULL, 1000ULL, 10000ULL, 100000ULL, 1000000ULL, 10000000ULL,
        100000000ULL, 1000000000ULL, 10000000000ULL, 100000000000ULL, 1000000000000ULL,
        10000000000000ULL, 100000000000000ULL, 1000000000000000ULL, 10000000000000000ULL,
        100000000000000000ULL, 1000000000000000000ULL, 10000000000000000000ULL};
    """
    int used_bits(uint64_t value) noexcept
    const char PAIRS[200]             # the digits of 00 to 99
    const unsigned long long TENS[20]


@final
cdef class Buffer:
    """A byte buffer that grows as needed."""

    cdef char* data
    cdef Py_ssize_t size
    cdef Py_ssize_t room

    cdef int empty(self) except -1
    cdef int grow(self, Py_ssize_t wanted) except -1

    cdef inline int need(self, Py_ssize_t more) except -1:
        if more > self.room - self.size:
            self.grow(self.size + more)
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
        return self.padded(value, digits_of(value))

    cdef inline int signed_number(self, int64_t value) except -1:
        if value < 0:
            self.byte(b"-")
        return self.number(<uint64_t>0 - <uint64_t>value if value < 0 else <uint64_t>value)

    cdef inline int padded(self, uint64_t value, int width) except -1:
        self.need(width)
        write_digits(self.data + self.size, value, width)
        self.size += width
        return 0


cdef inline int digits_of(uint64_t value) noexcept:
    """Return how many decimal digits a number has."""
    cdef int fewest = used_bits(value) * 1233 >> 12  # log10(2) = 1233 / 4096
    return fewest + (value >= TENS[fewest] or value == 0)


cdef inline void pair(char* to, uint64_t value) noexcept:
    """Write a number below a hundred as two digits."""
    memcpy(to, PAIRS + 2 * value, 2)


cdef inline void write_digits(char* to, uint64_t value, int width) noexcept:
    while width >= 2:
        width -= 2
        pair(to + width, value % 100)
        value //= 100
    if width:
        to[0] = 48 + value % 10
