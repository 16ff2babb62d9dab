# MySQL's binary JSON (relay.decode.values.json_binary is the readable form, and says how it is laid out).
#
# Every byte is claimed before it is read. A document of n bytes can claim n, so one whose parts refer to each other ends; keys stand
# in the server's order, short before long, so that none stands twice. What is otherwise is left to the readable form.

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
    Py_ssize_t start   # what offsets count from
    Py_ssize_t end     # never beyond the document's
    Py_ssize_t count
    const uint8_t* keys
    const uint8_t* entries
    int width          # of a number in it
    int depth


cdef bint print_json(Buffer out, const uint8_t* at, Py_ssize_t size) except -1:
    """Append a document's text as it stands within a JSON string; False where it is not understood."""
    cdef Document document
    if size == 0:
        out.put(b"null", 4)
        return True
    document.bytes = at
    document.unclaimed = size
    return print_json_value(out, &document, at[0], 1, size, 0)


cdef inline const uint8_t* claim(Document* document, Py_ssize_t start, Py_ssize_t size, Py_ssize_t end) noexcept:
    """The bytes from `start` on, which must not pass `end`; NULL when they do, or belong to something else."""
    if size > end - start or size > document.unclaimed:
        return NULL
    document.unclaimed -= size
    return document.bytes + start


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


cdef bint open_part(Document* document, Part* part, Py_ssize_t start, Py_ssize_t end, int width, int depth, int key_bytes) noexcept:
    """Find the tables of an object (an array has `key_bytes` 0); False where they do not fit."""
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
    """Whether the key `right` may follow `left`, which has the size -1 where there is none."""
    if left.size != right.size:
        return left.size < right.size
    return memcmp(left.start, right.start, left.size) < 0


cdef bint print_json_entry(Buffer out, Document* document, Part* part, Py_ssize_t i) except -1:
    """Append the value of one entry: it stands there itself where it is short, else an offset."""
    cdef const uint8_t* entry = part.entries + i * (1 + part.width)
    cdef int kind = entry[0]
    if kind == JSON_LITERAL:
        return print_json_literal(out, entry[1])
    if kind == JSON_INT16 or kind == JSON_UINT16:
        return print_json_integer(out, entry + 1, 2, kind == JSON_INT16)
    if part.width == 4 and (kind == JSON_INT32 or kind == JSON_UINT32):
        return print_json_integer(out, entry + 1, 4, kind == JSON_INT32)
    return print_json_value(out, document, kind, part.start + <Py_ssize_t>little(entry + 1, part.width), part.end, part.depth)


cdef Py_ssize_t sized(Document* document, Py_ssize_t start, Py_ssize_t end, const uint8_t** found) noexcept:
    """Claim bytes behind their length, seven bits to the byte; return how many, -1 for none."""
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
