"""Event types of both families by number (MySQL: libs/mysql/binlog/event/binlog_event.h, MariaDB:
sql/log_event.h).
"""

from typing import Final, TypeAlias

Body: TypeAlias = "bytes | memoryview"
"""An event without its header and checksum. A memoryview may refer to a buffer that the next event
overwrites.
"""

LARGEST_EVENT_BYTES: Final = 1 << 30
"""Largest size of an event: the upper limit of max_allowed_packet, to which replicas restrict
events.
"""

START_V3: Final = 1
"""The first event of a file before MySQL 5.0; later files begin with FORMAT_DESCRIPTION."""
QUERY: Final = 2
STOP: Final = 3
ROTATE: Final = 4
INTVAR: Final = 5
APPEND_BLOCK: Final = 9
DELETE_FILE: Final = 11
RAND: Final = 13
USER_VAR: Final = 14
FORMAT_DESCRIPTION: Final = 15
XID: Final = 16
BEGIN_LOAD_QUERY: Final = 17
EXECUTE_LOAD_QUERY: Final = 18
TABLE_MAP: Final = 19
WRITE_ROWS_V1: Final = 23
UPDATE_ROWS_V1: Final = 24
DELETE_ROWS_V1: Final = 25
INCIDENT: Final = 26
HEARTBEAT: Final = 27
IGNORABLE: Final = 28
ROWS_QUERY: Final = 29
WRITE_ROWS: Final = 30
UPDATE_ROWS: Final = 31
DELETE_ROWS: Final = 32
GTID: Final = 33
ANONYMOUS_GTID: Final = 34
PREVIOUS_GTIDS: Final = 35
TRANSACTION_CONTEXT: Final = 36
VIEW_CHANGE: Final = 37
XA_PREPARE: Final = 38
PARTIAL_UPDATE_ROWS: Final = 39
TRANSACTION_PAYLOAD: Final = 40
HEARTBEAT_V2: Final = 41
GTID_TAGGED: Final = 42
MARIADB_ANNOTATE_ROWS: Final = 160
MARIADB_BINLOG_CHECKPOINT: Final = 161
MARIADB_GTID: Final = 162
MARIADB_GTID_LIST: Final = 163
MARIADB_START_ENCRYPTION: Final = 164
MARIADB_QUERY_COMPRESSED: Final = 165
MARIADB_COMPRESSED_ROWS_V1: Final = (166, 167, 168)
MARIADB_COMPRESSED_ROWS: Final = (169, 170, 171)

ROWS: Final = (
    WRITE_ROWS, UPDATE_ROWS, DELETE_ROWS, WRITE_ROWS_V1, UPDATE_ROWS_V1, DELETE_ROWS_V1,
    PARTIAL_UPDATE_ROWS,
)  # fmt: skip
"""Row events that are not compressed."""
WITHOUT_CHANGES: Final = (
    STOP, INTVAR, RAND, USER_VAR, IGNORABLE, ROWS_QUERY, PREVIOUS_GTIDS, TRANSACTION_CONTEXT,
    VIEW_CHANGE, MARIADB_ANNOTATE_ROWS, MARIADB_BINLOG_CHECKPOINT, MARIADB_GTID_LIST,
    MARIADB_START_ENCRYPTION, BEGIN_LOAD_QUERY, APPEND_BLOCK, DELETE_FILE,
)  # fmt: skip
"""Event types without a change: texts of statements, markers, notes of group replication. Also
parts of a following statement in statement format, such as the file of a LOAD DATA.
"""

OLD_LOADS: Final = (6, 8, 10, 12)
"""LOAD DATA in the events of MySQL 4."""
TRIAL_ROWS: Final = (20, 21, 22)
"""Row events of MySQL 5.1 before its general availability."""

IN_USE_FLAG: Final = 0x01
ARTIFICIAL_FLAG: Final = 0x20
"""Flag of an event that the server created for this connection; no binlog file contains it."""
IGNORABLE_FLAG: Final = 0x80
"""Flag of an event that a reader may ignore if it does not know its type."""

NEVER_IN_PAYLOAD: Final = frozenset(
    {
        ROTATE,
        FORMAT_DESCRIPTION,
        HEARTBEAT,
        HEARTBEAT_V2,
        PREVIOUS_GTIDS,
        GTID,
        ANONYMOUS_GTID,
        GTID_TAGGED,
        MARIADB_GTID,
    }
    | {TRANSACTION_PAYLOAD}
)
"""Event types that a compressed transaction cannot contain: its GTID precedes it, and files,
heartbeats and other payloads do not belong to it.
"""
