# FLOAT and DOUBLE in the server's form (relay.encode.texts.server_numbers is the readable one).

cdef enum:
    SURE_DIGITS = 15          # no two decimals of so many digits are the same double
    FLOAT_DIGITS = 6
    MOST_EXACT_PLACES = 12    # 24 bits of a FLOAT times 5**12 are exact in a double

cdef double _EXACT_TENS[SURE_DIGITS + 1]
for _i in range(SURE_DIGITS + 1):
    _EXACT_TENS[_i] = <double>_TENS[_i]


cdef bint print_floating(Buffer out, const uint8_t* at, bint single) except -1:
    """The shortest digits of a DOUBLE, six of a FLOAT."""
    cdef float four
    cdef double value
    cdef char* digits
    if single:
        memcpy(&four, at, 4)
        value = four
        if print_plain_float(out, value):
            return True
        digits = PyOS_double_to_string(value, b"e", FLOAT_DIGITS - 1, 0, NULL)
    else:
        memcpy(&value, at, 8)
        if print_plain_double(out, value):
            return True
        digits = PyOS_double_to_string(value, b"r", 0, 0, NULL)
    try:
        return print_general(out, digits)
    finally:
        PyMem_Free(digits)


cdef bint print_plain_double(Buffer out, double value) except -1:
    """Append a number of at most fifteen digits around its point, the only such text that is this number; False for any other."""
    cdef double magnitude = -value if value < 0 else value
    cdef uint64_t whole, scaled
    cdef int places
    if not 0 < magnitude < _EXACT_TENS[SURE_DIGITS]:
        return False
    whole = <uint64_t>magnitude
    places = SURE_DIGITS - (digits_of(whole) if whole else 0)
    scaled = <uint64_t>(magnitude * _EXACT_TENS[places] + 0.5)
    # Both are exact, so their quotient is rounded once, as a reader of the text rounds it.
    if scaled == 0 or <double>scaled / _EXACT_TENS[places] != magnitude:
        return False
    return print_scaled(out, value < 0, scaled, places)


cdef bint print_plain_float(Buffer out, double value) except -1:
    """Append six digits, half to even, where scaling to them is exact; False elsewhere."""
    cdef double magnitude = -value if value < 0 else value
    cdef double exact, rest
    cdef uint64_t whole, scaled
    cdef int places
    if not 0 < magnitude < _EXACT_TENS[FLOAT_DIGITS]:
        return False
    whole = <uint64_t>magnitude
    places = FLOAT_DIGITS - (digits_of(whole) if whole else 0)
    exact = magnitude * _EXACT_TENS[places]
    while exact < _EXACT_TENS[FLOAT_DIGITS - 1]:
        places += 1
        if places > MOST_EXACT_PLACES:
            return False
        exact = magnitude * _EXACT_TENS[places]
    scaled = <uint64_t>exact
    rest = exact - <double>scaled
    if rest > 0.5 or (rest == 0.5 and scaled & 1):
        scaled += 1
    return print_scaled(out, value < 0, scaled, places)


cdef bint print_scaled(Buffer out, bint negative, uint64_t scaled, int places) except -1:
    """Append scaled / 10**places without zeros at its end."""
    cdef uint64_t whole = scaled // _TENS[places]
    cdef uint64_t fraction = scaled % _TENS[places]
    if negative:
        out.byte(b"-")
    out.number(whole)
    if fraction == 0:
        return True
    if places > 8 and fraction % 100000000 == 0:
        fraction //= 100000000
        places -= 8
    while fraction % 100 == 0:
        fraction //= 100
        places -= 2
    if fraction % 10 == 0:
        fraction //= 10
        places -= 1
    out.byte(b".")
    out.padded(fraction, places)
    return True


cdef bint print_general(Buffer out, const char* number) except -1:
    """Print Python's digits as the server places their point."""
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
