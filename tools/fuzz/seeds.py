"""Undamaged transactions of both families, event by event: the inputs of the mutations."""

import gzip
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import zstandard

from relay.model import event_types as types
from relay.model.table import ColumnType
from tests.unit.decode import test_partial_json as partial_json
from tests.unit.decode.event_bytes import WrittenColumn, WrittenTable, image, rows_body
from tests.unit.decode.test_row_decoder import CASES
from tests.unit.source.binlog_bytes import (
    POST_HEADERS,
    UUID,
    mariadb_gtid_body,
    mysql_gtid_body,
    query_body,
)

RECORDED: Final = Path(__file__).parents[2] / "tests" / "golden" / "binlog_events.bin.gz"
"""Transactions of real servers: of each event its type, the length of its body (4 bytes) and the
body; type 0 and the family end one.
"""

_COLUMNS_TOGETHER: Final = 5
_INNER_HEADER: Final = struct.Struct("<IBIIIH")
_RECORD: Final = struct.Struct("<BI")
_STATEMENTS: Final = (
    *(
        "SAVEPOINT `a``b`",
        "ROLLBACK TO `a``b`",
        "RELEASE SAVEPOINT x",
        "XA ROLLBACK 'x'",
        "CREATE TABLE t (a int) START TRANSACTION",
    ),
    *(
        "ALTER TABLE t ADD COLUMN b INT",
        "BEGIN",
        "COMMIT",
        "ROLLBACK",
        "ROLLBACK /* why */",
        "TRUNCATE t",
    ),
)


@dataclass(frozen=True, slots=True)
class Event:
    """One event without header and checksum."""

    type_code: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Transaction:
    """The events of one transaction as a server of the family writes them."""

    mariadb: bool
    events: tuple[Event, ...]


def all_seeds() -> tuple[Transaction, ...]:
    """Return the seeds, always in the same order."""
    made = [transaction for table in _tables() for transaction in _of_table(*table)]
    return (*made, _partial_update(), *_statements(), *_heads(), *recorded())


def recorded() -> tuple[Transaction, ...]:
    """Return the transactions that were taken from real servers."""
    if not RECORDED.exists():
        return ()
    raw, at = gzip.decompress(RECORDED.read_bytes()), 0
    found: list[Transaction] = []
    events: list[Event] = []
    while at < len(raw):
        type_code, length = _RECORD.unpack_from(raw, at)
        at += _RECORD.size
        if not type_code:
            found.append(Transaction(bool(length), tuple(events)))
            events = []
            continue
        events.append(Event(type_code, raw[at : at + length]))
        at += length
    return tuple(found)


def written(transactions: tuple[Transaction, ...]) -> bytes:
    """Return transactions in the form that `recorded` reads."""
    parts = []
    for transaction in transactions:
        parts += [
            _RECORD.pack(event.type_code, len(event.body)) + event.body
            for event in transaction.events
        ]
        parts.append(_RECORD.pack(0, int(transaction.mariadb)))
    return gzip.compress(b"".join(parts), mtime=0)


def _tables() -> list[tuple[WrittenTable, list[bytes | None]]]:
    """Yield tables of a few columns each, which together have every type, and a row for each."""
    key = WrittenColumn(ColumnType.LONG, name="id", nullable=False, unsigned=False)
    found = []
    for first in range(0, len(CASES), _COLUMNS_TOGETHER):
        cases = CASES[first : first + _COLUMNS_TOGETHER]
        columns = [
            WrittenColumn(
                case.type,
                case.metadata,
                f"c{number}",
                unsigned=case.unsigned,
                collation=case.collation,
                labels=case.labels,
            )
            for number, (_, case, _, _) in enumerate(cases)
        ]
        row: list[bytes | None] = [
            b"\1\0\0\0",
            *(bytes.fromhex(stored) for _, _, stored, _ in cases),
        ]
        found.append((WrittenTable((key, *columns), primary_key=(0,)), row))
    return found


def _of_table(table: WrittenTable, row: list[bytes | None]) -> list[Transaction]:
    """Insert, update and delete, in both forms of row events, plain and compressed, whole and with
    absent columns.
    """
    table_map = Event(types.TABLE_MAP, table.map_body())
    v2, v1 = _v2(row), _v1(row)
    begin = Event(types.GTID, mysql_gtid_body(7, 1_700_000_000_000_000))
    packed = [_compressed_rows(each) for each in v1]
    return [
        Transaction(False, (begin, _query("BEGIN"), table_map, *v2, _XID)),
        Transaction(True, (_MARIADB_BEGIN, table_map, *v1, _XID)),
        Transaction(True, (_MARIADB_BEGIN, table_map, *packed, _XID)),
        Transaction(
            False,
            (
                begin,
                Event(types.TRANSACTION_PAYLOAD, _payload([_query("BEGIN"), table_map, *v2, _XID])),
            ),
        ),
    ]


def _v2(row: list[bytes | None]) -> list[Event]:
    width, whole = len(row), image(row)
    empty = _empty(row)
    bitmap_bytes = (width + 7) // 8
    key_only, rest_only = b"\1".ljust(bitmap_bytes, b"\0"), b"\2".ljust(bitmap_bytes, b"\0")
    return [
        Event(types.WRITE_ROWS, rows_body(width, whole, empty, extra=b"\x01\x00")),
        Event(types.UPDATE_ROWS, rows_body(width, whole, empty, kind=types.UPDATE_ROWS)),
        Event(
            types.UPDATE_ROWS,
            rows_body(
                width,
                image(row[:1]),
                image(row[1:2]),
                kind=types.UPDATE_ROWS,
                present=[key_only, rest_only],
            ),
        ),
        Event(types.DELETE_ROWS, rows_body(width, whole, kind=types.DELETE_ROWS)),
    ]


def _v1(row: list[bytes | None]) -> list[Event]:
    width, whole, empty = len(row), image(row), _empty(row)
    return [
        Event(types.WRITE_ROWS_V1, rows_body(width, whole, kind=types.WRITE_ROWS_V1)),
        Event(types.UPDATE_ROWS_V1, rows_body(width, whole, whole, kind=types.UPDATE_ROWS_V1)),
        Event(types.DELETE_ROWS_V1, rows_body(width, empty, whole, kind=types.DELETE_ROWS_V1)),
    ]


def _empty(row: list[bytes | None]) -> bytes:
    """Return the image of the row with NULL in all columns but the first."""
    return image([row[0], *([None] * (len(row) - 1))])


def _partial_update() -> Transaction:
    """Return a partial update of JSON documents."""
    table, change = partial_json.TABLE, partial_json.change
    before = image([b"\1\0\0\0", partial_json.document(1), partial_json.document(2)])
    changes = change(0, "$", 9) + change(0, '$."a"', 9) + change(1, "$.b[0]", 9) + change(2, "$.c")
    after = b"\1\1" + image(
        [b"\1\0\0\0", partial_json.changed(changes[:9]), partial_json.document(3)]
    )
    body = rows_body(
        3, before, after, before, after, kind=types.PARTIAL_UPDATE_ROWS, present=[b"\7", b"\7"]
    )
    begin = Event(types.GTID, mysql_gtid_body(7))
    return Transaction(
        False,
        (
            begin,
            _query("BEGIN"),
            Event(types.TABLE_MAP, table.map_body()),
            Event(types.PARTIAL_UPDATE_ROWS, body),
            _XID,
        ),
    )


def _statements() -> list[Transaction]:
    packed = (
        b"\x82" + len(_STATEMENTS[5]).to_bytes(2, "big") + zlib.compress(_STATEMENTS[5].encode())
    )
    compressed = Event(types.MARIADB_QUERY_COMPRESSED, query_body("") + packed)
    plain = [
        Transaction(True, (Event(types.MARIADB_GTID, mariadb_gtid_body(7)), _query(sql), _XID))
        for sql in _STATEMENTS
    ]
    status = b"\0\1\0\0\0\1\0\0\0\0\0\0\0\0\6\3std\4\x1c\0\x1c\0\x1c\0"
    charset = Event(types.QUERY, query_body("CREATE TABLE `ü` (a INT)", status=status))
    return [
        *plain,
        Transaction(True, (Event(types.MARIADB_GTID, mariadb_gtid_body(8, 1)), compressed)),
        Transaction(False, (Event(types.GTID, mysql_gtid_body(9)), charset)),
    ]


def _heads() -> list[Transaction]:
    """Yield events outside of transactions, and each kind that begins one."""
    tagged = (
        b"\2\x70\0\0\0\2"
        + bytes(2 * each for each in UUID)
        + b"\4\x12\6\x08blue\x08\2\x0a\4\x0c\x7f"
        + bytes(8)
    )
    alone = (
        Event(types.ROTATE, struct.pack("<Q", 4) + b"binlog.000002"),
        Event(types.HEARTBEAT, b"binlog.000001"),
        Event(
            types.FORMAT_DESCRIPTION,
            struct.pack("<H50sIB", 4, b"9.7.0", 0, 19) + POST_HEADERS + b"\1",
        ),
        Event(types.MARIADB_GTID_LIST, struct.pack("<IIIQ", 1, 0, 1, 5)),
        Event(types.PREVIOUS_GTIDS, struct.pack("<Q16sQQQ", 1, UUID, 1, 1, 9)),
        Event(types.XA_PREPARE, b"\0" * 20),
        Event(types.INCIDENT, b"\1\0"),
    )
    begins = (
        Event(types.ANONYMOUS_GTID, mysql_gtid_body(0)),
        Event(types.GTID_TAGGED, tagged),
        Event(types.MARIADB_GTID, mariadb_gtid_body(3, 0x42, tail=bytes(8) + b"\1\0\0\0\2\3abcde")),
        Event(types.MARIADB_GTID, mariadb_gtid_body(3, 0x02, tail=bytes(9))),
    )
    return [Transaction(False, (each,)) for each in alone] + [
        Transaction(begin.type_code == types.MARIADB_GTID, (begin, _query("BEGIN"), _XID))
        for begin in begins
    ]


def _query(sql: str) -> Event:
    return Event(types.QUERY, query_body(sql))


def _compressed_rows(plain: Event) -> Event:
    """Return a row event as MariaDB's log_bin_compress writes it."""
    columns = plain.body[8]
    bitmaps = 2 if plain.type_code == types.UPDATE_ROWS_V1 else 1
    at = 9 + bitmaps * ((columns + 7) // 8)
    images = plain.body[at:]
    packed = b"\x82" + len(images).to_bytes(2, "big") + zlib.compress(images)
    return Event(
        types.MARIADB_COMPRESSED_ROWS_V1[plain.type_code - types.WRITE_ROWS_V1],
        plain.body[:at] + packed,
    )


def _payload(events: list[Event]) -> bytes:
    """Return a TRANSACTION_PAYLOAD with these events."""
    inner = b"".join(
        _INNER_HEADER.pack(1000, each.type_code, 7, _INNER_HEADER.size + len(each.body), 0, 0)
        + each.body
        for each in events
    )
    packed = zstandard.compress(inner)
    fields = (
        b"\2\1\0"
        b"\3\3\xfc"
        + len(inner).to_bytes(2, "little")
        + b"\1\3\xfc"
        + len(packed).to_bytes(2, "little")
    )
    return fields + b"\0" + packed


_XID: Final = Event(types.XID, bytes(8))
_MARIADB_BEGIN: Final = Event(types.MARIADB_GTID, mariadb_gtid_body(7))
