"""Parses the definition of one column in a statement or in a catalogue."""

from dataclasses import dataclass, replace

from relay.schema.history.column_words import (
    BYTE_KINDS,
    CHARACTER_KINDS,
    NATIONAL,
    WIDE,
    charset_of_collation_name,
)
from relay.schema.history.columns.column_attributes import Attributes, read_attributes
from relay.schema.history.columns.column_form import NotFollowed, labels_in, of_charset, sized
from relay.schema.history.columns.type_words import kind_of, type_arguments, type_mode, type_words
from relay.schema.history.described import DescribedColumn
from relay.schema.sql.token_cursor import TokenCursor
from relay.schema.sql.tokens import TokenKind


@dataclass(slots=True)
class Definition:
    """The definition of a column in a statement.

    column     the column
    primary    whether it is the primary key
    unique     whether it is a unique key
    position   "", "FIRST" or "AFTER"
    after      for "AFTER": the name of the column before it
    in_digits  whether a label is written as hexadecimal or binary digits of its bytes
    """

    column: DescribedColumn
    primary: bool = False
    position: str = ""
    after: str = ""
    unique: bool = False
    in_digits: bool = False

    @property
    def has_doubtful_key(self) -> bool:
        """Return whether releases of MariaDB create different keys for the column.

        If it has both PRIMARY KEY and UNIQUE, later releases create only the first one.
        """
        return self.primary and self.unique


def column_definition(
    cursor: TokenCursor,
    default_charset: str | None,
    *,
    mariadb: bool = False,
    converted: str | None = None,
) -> Definition | None:
    """Return the column at the cursor, up to the comma or bracket after it; None if the next tokens
    are not a column.

    default_charset  character set of the table
    converted        character set of CONVERT TO in the same statement, None without it

    Raises NotFollowed if the characters of labels are unknown.
    """
    name = cursor.name()
    found = (
        None
        if name is None
        else typed(name, cursor, default_charset, mariadb=mariadb, converted=converted)
    )
    if found is not None:
        if found.in_digits and found.column.charset in WIDE:
            raise NotFollowed(
                f"a label of {found.column.name!r} is written as bytes in {found.column.charset}"
            )
        found.column = replace(
            found.column, labels=labels_in(found.column.labels, found.column.charset)
        )
    return found


def typed(
    name: str,
    cursor: TokenCursor,
    default_charset: str | None,
    *,
    mariadb: bool = False,
    converted: str | None = None,
) -> Definition | None:
    """Return the column `name` whose type begins at the cursor; None if the next tokens are not a
    type. Labels stay as they are written.

    Raises the errors of `column_definition`.
    """
    first = cursor.token
    if first is None or first.kind is not TokenKind.WORD:
        return None
    mode = type_mode(cursor)
    words = type_words(cursor)
    measures, labels, in_digits = type_arguments(cursor)
    said = Attributes(words=words)
    read_attributes(cursor, said)
    kind = kind_of(words, measures, mode)
    column = DescribedColumn(
        name, kind, measures, None, said.unsigned, None, labels, said.visible, said.compressed
    )
    column = _with_charset(column, said, default_charset, mariadb=mariadb)
    if converted is not None and column.kind in CHARACTER_KINDS and column.charset != "binary":
        column = of_charset(column, converted)
    if words == ["SERIAL"]:
        column = replace(column, unsigned=True, nullable=False)
        said.unique = True
    column = sized(replace(column, nullable=_nullable(column, said)))
    return Definition(column, said.primary, said.position, said.after, said.unique, in_digits)


def _nullable(column: DescribedColumn, said: Attributes) -> bool | None:
    if column.nullable is False or said.primary:
        return False
    if said.nullable is None and column.kind == "timestamp":
        return None  # explicit_defaults_for_timestamp decides
    return said.nullable is not False


def _with_charset(
    column: DescribedColumn, said: Attributes, default: str | None, *, mariadb: bool
) -> DescribedColumn:
    """Return the column with its character set: the one in its definition, else its collation's,
    else the table's.
    """
    if column.kind == "json" and mariadb:
        return replace(column, kind="longtext", charset="utf8mb4")
    if column.kind in BYTE_KINDS:
        return replace(column, charset="binary")
    if column.kind not in CHARACTER_KINDS:
        return column
    national = "utf8mb3" if said.words[0] in NATIONAL else None
    charset = said.charset or charset_of_collation_name(said.collation) or national or default
    return of_charset(column, charset)
