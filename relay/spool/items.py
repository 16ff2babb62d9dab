"""Converts items of `relay.source` into bytes, and back.

A block holds items one after another, each after a byte with its kind. Names and table maps are
repeated often. So a block contains each of them once, as a shared text, before the first item that
refers to it by number. Integers are little-endian; texts are UTF-8.
"""

import struct
from collections.abc import Callable, Iterator
from typing import Final

from relay.model.change import (
    Advance,
    RawItem,
    RawRows,
    Statement,
    TransactionBegin,
    TransactionEnd,
    XaAction,
    XaStep,
)
from relay.model.positions.position import BinlogPosition, SourceIdentity
from relay.model.sql_mode import NO_MODE, SqlMode

_SHARED, _BEGIN, _ROWS, _STATEMENT, _END, _ADVANCE, _XA = range(7)
_XA_ACTIONS: Final = tuple(XaAction)
_NO_TIME: Final = -(2**63)
# Prefix of a shared text with three facts about the next statement: sql_mode, failure, and the
# server's character set. An older relay reads it as a shared text that no item refers to. No file
# name, table map or identity begins with these bytes.
_MODE_MARK: Final = b"\xff" * 6 + b"sql_mode"

_SHARED_HEAD: Final = struct.Struct("<BI")  # length in bytes
_BEGIN_HEAD: Final = struct.Struct(
    "<BIQqIH"
)  # file, offset, commit time, header time, bytes of the GTID
_ROWS_HEAD: Final = struct.Struct(
    "<BIIQBIBI"
)  # table map, file, offset, type, header time, of MariaDB, bytes of the body
_STATEMENT_HEAD: Final = struct.Struct(
    "<BIQIII"
)  # file, offset, header time, bytes of database and SQL
_END_HEAD: Final = struct.Struct("<BIQIH")  # file, offset, identity, bytes of the GTID
_ADVANCE_HEAD: Final = struct.Struct("<BIQI")  # file, offset, identity
_XA_HEAD: Final = struct.Struct("<BIQBH")  # file, offset, action, bytes of the name
_MODE: Final = struct.Struct(
    "<Q?I"
    # sql_mode, whether the statement failed, number of this shared text; a character set may follow
)
_NO_MODE: Final[tuple[SqlMode, bool, str]] = (NO_MODE, False, "")
_IDENTITY: Final = struct.Struct("<IQ")  # server id, creation time of the file; the uuid follows


class BlockWriter:
    """Collects items into one block; `size_bytes` is its present size."""

    def __init__(self) -> None:
        self._block = bytearray()
        self._shared: dict[bytes, int] = {}
        self._file: tuple[str | None, int] = (None, 0)
        self._identity: tuple[SourceIdentity | None, int] = (None, 0)

    @property
    def size_bytes(self) -> int:
        """Return the number of bytes of the items that were added since the last `take`."""
        return len(self._block)

    def add(self, item: RawItem) -> None:
        """Append an item."""
        if isinstance(item, RawRows):
            self._add_rows(item)
        elif isinstance(item, TransactionBegin):
            self._add_begin(item)
        elif isinstance(item, TransactionEnd):
            self._add_end(item)
        elif isinstance(item, Statement):
            self._add_statement(item)
        elif isinstance(item, XaStep):
            self._add_xa(item)
        else:
            coordinates, identity = (
                self._coordinates(item.position),
                self._identity_number(item.identity),
            )
            self._block += _ADVANCE_HEAD.pack(_ADVANCE, *coordinates, identity)

    def take(self) -> bytes:
        """Return the block, and begin a new one."""
        block = bytes(self._block)
        self._block.clear()
        self._shared.clear()
        self._file, self._identity = (None, 0), (None, 0)
        return block

    def _add_rows(self, item: RawRows) -> None:
        table, coordinates, size = (
            self._number(item.table_map),
            self._coordinates(item.position),
            len(item.body),
        )
        self._block += _ROWS_HEAD.pack(
            _ROWS, table, *coordinates, item.type_code, item.header_time_s, item.mariadb, size
        )
        self._block += item.body

    def _add_begin(self, item: TransactionBegin) -> None:
        gtid, coordinates = item.gtid.encode(), self._coordinates(item.position)
        commit_ms = _NO_TIME if item.commit_time_ms is None else item.commit_time_ms
        head = _BEGIN_HEAD.pack(_BEGIN, *coordinates, commit_ms, item.header_time_s, len(gtid))
        self._block += head + gtid

    def _add_end(self, item: TransactionEnd) -> None:
        gtid, coordinates = item.gtid.encode(), self._coordinates(item.position)
        identity = self._identity_number(item.identity)
        self._block += _END_HEAD.pack(_END, *coordinates, identity, len(gtid)) + gtid

    def _add_statement(self, item: Statement) -> None:
        database = item.database.encode(errors="surrogateescape")
        sql = item.sql.encode(errors="surrogateescape")
        coordinates = self._coordinates(item.position)
        if item.sql_mode or item.failed or item.server_charset:
            self._add_mode(item)
        head = (_STATEMENT, *coordinates, item.header_time_s, len(database), len(sql))
        self._block += _STATEMENT_HEAD.pack(*head) + database + sql

    def _add_xa(self, item: XaStep) -> None:
        xid, coordinates = item.xid.encode(), self._coordinates(item.position)
        head = _XA_HEAD.pack(_XA, *coordinates, _XA_ACTIONS.index(item.action), len(xid))
        self._block += head + xid

    def _add_mode(self, item: Statement) -> None:
        """Append sql_mode, failure and character set of the statement that follows, as a shared
        text.

        The text contains its own number, so that each of these texts is unique and is written
        again.
        """
        charset = item.server_charset.encode()
        self._number(
            _MODE_MARK + _MODE.pack(item.sql_mode, item.failed, len(self._shared)) + charset
        )

    def _coordinates(self, position: BinlogPosition) -> tuple[int, int]:
        if position.file != self._file[0]:
            self._file = position.file, self._number(position.file.encode())
        return self._file[1], position.offset

    def _identity_number(self, identity: SourceIdentity) -> int:
        if identity != self._identity[0]:
            text = (
                _IDENTITY.pack(identity.server_id, identity.file_created_s)
                + identity.server_uuid.encode()
            )
            self._identity = identity, self._number(text)
        return self._identity[1]

    def _number(self, shared: bytes) -> int:
        """Return the number of a shared text, and write the text if it is new. The empty file name
        has a number too.
        """
        number = self._shared.get(shared)
        if number is None:
            number = self._shared[shared] = len(self._shared)
            self._block += _SHARED_HEAD.pack(_SHARED, len(shared)) + shared
        return number


def items_of(block: bytes) -> Iterator[RawItem]:
    """Yield the items of a block.

    Raises ValueError, IndexError or struct.error for one that `BlockWriter` did not make.
    """
    return _BlockReader(block).items()


class _BlockReader:
    """Reads the items of one block in their order."""

    def __init__(self, block: bytes) -> None:
        self._block = block
        self._at = 0
        self._shared: list[bytes] = []
        self._files: dict[int, str] = {}
        self._identities: dict[int, SourceIdentity] = {}
        self._mode = _NO_MODE

    def items(self) -> Iterator[RawItem]:
        while self._at < len(self._block):
            item = _READERS[self._block[self._at]](self)
            if item is not None:
                yield item

    def shared_bytes(self) -> None:
        (size,) = self._head(_SHARED_HEAD)
        shared = self._bytes(size)
        self._shared.append(shared)
        if shared.startswith(_MODE_MARK):
            bits, failed, _ = _MODE.unpack_from(shared, len(_MODE_MARK))
            charset = shared[len(_MODE_MARK) + _MODE.size :].decode()
            self._mode = SqlMode.of_bits(bits), failed, charset

    def begin(self) -> TransactionBegin:
        file, offset, commit_ms, time_s, size = self._head(_BEGIN_HEAD)
        return TransactionBegin(
            self._coordinates(file, offset),
            self._text(size),
            None if commit_ms == _NO_TIME else commit_ms,
            time_s,
        )

    def rows(self) -> RawRows:
        table, file, offset, type_code, time_s, mariadb, size = self._head(_ROWS_HEAD)
        return RawRows(
            self._shared[table],
            self._bytes(size),
            type_code,
            time_s,
            self._coordinates(file, offset),
            bool(mariadb),
        )

    def statement(self) -> Statement:
        file, offset, time_s, of_database, of_sql = self._head(_STATEMENT_HEAD)
        database = self._text(of_database)
        mode, self._mode = self._mode, _NO_MODE
        return Statement(
            self._text(of_sql), database, time_s, self._coordinates(file, offset), *mode
        )

    def end(self) -> TransactionEnd:
        file, offset, identity, size = self._head(_END_HEAD)
        return TransactionEnd(
            self._coordinates(file, offset), self._text(size), self._identity(identity)
        )

    def advance(self) -> Advance:
        file, offset, identity = self._head(_ADVANCE_HEAD)
        return Advance(self._coordinates(file, offset), self._identity(identity))

    def xa(self) -> XaStep:
        file, offset, action, size = self._head(_XA_HEAD)
        return XaStep(_XA_ACTIONS[action], self._text(size), self._coordinates(file, offset))

    def _head(self, form: struct.Struct) -> tuple[int, ...]:
        """Return the numbers after the kind byte."""
        head = form.unpack_from(self._block, self._at)
        self._at += form.size
        return head[1:]

    def _bytes(self, size: int) -> bytes:
        self._at += size
        return self._block[self._at - size : self._at]

    def _text(self, size: int) -> str:
        return self._bytes(size).decode(errors="surrogateescape")

    def _coordinates(self, file: int, offset: int) -> BinlogPosition:
        if file not in self._files:
            self._files[file] = self._shared[file].decode()
        return BinlogPosition(self._files[file], offset)

    def _identity(self, number: int) -> SourceIdentity:
        if number not in self._identities:
            server_id, created_s = _IDENTITY.unpack_from(self._shared[number])
            uuid = self._shared[number][_IDENTITY.size :].decode()
            self._identities[number] = SourceIdentity(uuid, server_id, created_s)
        return self._identities[number]


# Functions by kind. They are not bound methods: those would form a reference cycle with the reader,
# which would keep its block in memory until the garbage collector runs.
_READERS: Final[tuple[Callable[[_BlockReader], RawItem | None], ...]] = (
    _BlockReader.shared_bytes,
    _BlockReader.begin,
    _BlockReader.rows,
    _BlockReader.statement,
    _BlockReader.end,
    _BlockReader.advance,
    _BlockReader.xa,
)
