"""Parses the parameters of a request to read messages."""

from dataclasses import dataclass
from time import time

from api.errors import BadRequest
from relay.model.table import TableId
from relay.operations import PeekQuestion, peek_start


@dataclass(frozen=True, slots=True)
class AskedPeek:
    """The parameters of a request, as texts.

    start  where to begin, as `relay.operations.peek_start` parses it
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
