# Prints MySQL's binary JSON as text.

from libc.stdint cimport uint8_t

from relay.compiled.values.buffer cimport Buffer


cdef bint print_json(Buffer out, const uint8_t* at, Py_ssize_t size) except -1
