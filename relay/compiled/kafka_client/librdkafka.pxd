# The functions and values of librdkafka that the relay uses, with the declarations of rdkafka.h.

from libc.stdint cimport int32_t

cdef extern from *:
    """
    #include <stddef.h>
    #include <stdint.h>
    typedef struct {
        int vtype;
        union {
            void *ptr;
            int i;
            int32_t i32;
            struct { const void *ptr; size_t size; } mem;
            char _pad[64];
        } u;
    } relay_vu_t;
    typedef struct {
        int err;
        void *rkt;
        int32_t partition;
    } relay_message_t;
    #define RELAY_IS_FIRST(place) __sync_bool_compare_and_swap(place, 0, 1)
    #define RELAY_TELL(place, code) __sync_lock_test_and_set(place, code)
    """
    ctypedef struct Argument "relay_vu_t":
        int vtype
        void* ptr "u.ptr"
        int i "u.i"
        int32_t i32 "u.i32"
        const void* mem_ptr "u.mem.ptr"
        size_t mem_size "u.mem.size"
    ctypedef struct Delivered "relay_message_t":
        int err
        void* rkt
        int32_t partition
    bint RELAY_IS_FIRST(int* place) noexcept nogil
    int RELAY_TELL(int* place, int code) noexcept nogil

cdef enum:
    # rd_kafka_vtype_t
    V_RKT = 2
    V_PARTITION = 3
    V_VALUE = 4
    V_KEY = 5
    V_MSGFLAGS = 7
    V_HEADERS = 10
    COPY = 2            # RD_KAFKA_MSG_F_COPY
    ARGUMENTS = 6
    NO_ERROR = 0
    # Errors of messages that were dropped with their batch, because another message was refused.
    PURGED_IN_QUEUE = -152
    PURGED_IN_FLIGHT = -151

ctypedef void* (*produceva_t)(void*, const Argument*, size_t) noexcept nogil
ctypedef void* (*headers_new_t)(size_t) noexcept nogil
ctypedef int (*header_add_t)(void*, const char*, Py_ssize_t, const void*, Py_ssize_t) noexcept nogil
ctypedef void (*destroy_t)(void*) noexcept nogil
ctypedef void* (*topic_new_t)(void*, const char*, void*) noexcept nogil
ctypedef const char* (*topic_name_t)(void*) noexcept nogil
ctypedef int (*add_interceptor_t)(void*, const char*, void*, void*) noexcept nogil

cdef struct Library:
    produceva_t produceva
    headers_new_t headers_new
    header_add_t header_add
    destroy_t headers_destroy
    destroy_t error_destroy
    topic_new_t topic_new
    destroy_t topic_destroy
    topic_name_t topic_name
    add_interceptor_t add_on_new
    add_interceptor_t add_on_conf_destroy
    add_interceptor_t add_on_acknowledgement
