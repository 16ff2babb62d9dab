# Prints the scalars of binary JSON as the server does, inside a JSON string (relay.encode.texts.json_text is the Python version).

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr

from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.column cimport little, signed_little
from relay.compiled.values.decimals cimport MOST_PRECISION, MOST_SCALE, decimal_width, print_decimal
from relay.compiled.values.floating cimport print_floating
from relay.compiled.values.json_parts cimport JSON_DOUBLE, JSON_INT16, JSON_INT32, JSON_INT64, JSON_LITERAL, Document, claim, sized
from relay.compiled.values.texts cimport print_base64, print_characters
from relay.compiled.values.times cimport print_duration, print_fraction, print_moment, print_packed_day

cdef enum:
    OPAQUE_TIMESTAMP = 7
    OPAQUE_DATE = 10
    OPAQUE_TIME = 11
    OPAQUE_DATETIME = 12
    OPAQUE_DECIMAL = 246
    PACKED_BYTES = 8
    PACKED_PRECISION = 6
    BASE64_LINE_BYTES = 57  # they become a line of 76 characters


cdef inline bint print_json_scalar(Buffer out, Document* document, int kind, Py_ssize_t start, Py_ssize_t end) except -1:
    cdef const uint8_t* at
    cdef int width
    if kind == JSON_LITERAL:
        at = claim(document, start, 1, end)
        return at != NULL and print_json_literal(out, at[0])
    if kind < JSON_INT16 or kind > JSON_DOUBLE:
        return False
    width = 8 if kind >= JSON_INT64 else 4 if kind >= JSON_INT32 else 2
    at = claim(document, start, width, end)
    if at == NULL:
        return False
    if kind == JSON_DOUBLE:
        return print_json_double(out, at)
    return print_json_integer(out, at, width, kind == JSON_INT16 or kind == JSON_INT32 or kind == JSON_INT64)


cdef inline bint print_json_literal(Buffer out, int code) except -1:
    if code == 0:
        out.put(b"null", 4)
    elif code == 1:
        out.put(b"true", 4)
    elif code == 2:
        out.put(b"false", 5)
    else:
        return False
    return True


cdef inline bint print_json_integer(Buffer out, const uint8_t* at, int width, bint signed) except -1:
    if signed:
        out.signed_number(signed_little(at, width))
    else:
        out.number(little(at, width))
    return True


cdef inline bint print_json_double(Buffer out, const uint8_t* at) except -1:
    """Append a double. An integral value keeps `.0`, so that a reader parses it as a double again."""
    cdef Py_ssize_t first = out.size
    if not print_floating(out, at, False):
        return False
    if memchr(out.data + first, c".", out.size - first) == NULL and memchr(out.data + first, c"e", out.size - first) == NULL:
        out.put(b".0", 2)
    return True


cdef inline bint print_json_string(Buffer out, Document* document, Py_ssize_t start, Py_ssize_t end) except -1:
    cdef const uint8_t* text = NULL
    cdef Py_ssize_t size = sized(document, start, end, &text)
    return size >= 0 and print_json_text(out, text, size)


cdef inline bint print_json_text(Buffer out, const uint8_t* text, Py_ssize_t size) except -1:
    out.put(b'\\"', 2)
    if not print_characters(out, text, size, True):
        return False
    out.put(b'\\"', 2)
    return True


cdef inline bint print_json_opaque(Buffer out, Document* document, Py_ssize_t start, Py_ssize_t end) except -1:
    """Append an opaque value: one in the binary form of another column type."""
    cdef const uint8_t* kind = claim(document, start, 1, end)
    cdef const uint8_t* raw = NULL
    cdef Py_ssize_t size
    if kind == NULL:
        return False
    size = sized(document, start + 1, end, &raw)
    if size < 0:
        return False
    if kind[0] == OPAQUE_DECIMAL:
        return print_json_decimal(out, raw, size)
    out.put(b'\\"', 2)
    if kind[0] in (OPAQUE_DATE, OPAQUE_TIME, OPAQUE_DATETIME, OPAQUE_TIMESTAMP):
        if size != PACKED_BYTES or not print_json_moment(out, kind[0], signed_little(raw, PACKED_BYTES)):
            return False
    else:
        print_json_bytes(out, kind[0], raw, size)
    out.put(b'\\"', 2)
    return True


cdef inline bint print_json_decimal(Buffer out, const uint8_t* raw, Py_ssize_t size) except -1:
    """Append a decimal. Its first two bytes are precision and scale."""
    cdef int precision, scale
    if size < 2:
        return False
    precision, scale = raw[0], raw[1]
    if not 0 < precision <= MOST_PRECISION or scale > MOST_SCALE or scale > precision:
        return False
    return size == 2 + decimal_width(precision, scale) and print_decimal(out, raw + 2, precision, scale)


cdef inline bint print_json_moment(Buffer out, int kind, int64_t packed) except -1:
    """Append a date or time from its 64-bit form: parts << 24 | microseconds."""
    cdef uint64_t value = <uint64_t>packed
    if kind == OPAQUE_TIME:
        if packed < 0:
            out.byte(b"-")
            value = 0 - value
        return print_duration(out, value >> 24) and print_fraction(out, value & 0xFFFFFF, PACKED_PRECISION)
    if packed < 0:
        return False
    if kind == OPAQUE_DATE:
        return print_packed_day(out, value >> 41)
    return print_moment(out, value >> 24) and print_fraction(out, value & 0xFFFFFF, PACKED_PRECISION)


cdef inline int print_json_bytes(Buffer out, int kind, const uint8_t* raw, Py_ssize_t size) except -1:
    """Append base64 with the line breaks of the server."""
    cdef Py_ssize_t at, line
    out.put(b"base64:type", 11)
    out.number(kind)
    out.byte(b":")
    for at in range(0, size, BASE64_LINE_BYTES):
        if at:
            out.put(b"\\\\n", 3)
        line = size - at
        print_base64(out, raw + at, BASE64_LINE_BYTES if line > BASE64_LINE_BYTES else line, 0)
    return 0
