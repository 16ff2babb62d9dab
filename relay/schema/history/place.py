"""Places in the histories of servers, in an order that holds over a RESET."""

from typing import Any, NamedTuple

from relay.model.position import SourceIdentity, SourcePosition


class HistoryPlace(NamedTuple):
    """A place in one server's binlog; the file's creation stands first, because after a RESET file numbers begin again."""

    server: str
    created_s: int
    number: int
    file: str
    offset: int

    @classmethod
    def of(cls, identity: SourceIdentity, file: str, offset: int) -> "HistoryPlace":
        """The place of a server that this identity belongs to."""
        digits = file.rpartition(".")[2]
        server = identity.server_uuid or str(identity.server_id)
        return cls(server, identity.file_created_s, int(digits) if digits.isdigit() else 0, file, offset)

    @classmethod
    def of_position(cls, position: SourcePosition) -> "HistoryPlace":
        """The place of a position."""
        return cls.of(position.identity, position.binlog.file, position.binlog.offset)

    def to_fields(self) -> dict[str, Any]:
        return self._asdict()

    def __str__(self) -> str:
        return f"{self.server}/{self.created_s}/{self.file}:{self.offset}"
