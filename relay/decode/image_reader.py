"""Generates the Python function that reads one row image, for each table and set of logged columns.

A row image is a bitmap of NULLs over the logged columns, then the values that are not NULL. The
function has no loop over columns, which makes it fast. Its code consists only of ordinals and the
descriptions in `column_types`, never of names from the server. With compiled modules,
`relay/compiled/row_images.pyx` reads the images instead.
"""

import struct
from collections.abc import Callable
from functools import cached_property
from types import CodeType, TracebackType
from typing import Final, TypeAlias

from relay.decode.column_types import Fixed, Prefixed, Storage, Unpacked, storage_of
from relay.decode.values.malformed import Malformed
from relay.model.table import Column, TableMap
from relay.model.value import ABSENT, Row

ReadImage: TypeAlias = Callable[[bytes, int], "tuple[Row, int]"]

_FILE_NAME: Final = "<row image>"
_LENGTH_EXPRESSIONS: Final = {
    1: "body[pos]",
    2: "body[pos] | body[pos + 1] << 8",
    3: "body[pos] | body[pos + 1] << 8 | body[pos + 2] << 16",
    4: "body[pos] | body[pos + 1] << 8 | body[pos + 2] << 16 | body[pos + 3] << 24",
}


class ImageReader:
    """Reads row images that contain the columns of one bitmap.

    The function is compiled at its first use. A table that compiled code prints never needs it, and
    compiling it for each of thousands of tables would double the time to set them up.
    """

    def __init__(self, table: TableMap, present: bytes) -> None:
        """Raises Malformed if a logged column has measures that no server writes."""
        self._table = table
        self._logged = [i for i in range(len(table.columns)) if present[i >> 3] & (1 << (i & 7))]
        for ordinal in self._logged:
            storage_of(table.columns[ordinal])
        self.is_empty = not self._logged
        self.is_whole = len(self._logged) == len(table.columns)
        self._code: CodeType | None = None
        self._ordinals_by_line: dict[int, int] = {}

    @cached_property
    def read(self) -> ReadImage:
        """The function `read(body, pos)` → (row, position after it).

        For truncated bytes it may return a position after the end of `body`, or raise Malformed,
        IndexError or struct.error. The caller checks all of these.
        """
        source = _Source(self._table.columns, self._logged)
        read = source.compiled()
        self._code, self._ordinals_by_line = read.__code__, source.ordinals_by_line
        return read

    def column_at(self, trace: TracebackType | None) -> Column | None:
        """Return the column whose value raised an exception; `trace` is its traceback."""
        while trace is not None:
            if trace.tb_frame.f_code is self._code:
                ordinal = self._ordinals_by_line.get(trace.tb_lineno)
                return None if ordinal is None else self._table.columns[ordinal]
            trace = trace.tb_next
        return None


class _Source:
    """The source text of one function, with the names that it uses, and the column of each line."""

    def __init__(self, columns: tuple[Column, ...], logged: list[int]) -> None:
        self.names: dict[str, object] = {"ABSENT": ABSENT, "Malformed": Malformed}
        self.lines: list[str] = []
        self.ordinals_by_line: dict[int, int] = {}
        self._write_head(columns, logged)
        for bit, ordinal in enumerate(logged):
            self._write_column(ordinal, columns[ordinal], 1 << bit)
        present = set(logged)
        values = "".join(f"v{i}, " if i in present else "ABSENT, " for i in range(len(columns)))
        self.lines.append(f"    return ({values}), pos")

    def compiled(self) -> ReadImage:
        exec(compile("\n".join(self.lines), _FILE_NAME, "exec"), self.names)
        read: ReadImage = self.names["read"]  # type: ignore[assignment]
        return read

    def _write_head(self, columns: tuple[Column, ...], logged: list[int]) -> None:
        width = (len(logged) + 7) // 8
        never_null = sum(
            1 << bit for bit, ordinal in enumerate(logged) if not columns[ordinal].nullable
        )
        bitmap = f"int.from_bytes(body[pos:pos + {width}], 'little')"
        self.lines += [
            "def read(body, pos):",
            f"    nulls = {_LENGTH_EXPRESSIONS.get(width, bitmap)}" if width else "    nulls = 0",
        ]
        self.lines.append(f"    pos += {width}")
        if never_null:
            self.lines += [
                f"    if nulls & {never_null}:",
                "        raise Malformed('a NOT NULL column is null')",
            ]

    def _write_column(self, ordinal: int, column: Column, null_bit: int) -> None:
        storage = storage_of(column)
        statements = self._statements(ordinal, storage)
        if column.nullable:
            self._write(
                ordinal, [f"    if nulls & {null_bit}:", f"        v{ordinal} = None", "    else:"]
            )
            self._write(ordinal, [f"        {line}" for line in statements])
        else:
            self._write(ordinal, [f"    {line}" for line in statements])

    def _write(self, ordinal: int, lines: list[str]) -> None:
        first = len(self.lines) + 1
        self.lines += lines
        self.ordinals_by_line.update(dict.fromkeys(range(first, first + len(lines)), ordinal))

    def _statements(self, ordinal: int, storage: Storage) -> list[str]:
        value, function = f"v{ordinal}", f"f{ordinal}"
        match storage:
            case Unpacked(width, code):
                self.names[function] = struct.Struct(code).unpack_from
                return [f"{value}, = {function}(body, pos)", f"pos += {width}"]
            case Fixed(width, read):
                self.names[function] = read
                return [f"{value} = {function}(body, pos)", f"pos += {width}"]
            case Prefixed(prefix, convert):
                self.names[function] = convert
                piece = "body[start:pos]"
                return [
                    f"start = pos + {prefix}",
                    f"pos = start + ({_LENGTH_EXPRESSIONS[prefix]})",
                    f"{value} = {piece}" if convert is None else f"{value} = {function}({piece})",
                ]
