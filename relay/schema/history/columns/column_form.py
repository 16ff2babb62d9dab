"""Gives a column the character set, labels and size with which servers store it. Pure."""

from dataclasses import replace

from relay.schema.history.column_words import (
    CODECS,
    DEFAULT_MEASURES,
    LONGEST_CHARACTER,
    LONGEST_VARCHAR,
    MEASURED,
    OF_BYTES,
    TEXT_BYTES,
    TEXTS,
    UNICODE,
)
from relay.schema.history.described import DescribedColumn


class NotFollowed(Exception):
    """The effect of a statement on a table cannot be derived from its text. `args[0]` is the
    reason.
    """


def labels_in(labels: tuple[str, ...], charset: str | None) -> tuple[str, ...]:
    """Return the labels of an ENUM or SET as a column with this character set stores them.

    Raises NotFollowed if a character may be lost.
    """
    kept = labels if charset == "binary" else tuple(label.rstrip(" ") for label in labels)
    if not all(label.isascii() or _has(charset, label) for label in kept):
        raise NotFollowed(f"a label has a character that {charset} may not have")
    return kept


def _has(charset: str | None, label: str) -> bool:
    """Return whether a character set has all characters of a label. If that cannot be checked,
    return False.
    """
    if "\ufffd" in label:
        return False
    if charset in UNICODE or charset in (None, "binary"):
        return charset not in ("utf8mb3", "ucs2") or max(label) <= "\uffff"
    try:
        label.encode(CODECS[charset or ""])
    except (KeyError, UnicodeError):
        return False
    return True


def of_charset(column: DescribedColumn, charset: str | None) -> DescribedColumn:
    """Return a character column with another character set. With `binary` it becomes a column of
    bytes.
    """
    if charset == "binary" and column.kind in OF_BYTES:
        return replace(column, kind=OF_BYTES[column.kind], charset="binary")
    return replace(column, charset=charset)


def sized(column: DescribedColumn) -> DescribedColumn:
    """Return the column with the default length of its kind if none is written.

    TEXT(n) and BLOB(n) become the smallest kind that holds n. A VARCHAR or VARBINARY that is too
    long, which sessions without strict mode can create, becomes such a TEXT or BLOB.
    """
    size = (
        column.measures[0] * LONGEST_CHARACTER.get(column.charset or "", 1)
        if column.measures
        else 0
    )
    if column.kind in ("text", "blob") and column.measures:
        return _of_size(column, size, of_bytes=column.kind == "blob")
    if column.kind in ("varchar", "varbinary") and size > LONGEST_VARCHAR:
        return _of_size(column, size, of_bytes=column.kind == "varbinary")
    if column.kind not in MEASURED:
        return replace(column, measures=())
    if column.kind == "decimal" and len(column.measures) == 1:
        return replace(column, measures=(column.measures[0], 0))
    if not column.measures and column.kind in DEFAULT_MEASURES:
        return replace(column, measures=DEFAULT_MEASURES[column.kind])
    return column


def _of_size(column: DescribedColumn, size: int, *, of_bytes: bool) -> DescribedColumn:
    """Return the column as the smallest TEXT or BLOB that holds this many bytes."""
    kind = next(
        (kind for kind, limit in zip(TEXTS, TEXT_BYTES, strict=True) if size <= limit), TEXTS[-1]
    )
    return replace(column, kind=OF_BYTES[kind] if of_bytes else kind, measures=())
