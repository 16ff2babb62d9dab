# Bytes that grow, and the digits of numbers in them.

cdef char _PAIRS[200]  # 00 to 99
for _i in range(100):
    _PAIRS[2 * _i] = 48 + _i // 10
    _PAIRS[2 * _i + 1] = 48 + _i % 10


@final
cdef class Buffer:
    """Bytes that grow."""

    cdef char* data
    cdef Py_ssize_t size
    cdef Py_ssize_t room

    def __cinit__(self):
        self.room = 4096
        self.data = <char*>malloc(self.room)
        self.size = 0
        if self.data == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.data)

    cdef int empty(self) except -1:
        """Begin anew; what a large event needed is given back."""
        cdef char* smaller
        self.size = 0
        if self.room > KEPT_BYTES:
            smaller = <char*>realloc(self.data, KEPT_BYTES)
            if smaller != NULL:
                self.data = smaller
                self.room = KEPT_BYTES
        return 0

    cdef inline int need(self, Py_ssize_t more) except -1:
        if more > self.room - self.size:
            self.grow(self.size + more)
        return 0

    cdef int grow(self, Py_ssize_t wanted) except -1:
        cdef Py_ssize_t room = self.room
        cdef char* moved
        while room < wanted:
            room *= 2
        moved = <char*>realloc(self.data, room)
        if moved == NULL:
            raise MemoryError
        self.data = moved
        self.room = room
        return 0

    cdef inline int put(self, const char* text, Py_ssize_t size) except -1:
        self.need(size)
        memcpy(self.data + self.size, text, size)
        self.size += size
        return 0

    cdef inline int byte(self, char one) except -1:
        self.need(1)
        self.data[self.size] = one
        self.size += 1
        return 0

    cdef inline int number(self, uint64_t value) except -1:
        return self.padded(value, digits_of(value))

    cdef inline int signed_number(self, int64_t value) except -1:
        if value < 0:
            self.byte(b"-")
        return self.number(<uint64_t>0 - <uint64_t>value if value < 0 else <uint64_t>value)

    cdef inline int padded(self, uint64_t value, int width) except -1:
        self.need(width)
        write_digits(self.data + self.size, value, width)
        self.size += width
        return 0


cdef inline int digits_of(uint64_t value) noexcept:
    """How many decimal digits a number has."""
    cdef int fewest = used_bits(value) * 1233 >> 12  # log10(2) = 1233 / 4096
    return fewest + (value >= _TENS[fewest] or value == 0)


cdef inline void pair(char* to, uint64_t value) noexcept:
    """Write a number below a hundred."""
    memcpy(to, _PAIRS + 2 * value, 2)


cdef inline void write_digits(char* to, uint64_t value, int width) noexcept:
    while width >= 2:
        width -= 2
        pair(to + width, value % 100)
        value //= 100
    if width:
        to[0] = 48 + value % 10
