# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Prints the numbers that the inlined functions of the declaration (.pxd) do not print: very large or small ones, and those of many digits."""

from cpython.mem cimport PyMem_Free

from relay.compiled.values.buffer cimport Buffer

cdef extern from "Python.h":
    char* PyOS_double_to_string(double value, char format_code, int precision, int flags, int* type) except NULL

cdef enum:
    PLAIN_PLACES = 15         # with more zeros than this between point and digits, an exponent is printed
    MOST_DIGITS = 64


cdef bint print_any(Buffer out, double value, bint single) except -1:
    """Append a number with the digits that Python computes for it."""
    cdef char* digits
    if single:
        digits = PyOS_double_to_string(value, b"e", FLOAT_DIGITS - 1, 0, NULL)
    else:
        digits = PyOS_double_to_string(value, b"r", 0, 0, NULL)
    try:
        return print_general(out, digits)
    finally:
        PyMem_Free(digits)


cdef bint print_general(Buffer out, const char* number) except -1:
    """Append Python's digits with the decimal point or exponent as the server prints it."""
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
        return False  # NaN or infinity
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
