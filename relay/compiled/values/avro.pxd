# Avro's binary encoding of numbers, bytes and characters (Apache Avro specification: Binary Encoding).

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memchr, memset

from relay.compiled.values.buffer cimport Buffer


cdef inline bint put_zigzag(Buffer out, int64_t value) except -1:
    """Append a number as Avro's long: zigzag encoding, then seven bits per byte, the lowest first."""
    cdef uint64_t left = (<uint64_t>value << 1) ^ <uint64_t>(value >> 63)
    while left > 0x7F:
        out.byte(<char>(left & 0x7F | 0x80))
        left >>= 7
    out.byte(<char>left)
    return True


cdef inline bint put_characters(Buffer out, const char* text, Py_ssize_t size) except -1:
    put_zigzag(out, size)
    out.put(text, size)
    return True


cdef inline bint put_blob(Buffer out, const uint8_t* at, Py_ssize_t size, Py_ssize_t length) except -1:
    """Append bytes, filled with zeros to `length`: the binlog has BINARY values without their trailing zeros."""
    cdef Py_ssize_t padding = length - size if length > size else 0
    put_zigzag(out, size + padding)
    out.put(<const char*>at, size)
    out.need(padding)
    memset(out.data + out.size, 0, padding)
    out.size += padding
    return True


cdef inline void unescape(Buffer text) noexcept:
    """Replace the escapes in the inside of a JSON string by their characters. Only characters below U+0020 have `\\u` escapes there."""
    cdef char* data = text.data
    cdef Py_ssize_t at, to
    cdef char* first = <char*>memchr(data, c"\\", text.size)
    if first == NULL:
        return
    at = to = first - data
    while at < text.size:
        if data[at] != c"\\":
            data[to] = data[at]
            at += 1
        elif data[at + 1] == c"u":
            data[to] = <char>(nibble(data[at + 4]) << 4 | nibble(data[at + 5]))
            at += 6
        else:
            data[to] = escaped(data[at + 1])
            at += 2
        to += 1
    text.size = to


cdef inline char escaped(char letter) noexcept:
    if letter == c"n":
        return 10
    if letter == c"t":
        return 9
    if letter == c"r":
        return 13
    if letter == c"b":
        return 8
    if letter == c"f":
        return 12
    return letter


cdef inline int nibble(char digit) noexcept:
    return digit - c"0" if digit <= c"9" else (digit | 0x20) - c"a" + 10
