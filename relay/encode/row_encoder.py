"""Encodes rows in Canal's flat JSON.

The bytes that are the same in every row of a table are prepared once for each table. For each row,
only the values are printed.
"""

from collections.abc import Sequence
from typing import ClassVar, Final, Literal, TypeAlias

import orjson

from relay.encode.frame import MessageFrame
from relay.encode.row_columns import ColumnFacts, Present, RowColumns, present_columns
from relay.model.change import Operation, RowChange
from relay.model.positions.position import OrderPair
from relay.model.table import TableDefinition, TableId
from relay.model.value import Row

ValueStyle: TypeAlias = Literal["exact", "canal"]
NOT_PRINTED: Final = OrderPair(0, 0)
"""Placeholder for the order key, which canal-json has only in a message header and not in the
value.
"""


class RowEncoder:
    """Encodes the rows of one table under one name.

    `undecodable_values` counts values that were printed with U+FFFD. Raises SchemaMismatch if a
    necessary fact about a column is unknown.
    """

    is_compiled: ClassVar[bool] = True
    compiles_copies: ClassVar[bool] = True
    __slots__ = (
        "_after_data",
        "_after_sql_type",
        "_canal",
        "_columns",
        "_facts",
        "undecodable_values",
    )

    def __init__(self, definition: TableDefinition, name: TableId, style: ValueStyle) -> None:
        self.undecodable_values = 0
        self._columns = RowColumns(definition, style, self.count_undecodable)
        self._canal = style == "canal"
        self._after_data = b'],"database":' + orjson.dumps(name.database) + b","
        self._after_sql_type = b',"table":' + orjson.dumps(name.table) + b',"ts":'
        self._facts: dict[Present, tuple[bytes, bytes, bytes]] = {}

    @property
    def prints_images(self) -> bool:
        """Whether row images are printed as logged, as Canal does, without adding columns of the
        other image.
        """
        return self._canal

    def event(self, rows: Sequence[RowChange]) -> "EventEncoder":
        """Return the encoder of the rows of one event, all of one operation."""
        return _CanalEvent(self, self._columns, rows) if self._canal else EventEncoder(self, rows)

    @property
    def envelope(self) -> None:
        """Return None, because compiled code prints Canal's form without an envelope."""

    def encode(
        self, changes: Sequence[RowChange], frame: MessageFrame, _order: OrderPair = NOT_PRINTED
    ) -> bytes:
        """Return the value of a message with these changes, all of one operation. The changes are
        encoded as if they were a whole event.
        """
        return self.event(changes).encode(range(len(changes)), frame)

    def framing_texts(self, operation: Operation, frame: MessageFrame) -> tuple[bytes, bytes]:
        """Return the two texts around `old` in a message with one whole row: the text between the
        row and `old`, and the text after `old`.
        """
        before_middle, behind_middle, before_time, behind_time = self.framing_text_parts(operation)
        return (
            before_middle + frame.middle + behind_middle,
            before_time + frame.publish_time + behind_time,
        )

    def framing_text_parts(self, operation: Operation) -> tuple[bytes, bytes, bytes, bytes]:
        """Return the four parts of `framing_texts` that do not depend on the frame: the texts
        before and after event time, GTID and batch, and those before and after the publishing time.
        """
        before_old, before_sql_type, sql_type = self._facts.get(None) or self._new_facts(None)
        old = b"" if operation is Operation.UPDATE else b"null"
        return (
            self._after_data,
            before_old + old,
            before_sql_type + sql_type + self._after_sql_type,
            _TAILS[operation],
        )

    def take_undecodable(self) -> int:
        """Return how many values were printed with U+FFFD since the last call."""
        count, self.undecodable_values = self.undecodable_values, 0
        return count

    def compose(
        self,
        changes: Sequence[RowChange],
        frame: MessageFrame,
        changed: Sequence[Sequence[int]] | None,
        sql_type: bytes | None,
    ) -> bytes:
        """Return the value of a message with these changes.

        changed   ordinals of the changed columns of each row, if they depend on the event; None:
                  they are computed for each row
        sql_type  the JSON of `sqlType` of the whole event; None: that of the row
        """
        operation = operation_of(changes[0])
        present = present_columns(_image(changes[0]))
        before_old, before_sql_type, own_sql_type = self._facts.get(present) or self._new_facts(
            present
        )
        data = b",".join([self._columns.data(_image(change), present) for change in changes])
        old = self._old(changes, changed) if operation is Operation.UPDATE else b"null"
        return b"".join(
            (
                b'{"data":[',
                data,
                self._after_data,
                frame.middle,
                before_old,
                old,
                before_sql_type,
                own_sql_type if sql_type is None else sql_type,
                self._after_sql_type,
                frame.publish_time,
                _TAILS[operation],
            )
        )

    def _old(self, changes: Sequence[RowChange], changed: Sequence[Sequence[int]] | None) -> bytes:
        columns = self._columns
        objects = []
        for i, change in enumerate(changes):
            if change.before is None or change.after is None:
                continue
            own = columns.changed(change.before, change.after) if changed is None else changed[i]
            objects.append(columns.old(change.before, own))
        return b"[" + b",".join(objects) + b"]"

    def _new_facts(self, present: Present) -> tuple[bytes, bytes, bytes]:
        facts: ColumnFacts = self._columns.facts(present)
        fragments = (
            b',"isDdl":false,"mysqlType":' + facts.mysql_type + b',"old":',
            b',"pkNames":' + facts.key_names + b',"sql":"","sqlType":',
            bytes(
                bytearray(facts.sql_type)
            ),  # a copy: each result of the JSON library occupies 4 KB, however short it is
        )
        self._facts[present] = fragments
        return fragments

    def count_undecodable(self) -> None:
        """Count a value that is printed with U+FFFD."""
        self.undecodable_values += 1


_TAILS = {operation: b',"type":"' + operation.value.encode() + b'"}' for operation in Operation}


class EventEncoder:
    """Encodes rows of one event. A row is named by its index in the event. In the exact style, the
    rows of an event do not affect each other.
    """

    __slots__ = ("_encoder", "_rows")

    def __init__(self, encoder: RowEncoder, rows: Sequence[RowChange]) -> None:
        self._encoder = encoder
        self._rows = rows

    def encode(
        self, numbers: Sequence[int], frame: MessageFrame, _order: OrderPair = NOT_PRINTED
    ) -> bytes:
        """Return the value of a message with the rows at these indexes."""
        return self._encoder.compose([self._rows[number] for number in numbers], frame, None, None)


class _CanalEvent(EventEncoder):
    """Encodes rows of one event in Canal's style, in which some fields depend on the whole event.

    `sqlType` is that of the last row. After a row has changed a column, `old` contains that column
    for all later rows.
    """

    __slots__ = ("_changed", "_sql_type")

    def __init__(self, encoder: RowEncoder, columns: RowColumns, rows: Sequence[RowChange]) -> None:
        super().__init__(encoder, rows)
        self._sql_type = columns.sql_types_json(columns.sql_types(_image(rows[-1])))
        self._changed: list[list[int]] = []
        so_far: set[int] = set()
        for change in rows:
            known = len(so_far)
            if change.before is not None and change.after is not None:
                so_far.update(columns.changed(change.before, change.after))
            self._changed.append(
                sorted(so_far) if len(so_far) > known or not self._changed else self._changed[-1]
            )

    def encode(
        self, numbers: Sequence[int], frame: MessageFrame, _order: OrderPair = NOT_PRINTED
    ) -> bytes:
        """Return the value of a message with the rows at these indexes."""
        changes = [self._rows[number] for number in numbers]
        return self._encoder.compose(
            changes, frame, [self._changed[number] for number in numbers], self._sql_type
        )


def operation_of(change: RowChange) -> Operation:
    """Return the operation of a change."""
    if change.before is None:
        return Operation.INSERT
    return Operation.DELETE if change.after is None else Operation.UPDATE


def _image(change: RowChange) -> Row:
    """Return the image that `data` contains."""
    row = change.before if change.after is None else change.after
    return row if row is not None else ()
