"""Parses the parameters of a request to read messages."""

from dataclasses import dataclass
from time import time

from api.errors import BadRequest
from relay.model.table import TableId
from relay.operations import PeekQuestion, peek_start


@dataclass(frozen=True, slots=True)
class AskedPeek:
    """The parameters of a request to read messages, as texts.

    table      name of the logical table
    operation  only rows with this operation (INSERT, UPDATE or DELETE); "": all
    key        only rows whose key contains this text; "": all
    start      where to begin, in the form that `relay.operations.peek_start` parses
    """

    table: str
    operation: str = ""
    key: str = ""
    start: str = "now"

    def question(self, table: TableId) -> PeekQuestion:
        """Return the parameters for reading messages of `table`. Raises BadRequest for an
        unreadable start.
        """
        try:
            start = peek_start(self.start, int(time() * 1000))
        except ValueError as exc:
            raise BadRequest(str(exc)) from exc
        return PeekQuestion(table, self.operation, self.key, start)
