"""Counts and compares the rows of a binlog range as both readers read them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from relay.model.change import RowsEvent
from relay.model.table import Logged, TableId, TableMap
from relay.model.value import Row
from relay.second_reader.library import COMPRESSED, LibraryEvent
from relay.second_reader.pairs import Pair
from relay.second_reader.values import DIFFERENT, EQUAL, compared, is_readable

_SHOWN: Final = 20
_NO_NAMES: Final = (
    "tables without binlog_row_metadata=FULL: the library guesses signs and character sets (rows "
    "are counted)"
)


@dataclass(slots=True)
class Report:
    """The result of a comparison of both readers.

    own_rows, library_rows  number of rows by table
    values       number of compared values
    left_out     number of values (or rows) that were not compared, by reason
    different    number of differences
    differences  a sentence for each of the first 20 differences
    """

    own_rows: Counter[TableId] = field(default_factory=Counter)
    library_rows: Counter[TableId] = field(default_factory=Counter)
    values: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    different: int = 0
    differences: list[str] = field(default_factory=list)

    def differs(self, sentence: str) -> None:
        """Count a difference, and store its sentence if it is one of the first 20."""
        self.different += 1
        if len(self.differences) < _SHOWN:
            self.differences.append(sentence)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report."""
        for table in sorted({*self.own_rows, *self.library_rows}):
            yield (
                f"{table}: {self.own_rows[table]} rows read by the relay, "
                f"{self.library_rows[table]} by the library"
            )
        yield f"{self.values} values compared, {self.different} differences"
        yield from (
            f"left out: {number} times {why}" for why, number in sorted(self.left_out.items())
        )
        yield from self.differences
        if self.different > len(self.differences):
            yield f"… and {self.different - len(self.differences)} more differences"


def verify(found: Iterable[Pair]) -> Report:
    """Compare the rows of all pairs. Raises the errors of reading the pairs."""
    report = Report()
    for own, library in found:
        mine = own.content if own is not None and isinstance(own.content, RowsEvent) else None
        if mine is not None:
            report.own_rows[mine.table.id] += len(mine.rows)
        if library is not None and library.table is not None:
            report.library_rows[library.table] += len(library.rows)
        if mine is not None:
            _compare(mine, library, report)
        elif library is not None and library.table is not None:
            report.differs(
                f"{library.position}: only the library reads {len(library.rows)} rows of "
                f"{library.table}"
            )
    return report


def _compare(mine: RowsEvent, library: LibraryEvent | None, report: Report) -> None:
    table = mine.table
    why = _left_out(mine, library)
    if why:
        report.left_out[why] += len(mine.rows)
    elif library is None:
        report.differs(f"{mine.position}: only the relay reads {len(mine.rows)} rows of {table.id}")
    elif (library.table, library.operation, len(library.rows)) != (
        table.id,
        mine.operation,
        len(mine.rows),
    ):
        report.differs(
            f"{mine.position}: the relay reads {len(mine.rows)} rows ({mine.operation}) of "
            f"{table.id}, the library "
            f"{len(library.rows)} ({library.operation}) of {library.table}"
        )
    elif table.logged is not Logged.FULL:
        report.left_out[_NO_NAMES] += len(mine.rows)
    else:
        _compare_rows(mine, library, report)


def _left_out(mine: RowsEvent, library: LibraryEvent | None) -> str:
    """Return why the library cannot have the rows; "" if it should have them."""
    if library is not None and library.passed_over:
        return (
            "rows of "
            f"{COMPRESSED.get(library.passed_over, f'an event of type {library.passed_over}')}: "
            "the library skips it"
        )
    if library is not None and library.error:
        return f"rows that the library cannot read ({library.error})"
    unreadable = [column for column in mine.table.columns if not is_readable(column)]
    if library is None and unreadable:
        return f"rows of tables with {unreadable[0].type.name}: the library does not know the type"
    return ""


def _compare_rows(mine: RowsEvent, library: LibraryEvent, report: Report) -> None:
    for number, (change, other) in enumerate(zip(mine.rows, library.rows, strict=True)):
        for own_image, other_image in zip(change, other, strict=True):
            if own_image is not None and other_image is not None:
                _compare_images(
                    f"{mine.position}: row {number} of {mine.table.id}",
                    mine.table,
                    own_image,
                    other_image,
                    report,
                )


def _compare_images(
    place: str, table: TableMap, own: Row, other: Sequence[object], report: Report
) -> None:
    if len(own) != len(other):
        report.differs(f"{place}: the relay reads {len(own)} values, the library {len(other)}")
        return
    for column, value, theirs in zip(table.columns, own, other, strict=True):
        found = compared(column, value, theirs)
        if found not in (EQUAL, DIFFERENT):
            report.left_out[found] += 1
            continue
        report.values += 1
        if found == DIFFERENT:
            report.differs(
                f"{place}, column {column.name}: the relay reads {value!r}, the library {theirs!r}"
            )
