"""Places in a source's history, and the order pair of design section 3."""

from dataclasses import dataclass
from typing import NamedTuple


class BinlogPosition(NamedTuple):
    """A binlog file and a byte offset in it."""

    file: str
    offset: int

    def __str__(self) -> str:
        return f"{self.file}:{self.offset}"


@dataclass(frozen=True, slots=True)
class SourceIdentity:
    """Which server's history a position belongs to.

    `server_uuid` is empty on MariaDB, which has none. `file_created_s` is the creation time that the binlog file's
    format-description event carries (Unix seconds; 0 where the server writes none); it names one incarnation of a file name.
    """

    server_uuid: str
    server_id: int
    file_created_s: int


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """The end of a whole source transaction: where reading may go on. `gtid_set` is the executed set's text, "" without GTIDs."""

    binlog: BinlogPosition
    gtid_set: str
    identity: SourceIdentity


class OrderPair(NamedTuple):
    """`execute_time` (ms) and `execute_position` (63 bits): never goes back within an instance."""

    execute_time: int
    execute_position: int
