# Prints character strings, labels and base64 as JSON.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.column cimport LOW_BYTES_FIRST, clean_bytes
from relay.compiled.values.java_hash cimport utf8_step

cdef extern from *:
    """
    static const char HEX_DIGITS[] = "0123456789abcdef";
    static const char BASE64_DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    """
    const char HEX_DIGITS[16]
    const char BASE64_DIGITS[64]

cdef enum:
    LONGEST_ESCAPE = 8


cdef inline int put_bytes(Buffer out, bytes text) except -1:
    return out.put(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))


cdef inline bint print_utf8(Buffer out, const uint8_t* at, Py_ssize_t size) except -1:
    """Append a text with JSON's escapes; return False for bytes that are not UTF-8."""
    return print_characters(out, at, size, False)


cdef inline bint print_characters(Buffer out, const uint8_t* at, Py_ssize_t size, bint inside) except -1:
    """Append a UTF-8 text with JSON's escapes; if `inside`, escaped twice for a JSON string in a JSON string. Return False if it is not UTF-8."""
    cdef uint64_t eight, mask
    cdef uint32_t point = 0
    cdef int step
    cdef char* to
    out.need(size + LONGEST_ESCAPE)
    to = out.data + out.size
    while size > 0:
        if LOW_BYTES_FIRST and size >= 8:
            memcpy(&eight, at, 8)
            mask = special(eight)
            memcpy(to, &eight, 8)
            step = 8 if mask == 0 else clean_bytes(mask)
            to += step
            at += step
            size -= step
            if mask == 0:
                continue
        while size > 0 and at[0] >= 0x80:
            step = utf8_step(at, size, &point)
            if step == 0:
                return False
            copy_character(to, at, step)
            to += step
            at += step
            size -= step
        if size == 0:
            break
        if at[0] >= 0x20 and at[0] != 0x22 and at[0] != 0x5C:
            to[0] = at[0]
            to += 1
        else:
            to += escape_inside(to, at[0]) if inside else escape(to, at[0])
            out.size = to - out.data
            out.need(size + LONGEST_ESCAPE)
            to = out.data + out.size
        at += 1
        size -= 1
    out.size = to - out.data
    return True


cdef inline void copy_character(char* to, const uint8_t* at, int bytes) noexcept:
    to[0] = at[0]
    to[1] = at[1]
    if bytes > 2:
        to[2] = at[2]
    if bytes > 3:
        to[3] = at[3]


cdef inline uint64_t special(uint64_t eight) noexcept:
    """Return the high bit of each byte that is not ASCII, a control character, a quote or a backslash.

    Only the lowest set bit is reliable: a borrow of the subtraction may set bits above it.
    """
    cdef uint64_t ones = 0x0101010101010101ULL
    cdef uint64_t quote = eight ^ ones * 0x22, backslash = eight ^ ones * 0x5C
    return (eight | (eight - ones * 0x20) | (quote - ones) | (backslash - ones)) & ones * 0x80


cdef inline int escape(char* to, uint8_t one) noexcept:
    cdef char short_form = 0
    if one == 0x22 or one == 0x5C:
        short_form = one
    elif one == 0x08:
        short_form = 98
    elif one == 0x09:
        short_form = 116
    elif one == 0x0A:
        short_form = 110
    elif one == 0x0C:
        short_form = 102
    elif one == 0x0D:
        short_form = 114
    to[0] = 0x5C
    if short_form:
        to[1] = short_form
        return 2
    memcpy(to + 1, b"u00", 3)
    to[4] = HEX_DIGITS[one >> 4]
    to[5] = HEX_DIGITS[one & 15]
    return 6


cdef inline int escape_inside(char* to, uint8_t one) noexcept:
    """Write a JSON escape in which backslashes and a quote are escaped once more; return its length."""
    cdef int before = 2 if one == 0x22 or one == 0x5C else 1
    to[0] = to[1] = 0x5C
    return before + escape(to + before, one)


cdef inline bint print_table(Buffer out, const uint8_t* at, Py_ssize_t size, tuple characters) except -1:
    cdef Py_ssize_t i
    for i in range(size):
        character = characters[at[i]]
        if character is None:
            return False
        put_bytes(out, character)
    return True


cdef inline bint print_set(Buffer out, uint64_t mask, int count, tuple labels) except -1:
    cdef int i
    cdef bint none_yet = True
    if count < 64 and mask >> count:
        return False
    for i in range(count):
        if mask >> i & 1:
            if not none_yet:
                out.byte(b",")
            none_yet = False
            put_bytes(out, labels[i])
    return True


cdef inline int print_base64(Buffer out, const uint8_t* at, Py_ssize_t size, Py_ssize_t padded_size) except -1:
    """Append base64 of the bytes, filled with zeros to `padded_size`."""
    cdef Py_ssize_t whole = size if size > padded_size else padded_size
    cdef Py_ssize_t i
    cdef uint32_t three
    cdef char* to
    out.need((whole + 2) // 3 * 4)
    to = out.data + out.size
    for i in range(0, whole, 3):
        three = <uint32_t>(at[i] if i < size else 0) << 16
        three |= <uint32_t>(at[i + 1] if i + 1 < size else 0) << 8
        three |= at[i + 2] if i + 2 < size else 0
        to[0] = BASE64_DIGITS[three >> 18]
        to[1] = BASE64_DIGITS[three >> 12 & 63]
        to[2] = BASE64_DIGITS[three >> 6 & 63] if i + 1 < whole else 0x3D
        to[3] = BASE64_DIGITS[three & 63] if i + 2 < whole else 0x3D
        to += 4
    out.size = to - out.data
    return 0
