# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Passes a block of printed messages to the Kafka client in one call, without a Python object for each message.

The client is librdkafka, and this module uses only its public interface. librdkafka loads the module as a plugin
(`plugin.library.paths`) and calls `conf_init`. Interceptors report which client was created and which messages could not be delivered.
The C functions (rdkafka.h: rd_kafka_produceva) are those of the library in the installed Kafka package.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, strncpy
from posix.dlfcn cimport RTLD_NOW, dlerror, dlopen, dlsym

from relay.compiled.block cimport NONE, ORDER_BYTES, Head
from relay.compiled.kafka_client.librdkafka cimport (
    ARGUMENTS, COPY, NO_ERROR, PURGED_IN_FLIGHT, PURGED_IN_QUEUE, RELAY_IS_FIRST, RELAY_TELL, V_HEADERS, V_KEY, V_MSGFLAGS, V_PARTITION,
    V_RKT, V_VALUE, Argument, Delivered, Library, add_interceptor_t, destroy_t, header_add_t, headers_new_t, produceva_t, topic_name_t,
    topic_new_t,
)

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

cdef enum:
    PLUGIN_FAILED = -1
    TOPIC_NAME_BYTES = 250
    MOST_HEADERS = 32
    LARGE_BYTES = 1 << 16  # the GIL is released for blocks of at least this size

cdef struct Client:
    void* handle
    int claimed                    # whether a delivery has failed
    int refusal                    # error code of the first failed message, 0: none; set after the other fields
    int32_t partition
    char topic[TOPIC_NAME_BYTES]

cdef struct Header:
    const char* name
    Py_ssize_t name_size
    const char* value
    Py_ssize_t value_size

cdef Library _library
cdef bint _loaded = False
cdef Client* _newest = NULL


cdef public int conf_init(void* conf, void** opaque, char* error, size_t error_size) noexcept nogil:
    """Called by librdkafka for a configuration that names this module."""
    cdef Client* client
    if not _loaded:
        return PLUGIN_FAILED
    client = <Client*>calloc(1, sizeof(Client))
    if client == NULL:
        return PLUGIN_FAILED
    # The data about a client is freed with its configuration, which exists longer than its threads.
    if _library.add_on_conf_destroy(conf, b"relay", <void*>on_conf_destroy, client):
        free(client)
        return PLUGIN_FAILED
    return _library.add_on_new(conf, b"relay", <void*>on_new, client)


cdef int on_conf_destroy(void* opaque) noexcept nogil:
    global _newest
    if _newest == opaque:  # the configuration exists, but creating the client failed
        _newest = NULL
    free(opaque)
    return NO_ERROR


cdef int on_new(void* handle, const void* conf, void* opaque, char* error, size_t error_size) noexcept nogil:
    global _newest
    _newest = <Client*>opaque
    _newest.handle = handle
    return _library.add_on_acknowledgement(handle, b"relay", <void*>on_acknowledgement, opaque)


cdef int on_acknowledgement(void* handle, Delivered* message, void* opaque) noexcept nogil:
    """Record the first failed delivery. librdkafka calls this in its own threads for every message that leaves its queue."""
    cdef Client* client = <Client*>opaque
    if message.err and message.err != PURGED_IN_QUEUE and message.err != PURGED_IN_FLIGHT and RELAY_IS_FIRST(&client.claimed):
        client.partition = message.partition
        if message.rkt != NULL:
            strncpy(client.topic, _library.topic_name(message.rkt), TOPIC_NAME_BYTES - 1)
        RELAY_TELL(&client.refusal, message.err)
    return NO_ERROR


cdef void* symbol(void* library, const char* name) except NULL:
    cdef void* found = dlsym(library, name)
    if found == NULL:
        raise OSError(f"the Kafka client has no function {name.decode()}")
    return found


def load(str path):
    """Find librdkafka's functions through the extension module at `path`, which is linked to them. Raises OSError."""
    global _loaded
    if _loaded:
        return
    cdef void* library = dlopen(path.encode(), RTLD_NOW)
    if library == NULL:
        raise OSError(f"{path} cannot be loaded: {dlerror().decode()}")
    _library.produceva = <produceva_t>symbol(library, b"rd_kafka_produceva")
    _library.headers_new = <headers_new_t>symbol(library, b"rd_kafka_headers_new")
    _library.header_add = <header_add_t>symbol(library, b"rd_kafka_header_add")
    _library.headers_destroy = <destroy_t>symbol(library, b"rd_kafka_headers_destroy")
    _library.error_destroy = <destroy_t>symbol(library, b"rd_kafka_error_destroy")
    _library.topic_new = <topic_new_t>symbol(library, b"rd_kafka_topic_new")
    _library.topic_destroy = <destroy_t>symbol(library, b"rd_kafka_topic_destroy")
    _library.topic_name = <topic_name_t>symbol(library, b"rd_kafka_topic_name")
    _library.add_on_new = <add_interceptor_t>symbol(library, b"rd_kafka_conf_interceptor_add_on_new")
    _library.add_on_conf_destroy = <add_interceptor_t>symbol(library, b"rd_kafka_conf_interceptor_add_on_conf_destroy")
    _library.add_on_acknowledgement = <add_interceptor_t>symbol(library, b"rd_kafka_interceptor_add_on_acknowledgement")
    _loaded = True


cdef class BlockSender:
    """Sends through the client that was created last with this module as its plugin, and keeps a reference to it.

    Raises OSError if no such client was created.
    """

    cdef Client* client
    cdef object producer
    cdef dict topics

    def __cinit__(self, producer):
        global _newest
        self.topics = {}
        self.producer = producer
        self.client = _newest
        _newest = NULL
        if self.client == NULL:
            raise OSError("the Kafka client did not load its plugin")

    def __dealloc__(self):
        cdef Py_ssize_t topic
        if self.topics is not None:
            for topic in self.topics.values():
                _library.topic_destroy(<void*>topic)

    @property
    def refusal(self):
        """(error code, topic, partition) of the first message that was not delivered; None if there is none."""
        if self.client.refusal == 0:
            return None
        return self.client.refusal, self.client.topic.decode(), self.client.partition

    def forget_refusal(self):
        """Forget earlier failures, so that `refusal` reports only later ones."""
        self.client.claimed = self.client.refusal = 0

    def send(self, str topic, bytes block, Py_ssize_t start, Py_ssize_t most, tuple names, tuple tail):
        """Pass at most `most` messages from byte `start` of the block to the client; return (messages passed, offset of the next message).

        Stops before a message for which the client's queue has no space, or which it refuses. Raises ValueError for a damaged block.
        """
        cdef Header headers[MOST_HEADERS]
        cdef int count = 2 + <int>len(tail)
        cdef Py_ssize_t at = start, size = PyBytes_GET_SIZE(block), taken
        cdef const char* data = PyBytes_AS_STRING(block)
        cdef void* rkt
        cdef int i
        if count > MOST_HEADERS or start < 0:
            raise ValueError("too many headers, or no place in the block")
        for i in range(count):
            name = names[i] if i < 2 else tail[i - 2][0]
            headers[i].name = PyUnicode_AsUTF8AndSize(name, &headers[i].name_size)
            if i >= 2:
                value = <bytes?>tail[i - 2][1]
                headers[i].value = PyBytes_AS_STRING(value)
                headers[i].value_size = PyBytes_GET_SIZE(value)
        rkt = self.topic(topic)
        if size - start < LARGE_BYTES:
            taken = hand_over(self.client.handle, rkt, data, size, &at, most, headers, count)
        else:
            with nogil:
                taken = hand_over(self.client.handle, rkt, data, size, &at, most, headers, count)
        if taken < 0:
            raise ValueError(f"the block is damaged at byte {at}")
        return taken, at

    cdef void* topic(self, str name) except NULL:
        cdef void* rkt
        found = self.topics.get(name)
        if found is not None:
            return <void*><Py_ssize_t>found
        rkt = _library.topic_new(self.client.handle, PyUnicode_AsUTF8AndSize(name, NULL), NULL)
        if rkt == NULL:
            raise OSError(f"the Kafka client takes no topic of the name {name}")
        self.topics[name] = <Py_ssize_t>rkt
        return rkt


cdef inline Py_ssize_t part_bytes(int32_t size) noexcept nogil:
    return size if size > NONE else 0


cdef Py_ssize_t hand_over(
    void* handle, void* rkt, const char* data, Py_ssize_t size, Py_ssize_t* at, Py_ssize_t most, Header* headers, int count
) noexcept nogil:
    """Return how many messages the client accepted, -1 for a damaged block. `at` becomes the offset after the last accepted message."""
    cdef Argument arguments[ARGUMENTS]
    cdef Py_ssize_t taken = 0, place
    cdef Head head
    cdef void* error
    cdef void* own
    cdef int i
    arguments[0].vtype, arguments[1].vtype, arguments[2].vtype = V_RKT, V_MSGFLAGS, V_PARTITION
    arguments[3].vtype, arguments[4].vtype, arguments[5].vtype = V_KEY, V_VALUE, V_HEADERS
    arguments[0].ptr = rkt
    arguments[1].i = COPY
    while at[0] < size and taken < most:
        place = at[0] + <Py_ssize_t>sizeof(Head) + ORDER_BYTES
        if place > size:
            return -1
        memcpy(&head, data + at[0], sizeof(Head))
        if head.value < 0 or size - place < part_bytes(head.value) + part_bytes(head.key) + part_bytes(head.orders):
            return -1
        own = _library.headers_new(count)
        _library.header_add(own, headers[0].name, headers[0].name_size, data + place - ORDER_BYTES, ORDER_BYTES)
        if head.orders > NONE:
            _library.header_add(own, headers[1].name, headers[1].name_size, data + place, head.orders)
            place += head.orders
        for i in range(2, count):
            _library.header_add(own, headers[i].name, headers[i].name_size, headers[i].value, headers[i].value_size)
        arguments[2].i32 = head.partition
        arguments[3].mem_ptr = NULL
        arguments[3].mem_size = 0
        if head.key > NONE:
            arguments[3].mem_ptr = data + place
            arguments[3].mem_size = head.key
            place += head.key
        arguments[4].mem_ptr = data + place
        arguments[4].mem_size = head.value
        arguments[5].ptr = own
        error = _library.produceva(handle, arguments, ARGUMENTS)
        if error != NULL:
            _library.error_destroy(error)
            _library.headers_destroy(own)
            break
        at[0] = place + head.value
        taken += 1
    return taken
