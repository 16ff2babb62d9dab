# DECIMAL, FLOAT and DOUBLE.

cdef int decimal_width(int precision, int scale) noexcept:
    cdef int whole = precision - scale
    return 4 * (whole // 9 + scale // 9) + _BYTES_FOR_DIGITS[whole % 9] + _BYTES_FOR_DIGITS[scale % 9]


cdef bint print_decimal(Buffer out, const uint8_t* raw, int precision, int scale) except -1:
    """`raw` holds decimal_width() bytes."""
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
    left = scale
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
