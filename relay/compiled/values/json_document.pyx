# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Prints MySQL's binary JSON as text: objects and arrays. `json_parts` finds their parts, `json_scalars` prints all other values."""

from libc.stdint cimport uint8_t
from libc.string cimport memcmp

from relay.compiled.values.buffer cimport Buffer
from relay.compiled.values.column cimport Span, little
from relay.compiled.values.json_parts cimport (
    JSON_INT16, JSON_INT32, JSON_LITERAL, JSON_OPAQUE, JSON_STRING, JSON_UINT16, JSON_UINT32, LARGE_ARRAY, LARGE_OBJECT, SMALL_ARRAY,
    SMALL_OBJECT, Document, Part, claim, open_part,
)
from relay.compiled.values.json_scalars cimport (
    print_json_integer, print_json_literal, print_json_opaque, print_json_scalar, print_json_string, print_json_text,
)


cdef bint print_json(Buffer out, const uint8_t* at, Py_ssize_t size) except -1:
    """Append a document's text, escaped for use inside a JSON string; return False for a document that is not supported."""
    cdef Document document
    if size == 0:
        out.put(b"null", 4)
        return True
    document.bytes = at
    document.unclaimed = size
    return print_json_value(out, &document, at[0], 1, size, 0)


cdef bint print_json_value(Buffer out, Document* document, int kind, Py_ssize_t start, Py_ssize_t end, int depth) except -1:
    if kind == JSON_STRING:
        return print_json_string(out, document, start, end)
    if kind == SMALL_OBJECT or kind == LARGE_OBJECT:
        return print_json_object(out, document, start, end, 4 if kind == LARGE_OBJECT else 2, depth + 1)
    if kind == SMALL_ARRAY or kind == LARGE_ARRAY:
        return print_json_array(out, document, start, end, 4 if kind == LARGE_ARRAY else 2, depth + 1)
    if kind == JSON_OPAQUE:
        return print_json_opaque(out, document, start, end)
    return print_json_scalar(out, document, kind, start, end)


cdef bint print_json_array(Buffer out, Document* document, Py_ssize_t start, Py_ssize_t end, int width, int depth) except -1:
    cdef Part part
    cdef Py_ssize_t i
    if not open_part(document, &part, start, end, width, depth, 0):
        return False
    out.byte(b"[")
    for i in range(part.count):
        if i:
            out.put(b", ", 2)
        if not print_json_entry(out, document, &part, i):
            return False
    out.byte(b"]")
    return True


cdef bint print_json_object(Buffer out, Document* document, Py_ssize_t start, Py_ssize_t end, int width, int depth) except -1:
    cdef Part part
    cdef Py_ssize_t i
    cdef Span key, last
    if not open_part(document, &part, start, end, width, depth, width + 2):
        return False
    last.size = -1
    out.byte(b"{")
    for i in range(part.count):
        key.size = <Py_ssize_t>little(part.keys + i * (width + 2) + width, 2)
        key.start = claim(document, start + <Py_ssize_t>little(part.keys + i * (width + 2), width), key.size, part.end)
        if key.start == NULL or not in_order(&last, &key):
            return False
        last = key
        if i:
            out.put(b", ", 2)
        if not print_json_text(out, key.start, key.size):
            return False
        out.put(b": ", 2)
        if not print_json_entry(out, document, &part, i):
            return False
    out.byte(b"}")
    return True


cdef inline bint in_order(Span* left, Span* right) noexcept:
    """Return whether the key `right` may follow the key `left`; a size of -1 in `left` means that `right` is the first key."""
    if left.size != right.size:
        return left.size < right.size
    return memcmp(left.start, right.start, left.size) < 0


cdef bint print_json_entry(Buffer out, Document* document, Part* part, Py_ssize_t i) except -1:
    """Append the value of one entry. The entry contains a short value itself, and the offset of a longer one."""
    cdef const uint8_t* entry = part.entries + i * (1 + part.width)
    cdef int kind = entry[0]
    if kind == JSON_LITERAL:
        return print_json_literal(out, entry[1])
    if kind == JSON_INT16 or kind == JSON_UINT16:
        return print_json_integer(out, entry + 1, 2, kind == JSON_INT16)
    if part.width == 4 and (kind == JSON_INT32 or kind == JSON_UINT32):
        return print_json_integer(out, entry + 1, 4, kind == JSON_INT32)
    return print_json_value(out, document, kind, part.start + <Py_ssize_t>little(entry + 1, part.width), part.end, part.depth)
