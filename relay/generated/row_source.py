"""Writes the source of a table's printers: one straight-line function for rows with known nulls, one for rows with any.

The functions take `rows(body, text, at, end, position, time, before, after, out)`: the event's bytes, the same as a text of one
character a byte, where the rows begin and the event ends, and what stands around `old`. They return where they stopped, the last
position and the bytes of the values. A function for known nulls stops before a row with others. Every value is read by struct, which
looks for the end itself, or is followed by such a reading or by a check of the end; nothing of a row is printed before.
"""

from typing import Final

from relay.generated.any_nulls import AnyNulls
from relay.generated.column_source import literal
from relay.generated.known_nulls import KnownNulls
from relay.generated.table_source import Readers, RowReading, TableSource, indented

_HEAD: Final = (
    "def rows(body, text, at, end, position, time, before, after, out):",
    "    head = b'%013d.%016d' % (time, position // 1000)",
    "    size = 0",
    "    while at < end:",
)


class RowSource:
    """The source of one function and the objects that it calls. `nulls`: the bytes before each image of every row, and None for any."""

    def __init__(self, table: TableSource, nulls: tuple[bytes, ...] | None, *, update: bool, packed: bool) -> None:
        readers = Readers()
        self.readers = readers.by_name
        self._table = table
        self._update = update
        self._reading: RowReading
        self._reading = AnyNulls(table, readers, update=update) if nulls is None else KnownNulls(table, nulls, readers)
        old = ["old = ','.join(old)"] if update else []
        message = [*self._place(), *old, "position += 1", *(self._packed() if packed else self._single()), "at = behind"]
        self.text = "\n".join([*_HEAD, *indented([*self._reading.lines(), *message], 2), "    return at, position, size"])

    def _place(self) -> list[str]:
        """Canal's rule: hashes by xor from the seed, the absolute value cut by the partitions."""
        table = self._table
        lines = [f"place = {table.seed & 0xFFFFFFFF}"]
        for column in (table.columns[ordinal] for ordinal in table.placed):
            lines += self._reading.unless_null(column, f"place ^= {column.hash_of('n')} & 0xFFFFFFFF")
        return [*lines, "if place > 0x7FFFFFFF: place = 0x100000000 - place", f"place %= {table.partitions}"]

    def _single(self) -> list[str]:
        around = "{before}[{{{old}}}]{after}" if self._update else "{after}"
        return [
            "low = position % 1000",
            "if not low: head = b'%013d.%016d' % (time, position // 1000)",
            f"value = f'{{{{\"data\":[{self._row()}{around}'.encode('latin-1')",
            "size += len(value)",
            f"out.append((place, {self._key()}, value, head + B3[low], None))",
        ]

    def _packed(self) -> list[str]:
        return [
            "run = out.get(place)",
            "if run is None: run = out[place] = Run(position)",
            f"run.rows.append(f'{self._row()}')",
            *(["run.old.append(f'{{{old}}}')"] if self._update else []),
            "run.positions.append(position)",
        ]

    def _row(self) -> str:
        return "{{" + ",".join(column.name + self._reading.piece(column) for column in self._table.columns) + "}}"

    def _key(self) -> str:
        columns = [self._table.columns[ordinal] for ordinal in self._table.key]
        if not columns:
            return "None"
        values = ",".join(self._reading.piece(column) for column in columns)
        return f"f'{literal(self._table.key_head)},{values}]'.encode('latin-1')"
