"""The names in a message: the 14 fields of its value, its types and its headers."""

from enum import StrEnum
from typing import Final

ENVELOPE_VERSION: Final = 1
"""Version of the message form. It rises if a reader of the older form would misread the newer
one.
"""

DDL_TOPIC_SUFFIX: Final = ".ddl"
"""Suffix of a topic of statements; the name before it is that of the topic of rows."""

DATA: Final = "data"
DATABASE: Final = "database"
EVENT_TIME: Final = "es"
GTID: Final = "gtid"
ID: Final = "id"
IS_DDL: Final = "isDdl"
MYSQL_TYPE: Final = "mysqlType"
OLD: Final = "old"
KEY_NAMES: Final = "pkNames"
SQL: Final = "sql"
SQL_TYPE: Final = "sqlType"
TABLE: Final = "table"
PUBLISH_TIME: Final = "ts"
TYPE: Final = "type"

FIELDS: Final = (
    DATA,
    DATABASE,
    EVENT_TIME,
    GTID,
    ID,
    IS_DDL,
    MYSQL_TYPE,
    OLD,
    KEY_NAMES,
    SQL,
    SQL_TYPE,
    TABLE,
    PUBLISH_TIME,
    TYPE,
)
"""All fields of the value, in their order."""


class MessageType(StrEnum):
    """The values of `type` (source: alibaba/canal, CanalEntry.EventType)."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CREATE = "CREATE"
    ALTER = "ALTER"
    ERASE = "ERASE"
    QUERY = "QUERY"
    TRUNCATE = "TRUNCATE"
    RENAME = "RENAME"
    CINDEX = "CINDEX"
    DINDEX = "DINDEX"
    XACOMMIT = "XACOMMIT"
    XAROLLBACK = "XAROLLBACK"


ROW_TYPES: Final = frozenset({MessageType.INSERT, MessageType.UPDATE, MessageType.DELETE})


class Header(StrEnum):
    """The names of the Kafka headers."""

    ORDER = "order"
    ORDERS = "orders"
    TAG = "tag"
    INSTANCE = "instance"
    REAL = "real"
    SOURCE = "source"
    GTID = "gtid"
    MAPPING = "mapping"
    CLAIM = "claim"
    DEAD_LETTER = "dead-letter"
    UNKNOWN = "unknown"
    HISTORY = "history"
    FAILED = "failed"
    RENAMED = "renamed"
    SNAPSHOT = "snapshot"
    TRANSACTION = "transaction"
    TRANSACTION_BEFORE = "transaction-before"
    MOVED = "moved"
