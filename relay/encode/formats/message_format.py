"""The interface of message formats, as the pipeline uses it."""

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
"""The further headers of most formats: none."""


class EventRows(Protocol):
    """Encodes the rows of one event, which are named by their index."""

    def encode(self, numbers: Sequence[int], frame: MessageFrame, order: OrderPair, /) -> bytes:
        """Return the value of a message with the rows of these numbers; `order` is of the first."""


class RowsEncoder(Protocol):
    """Encodes the rows of one table under one name.

    `undecodable_values` counts values printed with U+FFFD. Code that prints rows a second time must
    restore the count of the first time.
    """

    undecodable_values: int

    @property
    def prints_images(self) -> bool:
        """Whether images are printed as logged, without columns from other sources."""

    @property
    def is_compiled(self) -> bool:
        """Whether compiled code can print this form."""

    @property
    def compiles_copies(self) -> bool:
        """Whether compiled code can print rows that share an order key, as those of a chunk do."""

    @property
    def envelope(self) -> Envelope | None:
        """The texts that compiled code prints around row images. None for Canal's form."""

    def event(self, rows: Sequence[RowChange]) -> EventRows:
        """Return the encoder of the rows of one event, all of one operation."""

    def encode(
        self, changes: Sequence[RowChange], frame: MessageFrame, order: OrderPair, /
    ) -> bytes:
        """Return the value of a message with these changes, all of one operation.

        `order` is the order key of the first. A format without packed messages takes one change.
        """

    def framing_texts(self, operation: Operation, frame: MessageFrame) -> tuple[bytes, bytes]:
        """Return the two texts that compiled code prints around the images of each row.

        The form of the printer determines where it prints them.
        """

    def framing_text_parts(self, operation: Operation) -> tuple[bytes, bytes, bytes, bytes]:
        """Return the parts of `framing_texts` that are the same for whole transactions. Only for
        Canal's form.
        """

    def count_undecodable(self) -> None:
        """Count a value that is printed with U+FFFD."""

    def take_undecodable(self) -> int:
        """Return how many values were printed with U+FFFD since the last call."""


class StatementFacts(NamedTuple):
    """A statement as messages show it.

    `name`: its logical table, which may have an empty table or be empty altogether. `dead_letter`:
    the id of the dead letter that it reports, "" for a statement of the source.
    """

    kind: MessageType
    name: TableId
    sql: str
    is_ddl: bool
    dead_letter: str = ""


class MessageFormat(Protocol):
    """One format of message values. Keys and headers are the same for all formats.

    `headers` are further headers of each message with a value; tombstones do not have them.
    """

    name: ClassVar[str]
    headers: ClassVar[Headers]

    def rows(
        self, definition: TableDefinition, name: TableId, topics: Sequence[str], /
    ) -> RowsEncoder:
        """Return the encoder of a table's rows, for messages to these topics.

        Raises SchemaMismatch if necessary facts about the table are unknown.
        """

    def statement(
        self, statement: StatementFacts, frame: MessageFrame, order: OrderPair, topic: str, /
    ) -> bytes:
        """Return the value of a message with a statement, for this topic."""

    def reference(self, value: bytes) -> bytes:
        """Return the value of a message whose rows are in the store of large values."""
