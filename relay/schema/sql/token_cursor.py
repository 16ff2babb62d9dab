"""Reads the tokens of a statement one after another."""

from collections.abc import Sequence
from dataclasses import dataclass

from relay.model.change import Statement
from relay.model.sql_mode import NO_MODE, SqlMode
from relay.model.table import TableId
from relay.schema.sql.tokens import Token, TokenKind, tokenize


@dataclass(frozen=True, slots=True)
class WrittenName:
    """The name of a table or database in a statement, and its tokens. A database has the table name
    "".
    """

    id: TableId
    database_token: Token | None
    table_token: Token | None


class TokenCursor:
    """A position in a list of tokens. After the end, methods return None, "" or False.

    `sql_mode` is the mode of the session that wrote the statement.
    """

    def __init__(
        self, tokens: Sequence[Token], default_database: str, sql_mode: SqlMode = NO_MODE
    ) -> None:
        self.sql_mode = sql_mode
        self._tokens = tokens
        self._default_database = default_database
        self._at = 0

    @classmethod
    def of(
        cls, statement: Statement, limit: int | None = None, *, mariadb: bool = True
    ) -> "TokenCursor":
        """Return a cursor over the first `limit` tokens of a statement (None: all), read in the
        sql_mode of its session.

        `mariadb` is described at `tokenize`.
        """
        tokens = tokenize(statement.sql, statement.sql_mode, limit, mariadb=mariadb)
        return cls(tokens, statement.database, statement.sql_mode)

    def copy(self) -> "TokenCursor":
        """Return another cursor at the same position."""
        other = TokenCursor(self._tokens, self._default_database, self.sql_mode)
        other._at = self._at
        return other

    @property
    def token(self) -> Token | None:
        """Return the next token without consuming it."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def word(self, ahead: int = 0) -> str:
        """Return the upper-case word or sign `ahead` tokens after the next one, without consuming
        it.

        "" for quoted text and at the end.
        """
        at = self._at + ahead
        return self._tokens[at].word if at < len(self._tokens) else ""

    def take(self) -> Token | None:
        """Return the next token and consume it; None at the end."""
        token = self.token
        self._at += 1
        return token

    def accept(self, *words: str) -> bool:
        """Consume exactly these words if they come next; return whether they did."""
        if any(self.word(ahead) != word for ahead, word in enumerate(words)):
            return False
        self._at += len(words)
        return True

    def skip(self, *words: str) -> None:
        """Consume these words, in any order and any number of times."""
        while self.word() and self.word() in words:
            self._at += 1

    def gap(self) -> int:
        """Return the number of characters between the last consumed token and the next one."""
        return (
            self._tokens[self._at].start - self._tokens[self._at - 1].end
            if 0 < self._at < len(self._tokens)
            else 0
        )

    def has_string_with(self, text: str) -> bool:
        """Return whether a string literal after the cursor contains `text` as it is written."""
        return any(
            token.kind is TokenKind.STRING and text in token.text
            for token in self._tokens[self._at :]
        )

    def skip_to(self, *words: str) -> bool:
        """Move the cursor after the next one of these words, even inside brackets; return False if
        none follows.
        """
        while self.token is not None:
            if self.word() in words:
                self._at += 1
                return True
            self._at += 1
        return False

    def skip_item(self) -> bool:
        """Move the cursor after the comma that ends this list item.

        Return False if the list, or the bracket around it, ends instead.
        """
        depth = 0
        while self.token is not None:
            sign = self.word()
            if depth == 0 and sign in (",", ")"):
                self._at += 1
                return sign == ","
            depth += (sign == "(") - (sign == ")")
            self._at += 1
        return False

    def skip_brackets(self) -> None:
        """Move the cursor after the bracket that closes the last consumed opening bracket."""
        depth = 1
        while depth and self.token is not None:
            depth += (self.word() == "(") - (self.word() == ")")
            self._at += 1

    def name(self) -> str | None:
        """Consume an identifier and return it; None if something else comes next."""
        if self.token is None or not self.token.is_name:
            return None
        token = self.take()
        return token.name if token is not None else None

    def table(self) -> WrittenName | None:
        """Consume `table` or `database.table` and return the name; None if something else comes
        next.
        """
        first = self.token
        if first is None or self.name() is None:
            return None
        if not self.accept("."):
            return WrittenName(TableId(self._default_database, first.name), None, first)
        second = self.token
        if second is None or self.name() is None:
            return None
        return WrittenName(TableId(first.name, second.name), first, second)

    def database(self) -> WrittenName | None:
        """Consume the name of a database and return it; None if something else comes next."""
        token = self.token
        if token is None or self.name() is None:
            return None
        return WrittenName(TableId(token.name, ""), token, None)

    def tables(self) -> list[WrittenName]:
        """Consume table names that are separated by commas, and return them."""
        found = []
        while (table := self.table()) is not None:
            found.append(table)
            if not self.accept(","):
                break
        return found
