"""Which code printed a row as a message, and why it was the slower one: values for status and
metrics.
"""

from enum import StrEnum


class RowPath(StrEnum):
    """The code that printed a row. Both paths print the same bytes; they differ in speed."""

    COMPILED = "compiled"
    READABLE = "readable"


class SlowReason(StrEnum):
    """Why a table or an event is printed by the readable path.

    Each is the value of a metric's label.
    """

    SETTING = "setting"
    """The instance has `row_printer = "readable"`."""
    VALUE_STYLE = "value_style"
    """`message.value_style` is "canal"."""
    FORMAT = "format"
    """`message.format` is one that only the readable path prints."""
    TOMBSTONES = "tombstones"
    """`message.tombstones` is true."""
    FIELD_TAGS = "field_tags"
    """The table has tags that depend on the changed columns."""
    SEVERAL_TOPICS = "several_topics"
    """The table's rows go to more than one topic."""
    SYSTEM_VERSIONED = "system_versioned"
    """The table keeps versions of its rows, and messages distinguish current rows from history
    rows.
    """
    REFINED = "refined"
    """Rules, masks or transforms apply to the table."""
    COLUMN = "column"
    """The table has a column that only the readable path prints, such as MariaDB's COMPRESSED,
    or has no columns.
    """
    PLACED_BY = "placed_by"
    """The partition is chosen by a column that only the readable path can hash."""
    NOT_COMPILED = "not_compiled"
    """This process has no compiled code. The log says why when the relay starts."""
    PARTIAL_IMAGE = "partial_image"
    """The event's images lack columns, or hold parts of JSON documents."""
    MOVED_ROW = "moved_row"
    """An update changes the key or the partition of a row."""
    VALUE = "value"
    """The event holds a value that only the readable path prints, or refuses."""
    LARGE = "large"
    """A packed message would come close to the topic's size limit."""
    DAMAGED = "damaged"
    """The row images contradict the rest of the event.

    The readable path raises an error that names the damage, so no row is counted under this reason.
    """
