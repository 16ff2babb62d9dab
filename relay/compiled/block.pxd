# The layout of a message in a block (relay.model.message): head, order key of its first row, order keys of its other rows, key, value.

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from relay.compiled.values.buffer cimport Buffer, write_digits

cdef enum:
    NONE = -1          # in a head: the message does not have this part
    ORDER_BYTES = 33
    ORDER_TIME_BYTES = 14
    LARGEST_PART = 0x7FFFFFFF

cdef struct Head:
    int32_t partition
    int32_t value      # sizes of the parts in bytes
    int32_t key
    int32_t orders


cdef inline Py_ssize_t begin(Buffer out, uint64_t time, uint64_t position) except -1:
    """Reserve space for the head and append the order key; return the offset of the head in `out`."""
    cdef Py_ssize_t head = out.size
    cdef char* order
    out.need(sizeof(Head) + ORDER_BYTES)
    order = out.data + head + sizeof(Head)
    write_digits(order, time, ORDER_TIME_BYTES - 1)
    order[ORDER_TIME_BYTES - 1] = b"."
    write_digits(order + ORDER_TIME_BYTES, position, ORDER_BYTES - ORDER_TIME_BYTES)
    out.size += sizeof(Head) + ORDER_BYTES
    return head


cdef inline int end(Buffer out, Py_ssize_t head, int64_t partition, Py_ssize_t key, Py_ssize_t orders, Py_ssize_t value) except -1:
    """Write the head of a message whose other parts are already appended. Raises MemoryError for a part beyond 2 GiB."""
    cdef Head sizes
    if value > LARGEST_PART or key > LARGEST_PART or orders > LARGEST_PART:
        raise MemoryError
    sizes.partition, sizes.value, sizes.key, sizes.orders = <int32_t>partition, <int32_t>value, <int32_t>key, <int32_t>orders
    memcpy(out.data + head, &sizes, sizeof(Head))
    return 0
