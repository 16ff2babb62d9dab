"""The interface of message formats. The pipeline uses formats only by these protocols."""

from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple, Protocol

from relay.compiled import Envelope
from relay.encode.frame import MessageFrame
from relay.envelope import MessageType
from relay.model.change import Operation, RowChange
from relay.model.message import Headers
from relay.model.positions.position import OrderPair
from relay.model.table import TableDefinition, TableId

NO_HEADERS: Final[Headers] = ()
"""For formats without additional headers."""


class EventRows(Protocol):
    """Encodes the rows of one row event. Each row is identified by its index in the event."""

    def encode(self, numbers: Sequence[int], frame: MessageFrame, order: OrderPair, /) -> bytes:
        """Return the value of a message with the rows at the indexes `numbers`. `order` is the
        order key of the first one.
        """


class RowsEncoder(Protocol):
    """Encodes the rows of one table under one name.

    `undecodable_values` counts values that were printed with U+FFFD. If the same rows are printed a
    second time, the caller must restore the count from before that.
    """

    undecodable_values: int

    @property
    def prints_images(self) -> bool:
        """Whether each row image is printed with the columns that were logged for it, without
        columns of the other image.
        """

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code can print the format of this encoder."""

    @property
    def compiles_copies(self) -> bool:
        """Whether compiled code can print rows that share an order key, as copied rows of a chunk
        do.
        """

    @property
    def envelope(self) -> Envelope | None:
        """The texts that compiled code prints around row images. None for Canal's format."""

    def event(self, rows: Sequence[RowChange]) -> EventRows:
        """Return the encoder of the rows of one event, all of one operation."""

    def encode(
        self, changes: Sequence[RowChange], frame: MessageFrame, order: OrderPair, /
    ) -> bytes:
        """Return the value of a message with these changes, all of one operation.

        `order` is the order key of the first one. A format without packed messages accepts only one
        change.
        """

    def framing_texts(self, operation: Operation, frame: MessageFrame) -> tuple[bytes, bytes]:
        """Return the two texts that compiled code prints around the images of each row.

        Where it prints them depends on the format.
        """

    def framing_text_parts(self, operation: Operation) -> tuple[bytes, bytes, bytes, bytes]:
        """Return the parts of `framing_texts` that are the same for all messages of a transaction.
        Only Canal's format has them; the other formats raise NotImplementedError.
        """

    def count_undecodable(self) -> None:
        """Count a value that is printed with U+FFFD."""

    def take_undecodable(self) -> int:
        """Return how many values were printed with U+FFFD since the last call."""


class StatementFacts(NamedTuple):
    """A statement as messages show it.

    kind         its type in messages
    name         its logical table; the table's name, or both names, may be ""
    sql          its text
    is_ddl       False for row changes that were logged as text
    dead_letter  id of the dead letter that it reports, "" for a statement of the source
    """

    kind: MessageType
    name: TableId
    sql: str
    is_ddl: bool
    dead_letter: str = ""


class MessageFormat(Protocol):
    """One format of message values. Keys and headers are the same for all formats.

    `headers` are added to each message with a value; tombstones do not have them.
    """

    name: ClassVar[str]
    headers: ClassVar[Headers]

    def rows(
        self, definition: TableDefinition, name: TableId, topics: Sequence[str], /
    ) -> RowsEncoder:
        """Return an object that encodes the rows of a table, for messages to these topics. `name`
        is the table's name in messages.

        Raises SchemaMismatch if necessary facts about the table are unknown.
        """

    def statement(
        self, statement: StatementFacts, frame: MessageFrame, order: OrderPair, topic: str, /
    ) -> bytes:
        """Return the value of a message with a statement, for this topic."""

    def reference(self, value: bytes) -> bytes:
        """Return the value of the message that is sent instead of `value`, if `value` itself is
        stored outside of Kafka (claim check): `value` without rows.
        """
