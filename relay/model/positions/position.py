"""Positions in a source's history, and the order key."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple


@lru_cache(maxsize=64)
def file_number(binlog_file: str) -> int:
    """Return the number at the end of a binlog file's name (`mysql-bin.000042` → 42); 0 if there is
    none.
    """
    digits = binlog_file.rpartition(".")[2]
    return int(digits) if digits.isdecimal() and digits.isascii() else 0


class BinlogPosition(NamedTuple):
    """A binlog file and a byte offset in it."""

    file: str
    offset: int

    @property
    def rank(self) -> tuple[int, int]:
        """Sorts positions of one server: the file's number, then the offset."""
        return file_number(self.file), self.offset

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass(frozen=True, slots=True)
class SourceIdentity:
    """Identifies the server history of a position. `server_uuid` is empty on MariaDB.
    `file_created_s` is the creation time that the binlog file's format-description event carries
    (Unix seconds; 0 if the server writes none); it names one incarnation of a file name.
    """

    server_uuid: str
    server_id: int
    file_created_s: int

    @property
    def server(self) -> str:
        """The server's identifier: the uuid, or the server_id if it has none."""
        return self.server_uuid or str(self.server_id)


@dataclass(frozen=True, slots=True)
class LastTransaction:
    """The newest transaction up to a position that changed something.

    `begin` is the offset of its first event, `gtid` is "" if the source has none. `digest` is in
    hexadecimal (`relay.model.records.last_transaction` computes it).
    """

    begin: BinlogPosition
    gtid: str
    digest: str


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """The end of a whole source transaction: where reading may continue.

    `gtid_set` is the executed set's text, "" without GTIDs. `last` identifies the last transaction
    before it, None if it is unknown. It is ignored when two positions are compared.
    """

    binlog: BinlogPosition
    gtid_set: str
    identity: SourceIdentity
    last: LastTransaction | None = field(default=None, compare=False)


class OrderPair(NamedTuple):
    """The order key of a change, which never decreases within an instance.

    `execute_time` is in milliseconds, `execute_position` has 63 bits.
    """

    execute_time: int
    execute_position: int

    def raised_to(self, other: "OrderPair") -> "OrderPair":
        """Return the smallest order key whose time and position are at least those of both keys."""
        return OrderPair(
            max(self.execute_time, other.execute_time),
            max(self.execute_position, other.execute_position),
        )
