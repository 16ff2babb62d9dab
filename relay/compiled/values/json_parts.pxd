# Finds the parts of MySQL's binary JSON (relay.decode.values.json_binary is the Python version, and describes the layout).
#
# Every byte is claimed before it is read, and n bytes can be claimed of a document of n bytes. So reading ends also if its parts refer to
# each other. Keys must be in the server's order, short before long, so that no key occurs twice. The readable packages print any other
# document.

from libc.stdint cimport uint8_t

from relay.compiled.values.column cimport little

cdef enum:
    SMALL_OBJECT = 0x00
    LARGE_OBJECT = 0x01
    SMALL_ARRAY = 0x02
    LARGE_ARRAY = 0x03
    JSON_LITERAL = 0x04
    JSON_INT16 = 0x05
    JSON_UINT16 = 0x06
    JSON_INT32 = 0x07
    JSON_UINT32 = 0x08
    JSON_INT64 = 0x09
    JSON_UINT64 = 0x0A
    JSON_DOUBLE = 0x0B
    JSON_STRING = 0x0C
    JSON_OPAQUE = 0x0F
    DEEPEST_JSON = 100
    JSON_LENGTH_BYTES = 5

cdef struct Document:
    const uint8_t* bytes
    Py_ssize_t unclaimed

cdef struct Part:
    Py_ssize_t start   # the position from which its offsets count
    Py_ssize_t end     # not after the end of the document
    Py_ssize_t count
    const uint8_t* keys
    const uint8_t* entries
    int width          # bytes of each number in it
    int depth


cdef inline const uint8_t* claim(Document* document, Py_ssize_t start, Py_ssize_t size, Py_ssize_t end) noexcept:
    """Claim `size` bytes from `start` on and return their address; NULL if they exceed `end`, or more bytes than the document has are claimed."""
    if size > end - start or size > document.unclaimed:
        return NULL
    document.unclaimed -= size
    return document.bytes + start


cdef inline bint open_part(Document* document, Part* part, Py_ssize_t start, Py_ssize_t end, int width, int depth, int key_bytes) noexcept:
    """Find the key and entry tables of an object or array (`key_bytes` 0); return False if they exceed the document."""
    cdef const uint8_t* head = claim(document, start, 2 * width, end)
    cdef Py_ssize_t size
    if head == NULL or depth > DEEPEST_JSON:
        return False
    part.count = <Py_ssize_t>little(head, width)
    size = <Py_ssize_t>little(head + width, width)
    if size > end - start:
        return False
    part.start, part.end, part.width, part.depth = start, start + size, width, depth
    part.keys = claim(document, start + 2 * width, part.count * (key_bytes + 1 + width), part.end)
    part.entries = part.keys + part.count * key_bytes
    return part.keys != NULL


cdef inline Py_ssize_t sized(Document* document, Py_ssize_t start, Py_ssize_t end, const uint8_t** found) noexcept:
    """Claim bytes that follow their length, which has seven bits per byte; return how many, -1 if the length is invalid."""
    cdef Py_ssize_t size = 0
    cdef const uint8_t* one
    cdef int i
    for i in range(JSON_LENGTH_BYTES):
        one = claim(document, start + i, 1, end)
        if one == NULL:
            return -1
        size |= <Py_ssize_t>(one[0] & 0x7F) << (7 * i)
        if one[0] < 0x80:
            found[0] = claim(document, start + i + 1, size, end)
            return -1 if found[0] == NULL else size
    return -1
