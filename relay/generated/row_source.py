"""Writes the source of a table's printers: one straight-line function for rows with known nulls, one for rows with any.

The functions take `rows(body, text, at, end, position, time, before, after, out)`: the event's bytes, the same as a text of one
character a byte, where the rows begin and the event ends, and what stands around `old`. They return where they stopped, the last
position and the bytes of the values. A function for known nulls stops before a row with others. Every value is read by struct, which
looks for the end itself, or is followed by such a reading or by a check of the end.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relay.generated.column_source import ColumnSource, Field, length_of, literal

_INDENT = "    "
_HEAD = "def rows(body, text, at, end, position, time, before, after, out):"


@dataclass(frozen=True, slots=True)
class TableSource:
    """What a table's rows look like and where they go: ordinals of the key and of the columns placed by."""

    columns: tuple[ColumnSource, ...]
    key: tuple[int, ...]
    key_head: bytes
    placed: tuple[int, ...]
    seed: int
    partitions: int

    @property
    def null_bytes(self) -> int:
        return (len(self.columns) + 7) // 8

    @property
    def fixed_points(self) -> frozenset[int]:
        """The columns that an update printed here leaves alone."""
        return frozenset((*self.key, *self.placed))


class RowSource:
    """The source of one function. `nulls`: the bytes before every row, and None for any."""

    def __init__(self, table: TableSource, nulls: bytes | None, *, update: bool, packed: bool) -> None:
        self.readers: dict[str, Callable[[bytes, int], tuple[object, ...]]] = {}
        self._table = table
        self._nulls = nulls
        self._update = update
        self._packed = packed
        self._lines: list[str] = []
        reading = self._known(nulls) if nulls is not None else self._any()
        self._write(1, ["head = b'%013d.%016d' % (time, position // 1000)", "size = 0", "while at < end:"])
        self._write(2, reading)
        self._write(2, [*self._place(), *self._message(), "at = behind"])
        self._write(1, ["return at, position, size"])

    @property
    def text(self) -> str:
        return "\n".join([_HEAD, *self._lines])

    def _write(self, depth: int, lines: Sequence[str]) -> None:
        self._lines += [_INDENT * depth + line for line in lines]

    def _known(self, nulls: bytes) -> list[str]:
        """Read rows in groups that end with a value of variable size; whole groups are compared first."""
        groups = self._groups(nulls)
        lines: list[str] = []
        start = "at"
        for image in ("o", "n") if self._update else ("n",):
            lines += [f"{image}p0 = {start}"]
            for number, group in enumerate(groups):
                lines += self._read_group(image, number, group, lengths_only=image == "o")
            start = f"{image}p{len(groups)}"
        lines += [f"behind = {start}", "if behind > end: raise Refused"]
        for group in groups:
            for column in group.columns:
                lines += column.lines("n")
        if self._update:
            lines.append("old = []")
            for number, group in enumerate(groups):
                lines += self._compare_group(number, group)
        return lines

    def _groups(self, nulls: bytes) -> "list[_Group]":
        bits = int.from_bytes(nulls, "little")
        groups, columns, size = [], list[ColumnSource](), self._table.null_bytes
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

    def _read_group(self, image: str, number: int, group: "_Group", *, lengths_only: bool) -> list[str]:
        start, next_start = f"{image}p{number}", f"{image}p{number + 1}"
        fields = [] if number else [("nulls", Field(0, "<", f"{self._table.null_bytes}s", self._table.null_bytes))]
        at = 0 if number else self._table.null_bytes
        for column in group.columns:
            if column.variable or not lengths_only:
                fields += [(f"{image}{column.ordinal}{each.ending}", each._replace(at=at + each.at)) for each in column.form.fields]
            at += column.width
        lines = self._unpack(start, group.size, fields)
        if number == 0:
            # A row with other nulls may be shorter than what is read here.
            lines[:1] = ["try:", _INDENT + lines[0], "except TooShort: break", f"if nulls != {self._nulls!r}: break"]
        last = group.columns[-1] if group.columns else None
        if last is None or not last.variable:
            return [*lines, f"{next_start} = {start} + {group.size}"]
        name = f"{image}{last.ordinal}"
        lines.append(f"{next_start} = {start} + {group.size} + {length_of(last, name)}")
        return lines if lengths_only else [*lines, f"{name} = {last.raw}[{start} + {group.size}:{next_start}]"]

    def _unpack(self, start: str, size: int, fields: Sequence[tuple[str, Field]]) -> list[str]:
        """Read fields of one piece; any of the readings raises when the piece ends behind the event."""
        lines = []
        for order in "<>":
            own = [(name, field) for name, field in fields if field.order == order]
            if not own:
                continue
            targets = "".join(f"{name}, " for name, _ in own)
            lines.append(f"{targets.strip()} = {self._struct(order, size, [field for _, field in own])}(body, {start})")
        return lines

    def _struct(self, order: str, size: int, fields: Sequence[Field]) -> str:
        codes, at = [order], 0
        for field in fields:
            codes += [f"{field.at - at}x"] * (field.at > at) + [field.code]
            at = field.at + field.size
        codes += [f"{size - at}x"] * (size > at)
        name = f"read{len(self.readers)}"
        self.readers[name] = struct.Struct("".join(codes)).unpack_from
        return name

    def _compare_group(self, number: int, group: "_Group") -> list[str]:
        """Print into `old` what a group had before, when it differs at all."""
        lines = [f"if body[op{number}:op{number + 1}] != body[np{number}:np{number + 1}]:"]
        inner = self._read_group("o", number, group, lengths_only=False)
        at = 0 if number else self._table.null_bytes
        for column in group.columns:
            inner += self._compare(column, self._differs(column, number, at), column.piece("n"))
            at += column.width
        return [*lines, *(_INDENT + line for line in inner)]

    def _differs(self, column: ColumnSource, number: int, at: int) -> str:
        if column.variable:
            return f"o{column.ordinal} != n{column.ordinal}"
        begin, end = (f"+ {at}" if at else ""), f"+ {at + column.width}"
        return f"body[op{number}{begin}:op{number}{end}] != body[np{number}{begin}:np{number}{end}]"

    def _compare(self, column: ColumnSource, differs: str, new_piece: str) -> list[str]:
        """The lines that print one column into `old`; `o` and `n` of it have been read."""
        if column.ordinal in self._table.fixed_points:
            return [f"if {differs}: raise Refused"]
        append = f"old.append(f'{column.name}{column.piece('o')}')"
        inner = column.lines("o")
        inner += [f"if f'{column.piece('o')}' != f'{new_piece}': {append}"] if column.by_text else [append]
        return [f"if {differs}:", *(_INDENT + line for line in inner)]

    def _any(self) -> list[str]:
        """Read rows column by column."""
        table = self._table
        never = sum(column.bit for column in table.columns if not column.nullable)
        lines = ["behind = at"]
        for image in ("o", "n") if self._update else ("n",):
            nulls = f"{image}_nulls"
            lines += [f"{nulls} = int.from_bytes(body[behind:behind + {table.null_bytes}], 'little')", f"behind += {table.null_bytes}"]
            lines += [f"if {nulls} & {never}: raise Refused"] if never else []
            for column in table.columns:
                lines += self._read_any(image, column)
        lines.append("if behind > end: raise Refused")
        if self._update:
            lines.append("old = []")
            for column in table.columns:
                lines += self._compare_any(column)
        return lines

    def _read_any(self, image: str, column: ColumnSource) -> list[str]:
        """Remember a value's bytes; those of the new image are also printed, into `text` of the column."""
        name = f"{image}{column.ordinal}"
        lines = self._read_one(image, column, "behind")
        lines += [f"{name}_at = behind", f"behind = {name}_behind"]
        if self._update:
            lines.append(f"{name}_raw = body[{name}_at:behind]")
        if image == "n":
            lines += [*column.lines("n"), f"n{column.ordinal}_text = f'{column.piece('n')}'"]
        if not column.nullable:
            return lines
        without = [f"{name}_raw = None"] if self._update else []
        without += [f"n{column.ordinal}_text = 'null'"] if image == "n" else []
        head = [f"if {image}_nulls & {column.bit}:", *(_INDENT + line for line in without or ["pass"]), "else:"]
        return [*head, *(_INDENT + line for line in lines)]

    def _read_one(self, image: str, column: ColumnSource, start: str) -> list[str]:
        name = f"{image}{column.ordinal}"
        fields = [(name + each.ending, each) for each in column.form.fields]
        lines = self._unpack(start, column.width, fields)
        if not column.variable:
            return [*lines, f"{name}_behind = {start} + {column.width}"]
        lines.append(f"{name}_behind = {start} + {column.width} + {length_of(column, name)}")
        return [*lines, f"{name} = {column.raw}[{start} + {column.width}:{name}_behind]"]

    def _compare_any(self, column: ColumnSource) -> list[str]:
        o, n = f"o{column.ordinal}", f"n{column.ordinal}"
        if column.ordinal in self._table.fixed_points:
            return [f"if {o}_raw != {n}_raw: raise Refused"]
        lines = [f"if {o}_raw != {n}_raw:", f"    if {o}_raw is None: old.append(f'{column.name}null')", "    else:"]
        inner = column.lines("o")
        append = f"old.append(f'{column.name}{column.piece('o')}')"
        inner += [f"if {n}_raw is None or f'{column.piece('o')}' != {n}_text: {append}"] if column.by_text else [append]
        return [*lines, *(_INDENT * 2 + line for line in inner)]

    def _piece(self, column: ColumnSource) -> str:
        if self._nulls is None:
            return f"{{n{column.ordinal}_text}}"
        return "null" if int.from_bytes(self._nulls, "little") & column.bit else column.piece("n")

    def _message(self) -> list[str]:
        row = "{{" + ",".join(column.name + self._piece(column) for column in self._table.columns) + "}}"
        old = ["old = ','.join(old)"] if self._update else []
        if self._packed:
            return [*old, "position += 1", *_packed_lines(row, with_old=self._update)]
        around = "{before}[{{{old}}}]{after}" if self._update else "{after}"
        return [
            *old,
            "position += 1",
            "low = position % 1000",
            "if not low: head = b'%013d.%016d' % (time, position // 1000)",
            f"value = f'{{{{\"data\":[{row}{around}'.encode('latin-1')",
            "size += len(value)",
            f"out.append((place, {self._key()}, value, head + B3[low], None))",
        ]

    def _key(self) -> str:
        columns = [self._table.columns[ordinal] for ordinal in self._table.key]
        if not columns:
            return "None"
        values = ",".join(self._piece(column) for column in columns)
        return f"f'{literal(self._table.key_head)},{values}]'.encode('latin-1')"

    def _place(self) -> list[str]:
        """Canal's rule: hashes by xor from the seed, the absolute value cut by the partitions."""
        table = self._table
        lines = [f"place = {table.seed & 0xFFFFFFFF}"]
        for ordinal in table.placed:
            lines += self._placed_by(table.columns[ordinal])
        return [*lines, "if place > 0x7FFFFFFF: place = 0x100000000 - place", f"place %= {table.partitions}"]

    def _placed_by(self, column: ColumnSource) -> list[str]:
        line = f"place ^= {column.hash_of('n')} & 0xFFFFFFFF"
        if self._nulls is None:
            return [f"if not n_nulls & {column.bit}: {line}"]
        return [] if int.from_bytes(self._nulls, "little") & column.bit else [line]


@dataclass(frozen=True, slots=True)
class _Group:
    """Values that are read together: of fixed size, at last one of variable size; `size` up to where that one begins."""

    columns: tuple[ColumnSource, ...]
    size: int


def _packed_lines(row: str, *, with_old: bool) -> list[str]:
    return [
        "run = out.get(place)",
        "if run is None: run = out[place] = Run(position)",
        f"run.rows.append(f'{row}')",
        *(["run.old.append(f'{{{old}}}')"] if with_old else []),
        "run.positions.append(position)",
    ]
