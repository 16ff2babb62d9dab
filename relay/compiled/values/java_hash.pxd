# Java's String.hashCode over the UTF-16 units of a text, from which a row's partition is computed.

from libc.stdint cimport uint8_t, uint32_t


cdef inline uint32_t ascii_hash(const char* text, Py_ssize_t size) noexcept:
    """Return Java's String.hashCode of an ASCII text."""
    cdef uint32_t value = 0
    cdef Py_ssize_t i
    for i in range(size):
        value = value * 31 + <uint8_t>text[i]
    return value


cdef inline int utf8_step(const uint8_t* at, Py_ssize_t left, uint32_t* point) noexcept:
    """Return the number of bytes of the UTF-8 character at `at` (RFC 3629), and its code point; 0 if it is invalid."""
    cdef uint8_t lead = at[0]
    if lead < 0x80:
        point[0] = lead
        return 1
    if 0xC2 <= lead <= 0xDF:
        if left < 2 or at[1] & 0xC0 != 0x80:
            return 0
        point[0] = (lead & 0x1F) << 6 | (at[1] & 0x3F)
        return 2
    if 0xE0 <= lead <= 0xEF:
        if left < 3 or at[1] & 0xC0 != 0x80 or at[2] & 0xC0 != 0x80:
            return 0
        point[0] = (lead & 0x0F) << 12 | (at[1] & 0x3F) << 6 | (at[2] & 0x3F)
        if point[0] < 0x800 or 0xD800 <= point[0] <= 0xDFFF:
            return 0
        return 3
    if 0xF0 <= lead <= 0xF4:
        if left < 4 or at[1] & 0xC0 != 0x80 or at[2] & 0xC0 != 0x80 or at[3] & 0xC0 != 0x80:
            return 0
        point[0] = <uint32_t>(lead & 0x07) << 18 | (at[1] & 0x3F) << 12 | (at[2] & 0x3F) << 6 | (at[3] & 0x3F)
        if point[0] < 0x10000 or point[0] > 0x10FFFF:
            return 0
        return 4
    return 0


cdef inline bint valid_hash(const uint8_t* at, Py_ssize_t size, uint32_t* result) noexcept:
    """Compute Java's hash over the UTF-16 units of a UTF-8 text; return False if the bytes are not valid UTF-8."""
    cdef uint32_t value = 0, point = 0
    cdef int step
    while size > 0:
        step = utf8_step(at, size, &point)
        if step == 0:
            return False
        if point >= 0x10000:
            point -= 0x10000
            value = value * 31 + (0xD800 | point >> 10)
            value = value * 31 + (0xDC00 | point & 0x3FF)
        else:
            value = value * 31 + point
        at += step
        size -= step
    result[0] = value
    return True
