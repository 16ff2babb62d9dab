"""Loads transforms: functions of the installation's own packages that change rows before they are
published.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any, Final

from relay.errors import ConfigurationError, LookupUnreachable, RelayError, TransformFailed
from relay.model.change import RowChange
from relay.model.table import TableDefinition, TableId
from relay.model.value import ABSENT, Row, Value
from relay.refine.added_columns import widened
from relay.refine.plain_values import PlainColumn, plain_column
from relay.refine.transformed import Change, Image, Lookup, Plain, TransformFunction
from relay.settings import TransformSettings

ENTRY_POINTS: Final = "roma.transforms"
"""The group of entry points that contains the functions by name."""


class Transform:
    """One transform of the settings, with its lookups.

    Raises ConfigurationError if its function cannot be imported, or if it names a lookup that is
    not configured.
    """

    def __init__(self, settings: TransformSettings, lookups: Mapping[str, Lookup]) -> None:
        self.settings = settings
        self.function = transform_function(settings.function)
        missing = [name for name in settings.lookups if name not in lookups]
        if missing:
            raise ConfigurationError(
                f"The transform of {settings.table} names the lookup {missing[0]}, which is not "
                f"configured."
            )
        self.lookups = {name: lookups[name] for name in settings.lookups}

    def of(
        self,
        definition: TableDefinition,
        logical: TableId,
        texts: Sequence[Callable[[Any], str]],
        *,
        discreet: bool,
    ) -> "TableTransform":
        """Return the transform for the rows of one real table.

        texts     functions that print the values of the table's columns
        discreet  True: errors must not contain values, because some of them are masked or hidden
        """
        return TableTransform(self, definition, logical, texts, discreet=discreet)


def transform_function(name: str) -> TransformFunction:
    """Load a function by the name of its entry point. Raises ConfigurationError."""
    found = [each for each in entry_points(group=ENTRY_POINTS) if each.name == name]
    if not found:
        raise ConfigurationError(
            f"No installed package has an entry point {name!r} in the group {ENTRY_POINTS}."
        )
    try:
        function: TransformFunction = found[0].load()
    except Exception as exc:  # whatever importing a foreign module raises
        raise ConfigurationError(
            f"The transform {name} ({found[0].value}) cannot be loaded: {type(exc).__name__}: "
            f"{exc}."
        ) from exc
    if not callable(function):
        raise ConfigurationError(f"The transform {name} ({found[0].value}) is not a function.")
    return function


class TableTransform:
    """A transform for one real table. `definition` is the table with the columns that the transform
    adds.

    Each row of the source takes `pairs` order keys, regardless of how many changes the function
    returns. So later rows keep their order keys if the relay reads a row again and a lookup then
    has another answer.
    """

    def __init__(
        self,
        transform: Transform,
        definition: TableDefinition,
        logical: TableId,
        texts: Sequence[Callable[[Any], str]],
        *,
        discreet: bool,
    ) -> None:
        settings = transform.settings
        self.definition = widened(definition, settings.adds, settings.key)
        # an update that changes the key is published as two changes
        self.pairs = 2 * settings.most_changes
        self._transform = transform
        self._logical = str(logical)
        added = self.definition.map.columns[len(texts) :]
        pairs = [
            *zip(definition.map.columns, texts, strict=True),
            *((column, _utf8) for column in added),
        ]
        self._columns = [(column.name, plain_column(column, text)) for column, text in pairs]
        self._own = len(texts)
        self._discreet = discreet

    def changes(self, change: RowChange) -> list[RowChange]:
        """Return the function's result for a change. Raises TransformFailed, LookupUnreachable."""
        settings = self._transform.settings
        lookups = {name: _Remembering(lookup) for name, lookup in self._transform.lookups.items()}
        try:
            given = Change(self._logical, self._plain(change.before), self._plain(change.after))
            made = [
                self._row_change(each, change) for each in self._transform.function(given, lookups)
            ]
        except Exception as exc:
            _raise_what_a_lookup_raised(lookups)
            if isinstance(exc, RelayError):
                raise
            words = f": {exc}" if str(exc) and not self._discreet else ""
            where = f"on a row of {self.definition.id}"
            raise TransformFailed(
                f"The transform {settings.function} failed {where} with "
                f"{type(exc).__name__}{words}."
            ) from exc
        _raise_what_a_lookup_raised(lookups)
        if len(made) > settings.most_changes:
            why = (
                f"made {len(made)} changes of one row, and most_changes is {settings.most_changes}"
            )
            raise TransformFailed(f"The transform {settings.function} {why}.")
        return made

    def _plain(self, row: Row | None) -> dict[str, Plain] | None:
        if row is None:
            return None
        # the added columns have no value in the source's row
        read = zip(self._columns, row, strict=False)
        return {
            name: None if value is None else column.out(value)
            for (name, column), value in read
            if value is not ABSENT
        }

    def _row_change(self, made: Change, given: RowChange) -> RowChange:
        if made.before is None and made.after is None:
            raise TransformFailed(
                f"The transform {self._transform.settings.function} returned a change with "
                "neither `before` nor `after`."
            )
        return RowChange(self._row(made.before, given), self._row(made.after, given))

    def _row(self, image: Image | None, given: RowChange) -> Row | None:
        if image is None:
            return None
        names = {name for name, _ in self._columns}
        if not image.keys() <= names:
            raise ValueError(
                f"the table has no column {min(image.keys() - names)!r}, and `adds` does not "
                "name it"
            )
        return tuple([self._value(ordinal, image, given) for ordinal in range(len(self._columns))])

    def _value(self, ordinal: int, image: Image, given: RowChange) -> Value:
        """Return the value of one column of a returned row.

        A value that the function did not change stays as it was read, because plain values cannot
        represent every value.
        """
        name, column = self._columns[ordinal]
        if name not in image:
            if ordinal >= self._own:
                return None
            if any(row is not None and row[ordinal] is ABSENT for row in given):
                return ABSENT
            raise ValueError(f"the column {name!r} is missing")
        plain = image[name]
        if plain is None:
            return None
        for row in given:
            if row is not None and ordinal < self._own and _unchanged(row[ordinal], plain, column):
                return row[ordinal]
        return column.back(plain)


class _Remembering:
    """A lookup that stores its error, because a function may catch it."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self.raised: LookupUnreachable | None = None

    def __call__(self, *arguments: Plain) -> Image | None:
        try:
            return self._lookup(*arguments)
        except LookupUnreachable as exc:
            self.raised = exc
            raise


def _raise_what_a_lookup_raised(lookups: Mapping[str, _Remembering]) -> None:
    for lookup in lookups.values():
        if lookup.raised is not None:
            raise lookup.raised


def _unchanged(value: Value, plain: Plain, column: PlainColumn) -> bool:
    if value is None or value is ABSENT:
        return False
    was = column.out(value)
    return type(was) is type(plain) and was == plain and repr(was) == repr(plain)


def _utf8(value: bytes) -> str:
    return value.decode()
