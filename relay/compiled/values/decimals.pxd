# Prints DECIMAL values.

from libc.stdint cimport uint8_t, uint64_t

from relay.compiled.values.buffer cimport TENS, Buffer
from relay.compiled.values.column cimport big

cdef extern from *:
    """
    static const int BYTES_FOR_DIGITS[10] = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};
    """
    const int BYTES_FOR_DIGITS[10]

cdef enum:
    MOST_PRECISION = 65
    MOST_SCALE = 38


cdef inline int decimal_width(int precision, int scale) noexcept:
    cdef int whole = precision - scale
    return 4 * (whole // 9 + scale // 9) + BYTES_FOR_DIGITS[whole % 9] + BYTES_FOR_DIGITS[scale % 9]


cdef inline bint print_decimal(Buffer out, const uint8_t* raw, int precision, int scale) except -1:
    """Append a DECIMAL. `raw` points to decimal_width() bytes."""
    cdef uint8_t copy[40]
    cdef uint8_t flip
    cdef const uint8_t* at = copy
    cdef int width = decimal_width(precision, scale)
    cdef int left, group, i
    cdef uint64_t number
    cdef bint begun = False
    flip = 0 if raw[0] & 0x80 else 0xFF
    for i in range(width):
        copy[i] = raw[i] ^ flip
    copy[0] ^= 0x80
    if flip:
        out.byte(b"-")
    left = precision - scale
    while left > 0:
        group = left % 9 if left % 9 else 9
        number = big(at, BYTES_FOR_DIGITS[group])
        if number >= TENS[group]:
            return False
        at += BYTES_FOR_DIGITS[group]
        left -= group
        if begun:
            out.padded(number, group)
        elif number:
            begun = True
            out.number(number)
    if not begun:
        out.byte(b"0")
    left = scale
    if left:
        out.byte(b".")
    while left > 0:
        group = 9 if left >= 9 else left
        number = big(at, BYTES_FOR_DIGITS[group])
        if number >= TENS[group]:
            return False
        at += BYTES_FOR_DIGITS[group]
        left -= group
        out.padded(number, group)
    return True
