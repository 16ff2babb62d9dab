# Converts texts of a SELECT's cells into the bytes of row images. Each function returns False for a text that is not valid for its column.

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.column cimport SIGNED
from relay.compiled.values.decimals cimport BYTES_FOR_DIGITS, MOST_PRECISION

cdef struct Field:
    int kind
    int width
    bint variable
    int digits
    int scale
    bint unpadded      # a BINARY column: the binlog has its values without trailing zero bytes


cdef inline bint digits(const uint8_t* text, Py_ssize_t size, uint64_t* number) noexcept:
    """Read a number of at most 19 digits."""
    cdef Py_ssize_t i
    cdef uint64_t found = 0
    if size < 1 or size > 19:
        return False
    for i in range(size):
        if text[i] < 48 or text[i] > 57:
            return False
        found = found * 10 + (text[i] - 48)
    number[0] = found
    return True


cdef inline int put_little(Buffer out, uint64_t number, int width) except -1:
    cdef int i
    out.need(width)
    for i in range(width):
        out.data[out.size + i] = <char>(number >> (8 * i) & 0xFF)
    out.size += width
    return 0


cdef inline int put_big(Buffer out, uint64_t number, int width) except -1:
    cdef int i
    out.need(width)
    for i in range(width):
        out.data[out.size + i] = <char>(number >> (8 * (width - 1 - i)) & 0xFF)
    out.size += width
    return 0


cdef inline bint put_whole(Buffer out, Field* field, const uint8_t* text, Py_ssize_t size) except -1:
    """Append an integer in the column's width; return False if it does not fit."""
    cdef bint negative = size > 0 and text[0] == 45
    cdef uint64_t number = 0, last = 0
    cdef int bits = 8 * field.width
    if negative:
        text += 1
        size -= 1
    while size > 1 and text[0] == 48:  # leading zeros of a ZEROFILL column
        text += 1
        size -= 1
    if size == 20:
        if not digits(text, 19, &number) or not digits(text + 19, 1, &last):
            return False
        if number > 1844674407370955161 or (number == 1844674407370955161 and last > 5):
            return False
        number = number * 10 + last
    elif not digits(text, size, &number):
        return False
    if field.kind == SIGNED:
        if number > (<uint64_t>1 << (bits - 1)) - (0 if negative else 1):
            return False
    elif negative or (bits < 64 and number >> bits):
        return False
    put_little(out, <uint64_t>0 - number if negative else number, field.width)
    return True


cdef inline bint put_decimal(Buffer out, Field* field, const uint8_t* text, Py_ssize_t size) except -1:
    """Append the server's packed form: groups of nine digits; the first bit is inverted, and all bits of a negative number."""
    cdef uint8_t padded[MOST_PRECISION]
    cdef bint negative = size > 0 and text[0] == 45
    cdef int whole = field.digits - field.scale, left, group, at = 0, n
    cdef Py_ssize_t point, i, start = out.size
    cdef uint64_t number
    cdef bint zero = True
    if field.digits > MOST_PRECISION or whole < 0:
        return False
    if negative:
        text += 1
        size -= 1
    point = 0
    while point < size and text[point] != 46:
        point += 1
    while point > whole and point and text[0] == 48:
        text += 1
        size -= 1
        point -= 1
    if point > whole or (size - point - 1 if point < size else 0) != field.scale:
        return False
    memset(padded, 48, whole)
    memcpy(padded + whole - point, text, point)
    if field.scale:
        memcpy(padded + whole, text + point + 1, field.scale)
    for i in range(field.digits):
        if padded[i] < 48 or padded[i] > 57:
            return False
        if padded[i] != 48:
            zero = False
    for n in range(2):
        left = field.scale if n else whole
        while left > 0:
            if n:
                group = 9 if left >= 9 else left
            else:
                group = left % 9 if left % 9 else 9
            digits(padded + at, group, &number)
            put_big(out, number, BYTES_FOR_DIGITS[group])
            at += group
            left -= group
    if negative and not zero:
        for i in range(start, out.size):
            out.data[i] = ~out.data[i]
    out.data[start] ^= <char>0x80
    return True


cdef inline bint two(const uint8_t* text, uint64_t* number) noexcept:
    return digits(text, 2, number)


cdef inline bint read_day(const uint8_t* text, uint64_t* year, uint64_t* month, uint64_t* day) noexcept:
    """Read YYYY-MM-DD."""
    return (
        text[4] == 45 and text[7] == 45 and digits(text, 4, year) and two(text + 5, month) and two(text + 8, day)
        and month[0] <= 12 and day[0] <= 31
    )


cdef inline bint read_clock(const uint8_t* text, uint64_t* hour, uint64_t* minute, uint64_t* second) noexcept:
    """Read HH:MM:SS."""
    return (
        text[2] == 58 and text[5] == 58 and two(text, hour) and two(text + 3, minute) and two(text + 6, second)
        and hour[0] <= 23 and minute[0] <= 59 and second[0] <= 59
    )


cdef inline bint read_fraction(Field* field, const uint8_t* text, Py_ssize_t size, uint64_t* fraction) noexcept:
    """Read the fraction of a second as the server stores it: with an even number of digits."""
    fraction[0] = 0
    if field.digits == 0:
        return size == 0
    if size != field.digits + 1 or text[0] != 46 or not digits(text + 1, field.digits, fraction):
        return False
    if field.digits & 1:
        fraction[0] *= 10
    return True


cdef inline bint put_date(Buffer out, const uint8_t* text, Py_ssize_t size) except -1:
    cdef uint64_t year = 0, month = 0, day = 0
    if size != 10 or not read_day(text, &year, &month, &day):
        return False
    put_little(out, year << 9 | month << 5 | day, 3)
    return True


cdef inline bint put_datetime(Buffer out, Field* field, const uint8_t* text, Py_ssize_t size) except -1:
    cdef uint64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, fraction = 0
    if size < 19 or text[10] != 32 or not read_day(text, &year, &month, &day) or not read_clock(text + 11, &hour, &minute, &second):
        return False
    if not read_fraction(field, text + 19, size - 19, &fraction):
        return False
    put_big(out, <uint64_t>1 << 39 | (year * 13 + month) << 22 | day << 17 | hour << 12 | minute << 6 | second, 5)
    put_big(out, fraction, field.width - 5)
    return True


cdef inline bint put_timestamp(Buffer out, Field* field, const uint8_t* text, Py_ssize_t size) except -1:
    """Append the seconds since 1970 in UTC; 0 for the zero value."""
    cdef uint64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, fraction = 0
    cdef int64_t y, era, yoe, doy, days, seconds
    if size < 19 or text[10] != 32 or not read_day(text, &year, &month, &day) or not read_clock(text + 11, &hour, &minute, &second):
        return False
    if not read_fraction(field, text + 19, size - 19, &fraction):
        return False
    if not year and not month and not day:
        if hour or minute or second or fraction:
            return False
        seconds = 0
    else:
        if not month or not day:
            return False
        # Converts a civil date to days by integer arithmetic (Hinnant, chrono-Compatible Low-Level Date Algorithms).
        y = <int64_t>year - (1 if month <= 2 else 0)
        era = y // 400
        yoe = y - era * 400
        doy = (153 * (<int64_t>month + (-3 if month > 2 else 9)) + 2) // 5 + <int64_t>day - 1
        days = era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468
        seconds = days * 86400 + <int64_t>(hour * 3600 + minute * 60 + second)
        if seconds < 0 or seconds > 0xFFFFFFFF:
            return False
    put_big(out, <uint64_t>seconds, 4)
    put_big(out, fraction, field.width - 4)
    return True


cdef inline bint put_time(Buffer out, Field* field, const uint8_t* text, Py_ssize_t size) except -1:
    """Append a TIME from [-]H..H:MM:SS[.f]: hour, minute, second and fraction as one integer, plus half the range of its bytes."""
    cdef bint negative = size > 0 and text[0] == 45
    cdef uint64_t hour = 0, minute = 0, second = 0, fraction = 0
    cdef int wide = 2, shift = 8 * (field.width - 3)
    cdef int64_t value
    if negative:
        text += 1
        size -= 1
    while wide < size and text[wide] != 58:
        wide += 1
    if size < wide + 6 or text[wide + 3] != 58 or not digits(text, wide, &hour) or not two(text + wide + 1, &minute) or not two(text + wide + 4, &second):
        return False
    if hour > 838 or minute > 59 or second > 59 or not read_fraction(field, text + wide + 6, size - wide - 6, &fraction):
        return False
    value = <int64_t>((hour << 12 | minute << 6 | second) << shift | fraction)
    put_big(out, <uint64_t>((<int64_t>1 << (8 * field.width - 1)) + (-value if negative else value)), field.width)
    return True
