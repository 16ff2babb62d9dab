"""Describes one change, as a service receives it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    overload,
)

from roma_client.records.values import Columns

Values: TypeAlias = Literal["python", "text"]
Texts: TypeAlias = Mapping[str, str | None]

LATER: Final = "_later"
"""Key in a change's fields: a function that makes fields which are rarely read, and its arguments.

The function receives a field's name and this entry, and raises AttributeError for other names.
"""
COLUMNS: Final = "_columns"
"""Key in a change's fields: the Columns that the changes of similar messages share."""
new_tuple: Final = tuple.__new__
"""Makes a NamedTuple without its constructor, which is slower because it is written in Python."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_Found = TypeVar("_Found")


class Operation(StrEnum):
    """The kind of a row change, or STATEMENT."""

    INSERT = "INSERT"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    STATEMENT = "STATEMENT"
    """DDL, or a change that the source logged as SQL text. Only with `ddl=True`."""


class Order(NamedTuple):
    """The order key. Of two changes of one key, the one with the greater order is newer.

    execute_time      of the source transaction, Unix milliseconds
    execute_position  rises with every row of an instance, 63 bits
    """

    execute_time: int
    execute_position: int


NO_ORDER: Final = Order(0, 0)
"""The order of a tombstone without an order header, which older releases wrote to erase a
person.
"""


class SourcePosition(NamedTuple):
    """Binlog coordinates of a change, or of the begin or end of a transaction, on its source."""

    server_id: int
    file: str
    offset: int


class Place(NamedTuple):
    """The coordinates of a record in Kafka."""

    topic: str
    partition: int
    offset: int


class _Kept(Generic[_Found]):
    """A property that is computed when it is first read. functools' one locks before Python 3.12.

    Two threads may compute it twice: it must be the same then.
    """

    def __init__(self, compute: "Callable[[Change], _Found]") -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, change: None, owner: Any = None) -> "_Kept[_Found]": ...

    @overload
    def __get__(self, change: "Change", owner: Any = None) -> _Found: ...

    def __get__(self, change: "Change | None", owner: Any = None) -> "_Kept[_Found] | _Found":
        if change is None:
            return self
        found = change.__dict__[self._name] = self._compute(change)
        return found


@dataclass(frozen=True)
class Change:
    """One change of one row under its logical name, or one statement.

    database, table  logical names
    operation        the kind of change
    key              the record's key: equal for all changes of one row; None without a unique key
    key_columns      names of the key's columns
    order            the order key
    changed          columns that an update changed, with those that may have changed because the
                     binlog lacks their former value; of an insert or delete all
    tags             tags of the mapping that apply to this change
    transaction_id   GTID of the source transaction, None if the source has none
    source           binlog coordinates, None unless the instance has `headers = "full"`
    real             real table as `database.table`, None unless the headers are full
    instance         name of the instance, None unless the headers are full
    snapshot         whether the row was copied from the table, instead of read from the binlog
    history          the column that ends a version, for history rows of system-versioned tables
    unknown          columns that the binlog did not contain
    sql              text of a statement, None for rows
    event_time       start of the source's statement, in whole seconds; do not order by it
    place            where the record is in Kafka
    types            column name to the text of its type
    sql_types        column name to its number of `java.sql.Types`
    kind             type of the message: INSERT, UPDATE, DELETE; of a statement CREATE, ALTER,
                     QUERY, …
    is_ddl           whether a statement is DDL
    """

    database: str
    table: str
    operation: Operation
    key: str | None
    key_columns: tuple[str, ...]
    order: Order
    changed: frozenset[str]
    tags: tuple[str, ...]
    transaction_id: str | None
    source: SourcePosition | None
    real: str | None
    instance: str | None
    snapshot: bool
    history: str | None
    unknown: frozenset[str]
    sql: str | None
    event_time: datetime
    place: Place
    types: Mapping[str, str] = field(repr=False)
    before_texts: Texts | None = field(repr=False)
    """The row before the change as texts; None for an insert, a statement, and a change with
    `is_key_only`.

    It does not have columns whose former value the binlog does not contain.
    """
    after_texts: Texts | None = field(repr=False)
    """The row after the change as texts; None for a delete and for a statement."""
    values: Values = field(default="python", repr=False)
    sql_types: Mapping[str, int] = field(default_factory=dict, repr=False)
    kind: str = ""
    is_ddl: bool = False

    @classmethod
    def of_fields(cls, fields: dict[str, Any]) -> "Change":
        """Return a change with these fields.

        The dict is not copied. It may contain LATER instead of fields that are computed when they
        are first read. Readers use this for each row, because the generated constructor is slower.
        """
        change = object.__new__(cls)
        object.__setattr__(change, "__dict__", fields)
        return change

    if not TYPE_CHECKING:  # types know all fields

        def __getattr__(self, name: str) -> Any:
            """Make a field that was not read before."""
            fields = self.__dict__
            if LATER not in fields or name.startswith("__"):
                raise AttributeError(name)
            later = fields[LATER]
            fields[name] = found = later[0](name, later)
            return found

    @_Kept
    def before(self) -> Mapping[str, Any] | None:
        """The row before the change: column → value; None as for `before_texts`.

        Raises ValueError if a text is not a value of its column's type.
        """
        return self._valued(self.before_texts)

    @_Kept
    def after(self) -> Mapping[str, Any] | None:
        """The row after the change: column → value; None for a delete and for a statement.

        Raises ValueError if a text is not a value of its column's type.
        """
        return self._valued(self.after_texts)

    @property
    def row(self) -> Mapping[str, Any]:
        """The newest known values: `after`, or `before` of a delete; empty for a statement."""
        return self.after or self.before or {}

    @property
    def is_key_only(self) -> bool:
        """Whether only the key is known, because compaction removed the delete and kept its
        tombstone.

        Then `before` is None, and `key_columns`, `changed` and `types` are empty.
        """
        return self.operation is Operation.DELETE and self.before_texts is None

    @property
    def execute_time(self) -> datetime:
        """Time at which the source committed the change, in UTC. It never decreases within an
        instance.
        """
        return _EPOCH + timedelta(milliseconds=self.order.execute_time)

    def _valued(self, texts: Texts | None) -> Mapping[str, Any] | None:
        if texts is None or self.values == "text":
            return texts
        columns: Columns | None = self.__dict__.get(COLUMNS)
        return (Columns(self.types) if columns is None else columns).values(texts)
