"""Prints the rows of one event from its bytes without a compiler: by functions that are written for a table and its nulls.

It returns a SlowReason for an event that it does not print: the readable path in decode, encode and partition then does the work,
or names the damage. All give the same bytes (tests/unit/pipeline).
"""

import struct
from binascii import b2a_base64
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any, Final, TypeAlias

import orjson

from relay.generated.bounded_forms import BoundedForms
from relay.generated.column_source import ColumnPlan, column_source
from relay.generated.image_ends import ImageEnds
from relay.generated.java_hashes import hash_names
from relay.generated.numbers import double_text, float_text
from relay.generated.row_source import RowSource
from relay.generated.runs import Run, packed_records
from relay.generated.table_source import TableSource
from relay.generated.tables import Damaged, MovedRow, Refused, table_names
from relay.generated.texts import BYTES_AS_TEXT, quoted
from relay.model.message import PrintedRecord
from relay.model.row_path import SlowReason

PrintRows: TypeAlias = Callable[[bytes, str, int, int, int, int, str, str, Any], tuple[int, int, int]]
Printed: TypeAlias = tuple[int, int, int, Sequence[PrintedRecord]]
Nulls: TypeAlias = tuple[bytes, ...]
_FormKey: TypeAlias = tuple["RowPrinter", Nulls | None, bool, bool]

FORMS_KEPT: Final = 1024
"""Functions that are kept ready; one of twelve columns takes some 20 kB, less where tables look the same."""
COLUMN_WORTH_BYTES: Final = 700
"""So many bytes of a table's rows, for each of its columns, must have come since a function was missed before one is written: the
readable rooms take as long for these as writing a function takes, some tenth of a millisecond a column."""
NULLS_KNOWN: Final = 8
"""Sets of null columns that have a function of their own, per table."""
_LATEST_TIME_MS: Final = 9_999_999_999_999  # of 13 digits, in the year 2286
_OUT_OF_RANGE: Final = (IndexError, KeyError, struct.error)
"""What generated code raises for numbers that are in none of its tables, and for rows that end behind the event."""

_forms: "BoundedForms[_FormKey, PrintRows]" = BoundedForms(FORMS_KEPT)


class RowPrinter:
    """The printer of one table under one name, for images that hold every column.

    The parameters are those of relay.compiled.row_printer.RowPrinter. With `worth_bytes` 0 nothing is left to the readable rooms.
    """

    def __init__(
        self,
        columns: Sequence[ColumnPlan],
        key: tuple[int, ...],
        key_head: bytes,
        placed: tuple[int, ...],
        seed: int,
        partitions: int,
        *,
        worth_bytes: int | None = None,
        nulls_known: int = NULLS_KNOWN,
    ) -> None:
        sources = tuple(column_source(ordinal, plan) for ordinal, plan in enumerate(columns))
        self._table = TableSource(sources, key, key_head, placed, seed, partitions)
        self._ends = ImageEnds([(plan[1], plan[2], plan[3]) for plan in columns])
        self._nulls_known: set[Nulls] = set()
        self._last_nulls: dict[bool, Nulls | None] = {}
        self._most_nulls_known = nulls_known
        self._worth_bytes = len(columns) * COLUMN_WORTH_BYTES if worth_bytes is None else worth_bytes
        self._missed_bytes = 0

    def print_rows(
        self,
        body: bytes,
        start: int,
        update: bool,
        before_old: bytes,
        after_old: bytes,
        time: int,
        position: int,
        skip: int,
        largest: int | None,
    ) -> Printed | SlowReason:
        """Return (rows of the event, messages, bytes of their values together, the messages), or why not.

        `before_old` stands between a row and `old`, `after_old` behind; for an update `old` itself is printed between them. `time` is the
        execute time of all rows, `position` the execute position before the first row; the first `skip` rows give no message.
        `largest` None: one message a row; else one for each partition, in the order of their first rows, and LARGE where the value of
        one would have more than `largest` bytes.
        """
        if start > len(body) or time > _LATEST_TIME_MS:
            return SlowReason.VALUE if time > _LATEST_TIME_MS else SlowReason.DAMAGED
        before, after = before_old.decode(BYTES_AS_TEXT), after_old.decode(BYTES_AS_TEXT)
        if not update:
            before, after = "", before + after
        try:
            skipped, at = self._skip(body, start, update, skip) if skip else (0, start)
            first = position + skipped
            if largest is None:
                records: list[PrintedRecord] = []
                printed = self._print(body, at, update, before, after, time, first, records)
            else:
                runs: dict[int, Run] = {}
                printed = self._print(body, at, update, before, after, time, first, runs)
                records = packed_records(runs, before, after, time, with_old=update)
                if any(len(record[2]) > largest for record in records):
                    return SlowReason.LARGE
        except Refused as exc:
            return exc.reason
        except UnicodeError:
            return SlowReason.VALUE
        except _OUT_OF_RANGE:
            return SlowReason.DAMAGED
        if printed is None:
            return SlowReason.FEW_ROWS
        last, size = printed
        return last - position, len(records), size if largest is None else sum(len(record[2]) for record in records), records

    def count_rows(self, body: bytes, start: int, update: bool) -> int | None:
        """Return how many rows the event has, or None where it is damaged."""
        if start > len(body):
            return None
        try:
            return self._ends.rows(body, start, images=2 if update else 1)
        except (Refused, *_OUT_OF_RANGE):
            return None

    def _print(
        self,
        body: bytes,
        at: int,
        update: bool,
        before: str,
        after: str,
        time: int,
        position: int,
        into: "list[PrintedRecord] | dict[int, Run]",
    ) -> tuple[int, int] | None:
        """Print rows from `at` on; return the last position and the bytes of their values, None where no function is worth writing."""
        text, end = body.decode(BYTES_AS_TEXT), len(body)
        size, packed, stuck = 0, isinstance(into, dict), False
        expected = self._last_nulls.get(update)  # most rows have the nulls of those before; the function looks
        while at < end:
            nulls = expected or (None if stuck else self._nulls(body, at, update))
            function = self._function(nulls, update, packed, end)
            if function is None:
                return None
            stopped, position, printed = function(body, text, at, end, position, time, before, after, into)
            size += printed
            stuck = stopped == at and not expected  # at a row that is cut short
            at = stopped
            if nulls is not expected:
                self._last_nulls[update] = nulls
            expected = None
        return position, size

    def _nulls(self, body: bytes, at: int, update: bool) -> Nulls | None:
        """The bytes before each image of a row, or None when the table has had too many others."""
        first = body[at : at + self._table.null_bytes]
        if update:
            at = self._ends.end(body, at)
            nulls: Nulls = (first, body[at : at + self._table.null_bytes])
        else:
            nulls = (first,)
        if nulls not in self._nulls_known:
            if len(self._nulls_known) >= self._most_nulls_known or any(map(self._ends.refuses, nulls)):
                return None
            self._nulls_known.add(nulls)
        return nulls

    def _skip(self, body: bytes, at: int, update: bool, skip: int) -> tuple[int, int]:
        """Step over the first rows; return how many there were, and where the next one begins."""
        fixed_points = self._table.fixed_points
        rows = 0
        while rows < skip and at < len(body):
            first, at = self._ends.spans(body, at)
            if update:
                second, at = self._ends.spans(body, at)
                if any(first[i] != second[i] for i in fixed_points):
                    raise MovedRow
            rows += 1
        return rows, at

    def _function(self, nulls: Nulls | None, update: bool, packed: bool, event_bytes: int) -> PrintRows | None:
        key = self, nulls, update, packed
        function = _forms.get(key)
        if function is None:
            self._missed_bytes += event_bytes
            if self._missed_bytes < self._worth_bytes:
                return None
            self._missed_bytes = 0
            function = self._written(nulls, update, packed)
            _forms.keep(key, function)
        return function

    def _written(self, nulls: Nulls | None, update: bool, packed: bool) -> PrintRows:
        source = RowSource(self._table, nulls, update=update, packed=packed)
        names: dict[str, Any] = {**_common_names(), **source.readers}
        for column in self._table.columns:
            names.update(column.constants)
        exec(code_of(source.text), names)
        function: PrintRows = names["rows"]
        return function


@lru_cache(maxsize=128)
def code_of(text: str) -> CodeType:
    """Return the code of a source. Tables that look the same, as the shards of one do, share their code."""
    return compile(text, "<row printer>", "exec")


@lru_cache(maxsize=1)
def _common_names() -> dict[str, object]:
    own = {
        "Damaged": Damaged,
        "MovedRow": MovedRow,
        "Refused": Refused,
        "Run": Run,
        "TooShort": struct.error,
        "base64": b2a_base64,
        "double_text": double_text,
        "float_text": float_text,
        "quoted": quoted,
        "shortest": orjson.dumps,
    }
    return {**own, **table_names(), **hash_names()}
