"""Reads rows of which it is known what is null: values together, in groups that end with one of variable size.

A row with other nulls ends the function's loop.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from relay.generated.column_source import ColumnSource, Field, length_of
from relay.generated.kinds import Kind
from relay.generated.table_source import INDENT, Readers, TableSource, indented

_IMAGES: Final = {1: ("n",), 2: ("o", "n")}


@dataclass(frozen=True, slots=True)
class _Group:
    """Values that are read together: of fixed size, at last one of variable size; `size` up to where that one begins."""

    columns: tuple[ColumnSource, ...]
    size: int


class KnownNulls:
    """The source for rows with one image, or two for updates; `nulls` are the bytes before each."""

    def __init__(self, table: TableSource, nulls: tuple[bytes, ...], readers: Readers) -> None:
        self._table = table
        self._readers = readers
        self._nulls = dict(zip(_IMAGES[len(nulls)], nulls, strict=True))
        self._groups = {image: self._grouped(own) for image, own in self._nulls.items()}
        self._is_update = len(nulls) > 1
        # Images with the same nulls are compared group by group, and the old one is read only where they differ.
        self._alike = len(set(nulls)) == 1

    def lines(self) -> list[str]:
        lines, start = list[str](), "at"
        for image, groups in self._groups.items():
            lines.append(f"{image}p0 = {start}")
            for number in range(len(groups)):
                lines += self._read(image, number, lengths_only=image == "o" and self._alike)
            start = f"{image}p{len(groups)}"
        lines += [f"behind = {start}", "if behind > end: raise Damaged"]
        if not self._alike:
            lines += [f"differs{column.ordinal} = {self._differs(column)}" for column in self._table.columns if self._in_both(column)]
        lines += [line for group in self._groups["n"] for column in group.columns for line in column.lines("n")]
        if not self._is_update:
            return lines
        return [*lines, "old = []", *(self._compare_groups() if self._alike else self._compare_columns())]

    def piece(self, column: ColumnSource) -> str:
        return "null" if self._is_null("n", column) else column.piece("n")

    def unless_null(self, column: ColumnSource, line: str) -> list[str]:
        return [] if self._is_null("n", column) else [line]

    def _is_null(self, image: str, column: ColumnSource) -> bool:
        return bool(int.from_bytes(self._nulls[image], "little") & column.bit)

    def _in_both(self, column: ColumnSource) -> bool:
        return not any(self._is_null(image, column) for image in self._nulls)

    def _grouped(self, nulls: bytes) -> list[_Group]:
        bits = int.from_bytes(nulls, "little")
        groups, columns, size = list[_Group](), list[ColumnSource](), self._table.null_bytes
        for column in self._table.columns:
            if bits & column.bit:
                continue
            columns.append(column)
            size += column.width
            if column.variable:
                groups.append(_Group(tuple(columns), size))
                columns, size = [], 0
        if columns or not groups:
            groups.append(_Group(tuple(columns), size))
        return groups

    def _read(self, image: str, number: int, *, lengths_only: bool = False, again: bool = False) -> list[str]:
        """Read a group; its nulls are looked at unless it is read `again`."""
        group, start, next_start = self._groups[image][number], f"{image}p{number}", f"{image}p{number + 1}"
        at = 0 if number else self._table.null_bytes
        check = number == 0 and not again
        fields = [("nulls", Field(0, "<", f"{at}s", at))] if check else []
        for column in group.columns:
            if not (again and _is_read_last(column)) and (column.variable or not lengths_only):
                fields += _fields(image, column, at)
            at += column.width
        lines = self._readers.unpack(start, group.size, fields)
        if check:
            # A row with other nulls may be shorter than what is read here.
            lines[:1] = ["try:", INDENT + lines[0], "except TooShort: break", f"if nulls != {self._nulls[image]!r}: break"]
        last = group.columns[-1] if group.columns else None
        if last is None or not last.variable:
            return [*lines, *([] if again else [f"{next_start} = {start} + {group.size}"])]
        name = f"{image}{last.ordinal}"
        if not again:
            lines.append(f"{next_start} = {start} + {group.size} + {length_of(last, name)}")
        return lines if lengths_only else [*lines, f"{name} = {last.raw}[{start} + {group.size}:{next_start}]"]

    def _compare_groups(self) -> list[str]:
        lines = list[str]()
        for number, group in enumerate(self._groups["n"]):
            lines.append(f"if body[op{number}:op{number + 1}] != body[np{number}:np{number + 1}]:")
            lines += indented(self._read("o", number, again=True))
            at = 0 if number else self._table.null_bytes
            for column in group.columns:
                if _is_read_last(column):
                    reading = self._readers.unpack(f"op{number}", group.size, _fields("o", column, at))
                    lines += indented(self._compare(column, _bytes_differ(number, at, column.width), reading))
                else:
                    lines += indented(self._compare(column, self._differs(column)))
                at += column.width
        return lines

    def _compare_columns(self) -> list[str]:
        lines = list[str]()
        for column in self._table.columns:
            was_null, is_null = (self._is_null(image, column) for image in "on")
            if not was_null and not is_null:
                lines += self._compare(column, f"differs{column.ordinal}")
            elif was_null != is_null and column.ordinal in self._table.fixed_points:
                lines.append("raise MovedRow")
            elif was_null and not is_null:
                lines.append(f"old.append('{column.name}null')")
            elif is_null and not was_null:
                lines += [*column.lines("o"), f"old.append(f'{column.name}{column.piece('o')}')"]
        return lines

    def _differs(self, column: ColumnSource) -> str:
        """Whether the bytes differ, said of the numbers as they were read; where the text decides, at least that."""
        o, n = f"o{column.ordinal}", f"n{column.ordinal}"
        if column.variable:
            return f"{o} != {n}"
        zeros = f" or not {n}" if column.by_text else ""
        return " or ".join(f"{o}{each.ending} != {n}{each.ending}" for each in column.form.fields) + zeros

    def _compare(self, column: ColumnSource, differs: str, reading: Sequence[str] = ()) -> list[str]:
        """The lines that print one column into `old`; `n` of it has been read, and `o`, too, but for `reading`."""
        if column.ordinal in self._table.fixed_points:
            return [f"if {differs}: raise MovedRow"]
        append = f"old.append(f'{column.name}{column.piece('o')}')"
        if column.by_text:
            append = f"if f'{column.piece('o')}' != f'{column.piece('n')}': {append}"
        return [f"if {differs}:", *indented([*reading, *column.lines("o"), append])]


def _is_read_last(column: ColumnSource) -> bool:
    """Whether the old value is read only where its bytes differ: the new numbers of a DECIMAL are no longer as they were read."""
    return column.kind is Kind.DECIMAL


def _fields(image: str, column: ColumnSource, at: int) -> list[tuple[str, Field]]:
    """The names of a column's fields in an image, and the fields from the start of their group on."""
    return [(f"{image}{column.ordinal}{each.ending}", each._replace(at=at + each.at)) for each in column.form.fields]


def _bytes_differ(number: int, at: int, width: int) -> str:
    """Whether bytes differ that stand at the same place of both images' groups."""
    old, new = (f"body[{image}p{number} + {at}:{image}p{number} + {at + width}]" for image in "on")
    return f"{old} != {new}"
