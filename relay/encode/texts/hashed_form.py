"""The form in which a table's keys are hashed for their partition
(`relay.model.records.hashed_forms`). Pure.

The hashed text is Canal's text. For some types it differs from the text in the message key. Two
versions of a table with the same form place equal keys in the same partition.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from relay.encode.columns import BINARY
from relay.encode.texts.text_canal import is_canal_binary, is_canal_text
from relay.model.column_families import BLOBS, BYTES_OF_NAMED, DECIMALS, FLOATS, LABELLED, STRINGS
from relay.model.records.hashed_forms import ASCII, PLAIN
from relay.model.table import Column, ColumnType, TableDefinition

_UTF8: Final = frozenset({"utf8", "utf8mb3", "utf8mb4"})
_DECIMAL: Final = "decimal"
_DIGITS_OF_GROUP: Final = 9
_LABEL_DIGITS: Final = 4
_MOST_LABELS: Final = 64
_FRACTIONS: Final = frozenset({ColumnType.TIME2, ColumnType.DATETIME2, ColumnType.TIMESTAMP2})


def hashed_form(definition: TableDefinition, ordinals: Iterable[int], *, named: bool) -> str:
    """Return the form of the columns by which rows of a table are assigned to partitions; ""
    without such columns.

    `named`: a partition rule names the columns, which then need not be in the message key. The form
    then also contains everything else that changes their texts, including their names.
    """
    columns = [(definition.map.columns[each], definition.type_texts[each]) for each in ordinals]
    if named:
        return "=" + ",".join(f"{each.name}:{_value_form(each, text)}" for each, text in columns)
    forms = (_key_form(each, text) for each, text in columns)
    return ",".join(forms)


def _key_form(column: Column, type_text: str) -> str:
    """Return a word for the difference between the hashed text of a key column and its text in the
    message key.

    PLAIN: both texts are equal, and always ASCII.
    """
    if column.type in STRINGS:
        return _string_form(column, type_text)
    if column.type in LABELLED:
        return f"{column.type.name.lower()}:{_labels(column.labels)}"
    if column.type in FLOATS:
        return column.type.name.lower()
    if "zerofill" in type_text.lower():
        return "zerofill"
    # Canal omits an empty last group of digits.
    is_cut = column.type in DECIMALS and column.scale % _DIGITS_OF_GROUP
    return _DECIMAL if is_cut else PLAIN


def _string_form(column: Column, type_text: str) -> str:
    if type_text.lower() in BYTES_OF_NAMED:
        return type_text.lower()
    if column.charset in (None, BINARY):
        return BINARY if column.type is ColumnType.STRING else "varbinary"
    is_bytes = not is_canal_text(type_text) if column.type in BLOBS else is_canal_binary(type_text)
    if is_bytes:
        return f"bytes of {column.charset}"
    if column.charset == "ascii":
        return ASCII
    return "utf8" if column.charset in _UTF8 else str(column.charset)


def _value_form(column: Column, type_text: str) -> str:
    """Return the form of a column that need not be in the key: all facts besides the value that
    change its text.
    """
    form = _key_form(column, type_text)
    if form in (ASCII, _DECIMAL):  # as in position records since format 8
        form = PLAIN
    scale = column.length if column.type in _FRACTIONS else column.scale
    return f"{form} {scale}" if scale else form


def _labels(labels: tuple[str, ...]) -> str:
    """Return the checksums of the labels, one for each. If labels are appended, the result still
    begins with the same text.

    If there are more than _MOST_LABELS, the result is one checksum of all labels.
    """
    if len(labels) > _MOST_LABELS:
        return "#" + _checksum(",".join(labels), 4 * _LABEL_DIGITS)
    return "".join(_checksum(each, _LABEL_DIGITS) for each in labels)


def _checksum(text: str, digits: int) -> str:
    return sha256(text.encode()).hexdigest()[:digits]
