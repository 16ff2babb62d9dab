"""Reads rows of which nothing is known: column by column, each looked up among the nulls."""

from relay.generated.column_source import ColumnSource, length_of
from relay.generated.table_source import Readers, TableSource, indented


class AnyNulls:
    """The source for rows with one image, or two for updates. Every new value is printed into a text of its own."""

    def __init__(self, table: TableSource, readers: Readers, *, update: bool) -> None:
        self._table = table
        self._readers = readers
        self._update = update

    def lines(self) -> list[str]:
        null_bytes = self._table.null_bytes
        never = sum(column.bit for column in self._table.columns if not column.nullable)
        lines = ["behind = at"]
        for image in ("o", "n") if self._update else ("n",):
            lines += [f"{image}_nulls = int.from_bytes(body[behind:behind + {null_bytes}], 'little')", f"behind += {null_bytes}"]
            lines += [f"if {image}_nulls & {never}: raise Refused"] if never else []
            for column in self._table.columns:
                lines += self._read(image, column)
        lines.append("if behind > end: raise Damaged")
        if not self._update:
            return lines
        return [*lines, "old = []", *(line for column in self._table.columns for line in self._compare(column))]

    def piece(self, column: ColumnSource) -> str:
        return f"{{n{column.ordinal}_text}}"

    def unless_null(self, column: ColumnSource, line: str) -> list[str]:
        return [f"if not n_nulls & {column.bit}: {line}"]

    def _read(self, image: str, column: ColumnSource) -> list[str]:
        name = f"{image}{column.ordinal}"
        given, null = [f"{name}_at = behind", *self._read_value(image, column)], list[str]()
        if self._update:
            given.append(f"{name}_raw = body[{name}_at:behind]")
            null.append(f"{name}_raw = None")
        if image == "n":
            given += [*column.lines("n"), f"{name}_text = f'{column.piece('n')}'"]
            null.append(f"{name}_text = 'null'")
        if not column.nullable:
            return given
        return [f"if {image}_nulls & {column.bit}:", *indented(null), "else:", *indented(given)]

    def _read_value(self, image: str, column: ColumnSource) -> list[str]:
        name = f"{image}{column.ordinal}"
        fields = [(name + each.ending, each) for each in column.form.fields]
        lines = [*self._readers.unpack("behind", column.width, fields), f"behind += {column.width}"]
        if not column.variable:
            return lines
        lines += [f"{name}_begin = behind", f"behind += {length_of(column, name)}"]
        return [*lines, f"{name} = {column.raw}[{name}_begin:behind]"]

    def _compare(self, column: ColumnSource) -> list[str]:
        o, n = f"o{column.ordinal}", f"n{column.ordinal}"
        if column.ordinal in self._table.fixed_points:
            return [f"if {o}_raw != {n}_raw: raise MovedRow"]
        append = f"old.append(f'{column.name}{column.piece('o')}')"
        if column.by_text:
            append = f"if {n}_raw is None or f'{column.piece('o')}' != {n}_text: {append}"
        lines = [f"if {o}_raw is None: old.append('{column.name}null')", "else:", *indented([*column.lines("o"), append])]
        return [f"if {o}_raw != {n}_raw:", *indented(lines)]
