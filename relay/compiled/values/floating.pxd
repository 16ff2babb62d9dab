# Prints FLOAT and DOUBLE as the server prints them (relay.encode.texts.server_numbers is the Python version).

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from relay.compiled.values.buffer cimport TENS, Buffer, digits_of

cdef extern from *:
    """
    static const double EXACT_TENS[16] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    """
    const double EXACT_TENS[16]

cdef enum:
    SURE_DIGITS = 15          # two different decimals of this many digits are different doubles
    FLOAT_DIGITS = 6
    MOST_EXACT_PLACES = 12    # 24 bits of a FLOAT times 5**12 are exact in a double

cdef bint print_any(Buffer out, double value, bint single) except -1


cdef inline bint print_floating(Buffer out, const uint8_t* at, bint single) except -1:
    """Append the shortest digits that identify a DOUBLE, or six digits of a FLOAT; return False for NaN and infinity."""
    cdef float four
    cdef double value
    if single:
        memcpy(&four, at, 4)
        value = four
        return print_plain_float(out, value) or print_any(out, value, True)
    memcpy(&value, at, 8)
    return print_plain_double(out, value) or print_any(out, value, False)


cdef inline bint print_plain_double(Buffer out, double value) except -1:
    """Append a number that has at most fifteen digits, with a decimal point; return False and append nothing for any other number."""
    cdef double magnitude = -value if value < 0 else value
    cdef uint64_t whole, scaled
    cdef int places
    if not 0 < magnitude < EXACT_TENS[SURE_DIGITS]:
        return False
    whole = <uint64_t>magnitude
    places = SURE_DIGITS - (digits_of(whole) if whole else 0)
    scaled = <uint64_t>(magnitude * EXACT_TENS[places] + 0.5)
    # Both are exact, so the division rounds once, and a reader of the text rounds in the same way.
    if scaled == 0 or <double>scaled / EXACT_TENS[places] != magnitude:
        return False
    return print_scaled(out, value < 0, scaled, places)


cdef inline bint print_plain_float(Buffer out, double value) except -1:
    """Append six digits, rounded half to even, if scaling to six digits is exact; otherwise return False and append nothing."""
    cdef double magnitude = -value if value < 0 else value
    cdef double exact, rest
    cdef uint64_t whole, scaled
    cdef int places
    if not 0 < magnitude < EXACT_TENS[FLOAT_DIGITS]:
        return False
    whole = <uint64_t>magnitude
    places = FLOAT_DIGITS - (digits_of(whole) if whole else 0)
    exact = magnitude * EXACT_TENS[places]
    while exact < EXACT_TENS[FLOAT_DIGITS - 1]:
        places += 1
        if places > MOST_EXACT_PLACES:
            return False
        exact = magnitude * EXACT_TENS[places]
    scaled = <uint64_t>exact
    rest = exact - <double>scaled
    if rest > 0.5 or (rest == 0.5 and scaled & 1):
        scaled += 1
    return print_scaled(out, value < 0, scaled, places)


cdef inline bint print_scaled(Buffer out, bint negative, uint64_t scaled, int places) except -1:
    """Append scaled / 10**places without trailing zeros."""
    cdef uint64_t whole = scaled // TENS[places]
    cdef uint64_t fraction = scaled % TENS[places]
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
