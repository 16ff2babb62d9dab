# How a message stands in a block (relay.model.message): its head, the order of its first row, orders, key and value.

from libc.stdint cimport int32_t

cdef enum:
    NONE = -1          # in a head: there is no such part
    ORDER_BYTES = 33

cdef struct Head:
    int32_t partition
    int32_t value      # bytes of each part
    int32_t key
    int32_t orders
