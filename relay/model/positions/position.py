"""Positions in a source's binlog, and the order key."""

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
        """Sort key for positions of one server: (number of the file, offset)."""
        return file_number(self.file), self.offset

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass(frozen=True, slots=True)
class SourceIdentity:
    """Identifies the server, and the history of its binlog, that a position belongs to.

    server_uuid     empty on MariaDB
    server_id       the server's server_id
    file_created_s  creation time in the format description event of the binlog file, Unix seconds;
                    0 if the server writes none. It distinguishes two files of one name
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
    """The newest transaction with a change before a position.

    begin   coordinates of its first event
    gtid    its GTID, "" if the source has none
    digest  digest of its first changes in hexadecimal (`relay.model.records.last_transaction`)
    """

    begin: BinlogPosition
    gtid: str
    digest: str


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """The end of a whole source transaction, from which reading may continue.

    binlog    the coordinates
    gtid_set  text of the executed set, "" without GTIDs
    identity  the server and its history
    last      the last transaction before the position, None if unknown; ignored in comparisons
    """

    binlog: BinlogPosition
    gtid_set: str
    identity: SourceIdentity
    last: LastTransaction | None = field(default=None, compare=False)


class OrderPair(NamedTuple):
    """The order key of a change, which never decreases within an instance.

    execute_time      Unix milliseconds
    execute_position  63 bits
    """

    execute_time: int
    execute_position: int

    def raised_to(self, other: "OrderPair") -> "OrderPair":
        """Return the smallest order key whose time and position are at least those of both keys."""
        return OrderPair(
            max(self.execute_time, other.execute_time),
            max(self.execute_position, other.execute_position),
        )
