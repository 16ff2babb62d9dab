# Prints dates and times.

from libc.stdint cimport int64_t, uint8_t, uint64_t

from relay.compiled.values.buffer cimport TENS, Buffer, pair
from relay.compiled.values.column cimport Column, big

cdef enum:
    DAY_SECONDS = 86400
    MOST_HOURS = 838


cdef inline bint print_day(Buffer out, uint64_t year, uint64_t month, uint64_t day) except -1:
    """Append a date. `day` is below a hundred."""
    cdef char* to
    if year > 9999 or month > 12:
        return False
    out.need(10)
    to = out.data + out.size
    pair(to, year // 100)
    pair(to + 2, year % 100)
    pair(to + 5, month)
    pair(to + 8, day)
    to[4] = to[7] = 0x2D
    out.size += 10
    return True


cdef inline int print_clock(Buffer out, uint64_t hour, uint64_t minute, uint64_t second) except -1:
    """Append a time of day. Minutes and seconds are below a hundred."""
    cdef char* to
    out.padded(hour, 2 if hour < 100 else 3)
    out.need(6)
    to = out.data + out.size
    pair(to + 1, minute)
    pair(to + 4, second)
    to[0] = to[3] = 0x3A
    out.size += 6
    return 0


cdef inline bint print_fraction(Buffer out, uint64_t fraction, int precision) except -1:
    cdef int stored = (precision + 1) // 2 * 2
    if precision == 0:
        return True
    if fraction >= TENS[stored]:
        return False
    out.byte(b".")
    out.padded(fraction // TENS[stored - precision], precision)
    return True


cdef inline bint print_packed_day(Buffer out, uint64_t packed) except -1:
    """Append a date from year * 13 + month (17 bits) and day (5 bits)."""
    return print_day(out, (packed >> 5) // 13, (packed >> 5) % 13, packed & 31)


cdef inline bint print_moment(Buffer out, uint64_t packed) except -1:
    """Append date and time from a packed day, hour (5 bits), minute (6 bits) and second (6 bits)."""
    cdef uint64_t hour = packed >> 12 & 31, minute = packed >> 6 & 63, second = packed & 63
    if hour > 23 or minute > 59 or second > 59 or not print_packed_day(out, packed >> 17):
        return False
    out.byte(b" ")
    print_clock(out, hour, minute, second)
    return True


cdef inline bint print_duration(Buffer out, uint64_t packed) except -1:
    """Append a duration from hours, minutes (6 bits) and seconds (6 bits)."""
    if packed >> 12 > MOST_HOURS or packed >> 6 & 63 > 59 or packed & 63 > 59:
        return False
    print_clock(out, packed >> 12, packed >> 6 & 63, packed & 63)
    return True


cdef inline bint print_datetime(Buffer out, const uint8_t* at, Column* column) except -1:
    cdef uint64_t packed = big(at, 5)
    if not packed >> 39 & 1:
        return False
    return print_moment(out, packed & (<uint64_t>1 << 39) - 1) and print_fraction(out, big(at + 5, column.width - 5), column.digits)


cdef inline bint print_timestamp(Buffer out, const uint8_t* at, Column* column) except -1:
    cdef uint64_t seconds = big(at, 4)
    cdef uint64_t fraction = big(at + 4, column.width - 4)
    cdef uint64_t days, rest, era, doe, yoe, doy, mp, year, month
    if seconds == 0 and fraction == 0:
        out.put(b"0000-00-00 00:00:00", 19)
        return print_fraction(out, 0, column.digits)
    days, rest = seconds // DAY_SECONDS, seconds % DAY_SECONDS
    # Converts days to a civil date by integer arithmetic (Hinnant, chrono-Compatible Low-Level Date Algorithms).
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


cdef inline bint print_time(Buffer out, const uint8_t* at, Column* column) except -1:
    cdef int bits = 8 * column.width
    cdef int shift = bits - 24
    cdef int64_t value = <int64_t>big(at, column.width) - (<int64_t>1 << (bits - 1))
    if value < 0:
        out.byte(b"-")
        value = -value
    if not print_duration(out, <uint64_t>value >> shift):
        return False
    return print_fraction(out, <uint64_t>value & ((<uint64_t>1 << shift) - 1), column.digits)
