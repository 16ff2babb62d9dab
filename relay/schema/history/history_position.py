"""Positions in the schema histories of servers. Their order remains correct after a RESET."""

from typing import Any, NamedTuple

from relay.model.positions.position import SourceIdentity, SourcePosition, file_number


class HistoryPosition(NamedTuple):
    """A position in the binlog of one server, with the order of the server's history.

    server     the server's uuid, or its server_id
    created_s  creation time of the binlog file, Unix seconds. It is compared first, because file
               numbers start again after a RESET
    number     number of the binlog file
    file       its name
    offset     offset in it
    """

    server: str
    created_s: int
    number: int
    file: str
    offset: int

    @classmethod
    def of(cls, identity: SourceIdentity, file: str, offset: int) -> "HistoryPosition":
        """Return the position of an offset in a binlog file, on the server with this identity."""
        return cls(identity.server, identity.file_created_s, file_number(file), file, offset)

    @classmethod
    def of_position(cls, position: SourcePosition) -> "HistoryPosition":
        """Return the history position of a source position."""
        return cls.of(position.identity, position.binlog.file, position.binlog.offset)

    def to_fields(self) -> dict[str, Any]:
        """Return the fields by name, for a JSON document."""
        return self._asdict()

    def __str__(self) -> str:
        return f"{self.server}/{self.created_s}/{self.file}:{self.offset}"
