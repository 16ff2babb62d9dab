# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, nonecheck=False
"""Reads the events of plain transactions from a buffer of packets in one call: framing, header, checksum, position and contents.

It stops before anything else: an error or a long packet, an artificial event, a rotation, a statement, a savepoint, a transaction that
never ended, rows without a table, a damaged or incomplete event, an offset beyond 32 bits. The Python reader and assembler continue
there, or raise an error that names the problem.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp

from relay.compiled.contracts import check_fields
from relay.model.change import RawRows, TransactionBegin, TransactionEnd
from relay.model.positions.position import BinlogPosition

cdef enum:
    PACKET_HEADER = 4
    EVENT_HEADER = 19
    CHECKSUM = 4
    LONGEST_PAYLOAD = 0xFFFFFF
    ARTIFICIAL = 0x20
    TABLE_NUMBER = 6

cdef enum:
    QUERY = 2
    XID = 16
    TABLE_MAP = 19
    WRITE_ROWS_V1 = 23
    DELETE_ROWS_V1 = 25
    ROWS_QUERY = 29
    WRITE_ROWS = 30
    DELETE_ROWS = 32
    GTID = 33
    MARIADB_ANNOTATE_ROWS = 160
    MARIADB_GTID = 162

cdef enum:
    MARIADB_GTID_BYTES = 13    # sequence number, domain, flags
    GROUP_COMMIT = 0x02
    GROUP_COMMIT_BYTES = 8
    PLAIN_MARIADB_FLAGS = 0x1E # group commit, transactional, may run in parallel, waited
    HALVED_ALTER = 0x0A        # in the extra flags: a two-phase ALTER was begun or rolled back
    COMMIT_TIME_AT = 42        # after flags, uuid, number, type of the logical clock, and its two times
    COMMIT_TIME_BYTES = 7
    QUERY_HEAD_BYTES = 13      # thread, seconds, length of the database, error, length of the status variables

cdef uint64_t COMMIT_TIME_MASK = (<uint64_t>1 << 55) - 1
cdef const char* _HEX = b"0123456789abcdef"
cdef object new_tuple = tuple.__new__

cdef uint32_t _CRC[8][256]


cdef void make_tables() noexcept:
    """Fill the tables of a CRC-32 that reads eight bytes per step (Intel, "High Octane CRC Generation with the Intel Slicing-by-8 Algorithm")."""
    cdef uint32_t value
    cdef int i, j
    for i in range(256):
        value = i
        for j in range(8):
            value = (value >> 1) ^ (0xEDB88320 if value & 1 else 0)
        _CRC[0][i] = value
    for i in range(256):
        for j in range(1, 8):
            _CRC[j][i] = (_CRC[j - 1][i] >> 8) ^ _CRC[0][_CRC[j - 1][i] & 0xFF]


make_tables()


cdef inline uint32_t four(const uint8_t* at) noexcept:
    return at[0] | <uint32_t>at[1] << 8 | <uint32_t>at[2] << 16 | <uint32_t>at[3] << 24


cdef uint32_t crc32(const uint8_t* at, Py_ssize_t size) noexcept:
    cdef uint32_t value = 0xFFFFFFFF, low, high
    while size >= 8:
        low = value ^ four(at)
        high = four(at + 4)
        value = (
            _CRC[7][low & 0xFF] ^ _CRC[6][low >> 8 & 0xFF] ^ _CRC[5][low >> 16 & 0xFF] ^ _CRC[4][low >> 24]
            ^ _CRC[3][high & 0xFF] ^ _CRC[2][high >> 8 & 0xFF] ^ _CRC[1][high >> 16 & 0xFF] ^ _CRC[0][high >> 24]
        )
        at += 8
        size -= 8
    while size:
        value = (value >> 8) ^ _CRC[0][(value ^ at[0]) & 0xFF]
        at += 1
        size -= 1
    return value ^ 0xFFFFFFFF


cdef bint is_begin(const uint8_t* body, Py_ssize_t size) noexcept:
    """Return whether a QUERY event is the BEGIN that follows MySQL's GTID."""
    cdef Py_ssize_t at
    if size < QUERY_HEAD_BYTES:
        return False
    at = QUERY_HEAD_BYTES + (body[11] | <Py_ssize_t>body[12] << 8) + body[8] + 1
    return size - at == 5 and memcmp(body + at, b"BEGIN", 5) == 0


cdef inline uint64_t eight(const uint8_t* at) noexcept:
    return four(at) | <uint64_t>four(at + 4) << 32


cdef str uuid_text(const uint8_t* at):
    """Return a UUID of 16 bytes as text of 8-4-4-4-12 hexadecimal digits."""
    cdef char text[36]
    cdef int i, to = 0
    for i in range(16):
        if i == 4 or i == 6 or i == 8 or i == 10:
            text[to] = b"-"
            to += 1
        text[to] = _HEX[at[i] >> 4]
        text[to + 1] = _HEX[at[i] & 15]
        to += 2
    return text[:36].decode("ascii")


cdef class EventScanner:
    """Converts the events of plain transactions into items. A `group` holds the state of the open transaction.

    The scanner reads `file`, `identity`, `mariadb` and `transaction` of a group, and calls its method `begin(start, gtid, stays_open)`, which
    opens a transaction. A transaction has `gtid`, `stays_open`, `rows`, `last_row`, and `tables`: bodies of table maps by table number.
    """

    def scan(self, const uint8_t[::1] buffer, Py_ssize_t start, Py_ssize_t end, int64_t offset, bint checksummed, group):
        """Return (items of the complete plain events in buffer[start:end], start of the next packet in the buffer, its binlog offset).

        `offset` is the offset in the binlog file of the first event in the range.
        """
        cdef list items = []
        cdef const uint8_t* payload
        cdef const uint8_t* body
        cdef Py_ssize_t length, size, body_size
        cdef int type_code
        cdef uint32_t log_pos, time_s
        cdef int64_t event_start
        cdef str file = group.file
        cdef bint mariadb = group.mariadb
        transaction = group.transaction
        if end > buffer.shape[0] or start < 0 or offset < 0:
            raise ValueError("the range is not in the buffer")
        while end - start >= PACKET_HEADER + 1 + EVENT_HEADER + CHECKSUM:
            payload = &buffer[start]
            length = payload[0] | <Py_ssize_t>payload[1] << 8 | <Py_ssize_t>payload[2] << 16
            payload += PACKET_HEADER
            if length == LONGEST_PAYLOAD or length > end - start - PACKET_HEADER or length < 1 + EVENT_HEADER + CHECKSUM or payload[0] != 0:
                break
            payload += 1
            size = length - 1
            type_code = payload[4]
            log_pos = four(payload + 13)
            if payload[17] & ARTIFICIAL or four(payload + 9) != <uint32_t>size:
                break
            event_start = offset
            if log_pos:
                if log_pos < offset or log_pos < size:
                    break
                event_start = <int64_t>log_pos - size
            body = payload + EVENT_HEADER
            body_size = size - EVENT_HEADER
            if checksummed:
                body_size -= CHECKSUM
                if crc32(payload, size - CHECKSUM) != four(payload + size - CHECKSUM):
                    break
            time_s = four(payload)
            if type_code == TABLE_MAP or WRITE_ROWS_V1 <= type_code <= DELETE_ROWS_V1 or WRITE_ROWS <= type_code <= DELETE_ROWS:
                if transaction is None or body_size < TABLE_NUMBER:
                    break
                number = four(body) | <uint64_t>(body[4] | <uint32_t>body[5] << 8) << 32
                if type_code == TABLE_MAP:
                    transaction.tables[number] = <bytes>body[:body_size]
                else:
                    table = (<dict>transaction.tables).get(number)
                    if table is None:
                        break
                    transaction.rows = transaction.last_row = <object>transaction.rows + 1
                    place = new_tuple(BinlogPosition, (file, event_start))
                    items.append(new_tuple(RawRows, (table, <bytes>body[:body_size], type_code, time_s, place, mariadb)))
            elif type_code == XID:
                if transaction is None:
                    break
                place = new_tuple(BinlogPosition, (file, event_start + size))
                items.append(new_tuple(TransactionEnd, (place, transaction.gtid, group.identity)))
                transaction = None
            elif type_code == MARIADB_GTID and mariadb:
                if transaction is not None or body_size < MARIADB_GTID_BYTES or body[12] & ~PLAIN_MARIADB_FLAGS:
                    break
                if body_size > MARIADB_GTID_BYTES + (GROUP_COMMIT_BYTES if body[12] & GROUP_COMMIT else 0) and body[
                    MARIADB_GTID_BYTES + (GROUP_COMMIT_BYTES if body[12] & GROUP_COMMIT else 0)
                ] & HALVED_ALTER:
                    break
                gtid = f"{four(body + 8)}-{four(payload + 5)}-{eight(body)}"
                transaction = group.begin(event_start, gtid, True)
                items.append(new_tuple(TransactionBegin, (new_tuple(BinlogPosition, (file, event_start)), gtid, None, time_s)))
            elif type_code == GTID and not mariadb:
                if transaction is not None or body_size < COMMIT_TIME_AT + COMMIT_TIME_BYTES:
                    break
                gtid = f"{uuid_text(body + 1)}:{<int64_t>eight(body + 17)}"
                commit_us = eight(body + COMMIT_TIME_AT - 1) >> 8 & COMMIT_TIME_MASK
                transaction = group.begin(event_start, gtid, False)
                place = new_tuple(BinlogPosition, (file, event_start))
                items.append(new_tuple(TransactionBegin, (place, gtid, commit_us // 1000 or None, time_s)))
            elif type_code == QUERY:
                if transaction is None or not is_begin(body, body_size):
                    break
                transaction.stays_open = True
            elif type_code != ROWS_QUERY and type_code != MARIADB_ANNOTATE_ROWS:
                break
            offset = event_start + size
            start += PACKET_HEADER + length
        group.transaction = transaction
        return items, start, offset


# The scanner creates these named tuples by the index of each field.
check_fields(RawRows, table_map=0, body=1, type_code=2, header_time_s=3, position=4, mariadb=5)
check_fields(TransactionBegin, position=0, gtid=1, commit_time_ms=2, header_time_s=3)
check_fields(TransactionEnd, position=0, gtid=1, identity=2)
check_fields(BinlogPosition, file=0, offset=1)
