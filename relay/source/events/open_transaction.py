"""State of the open source transaction: its tables, its savepoints, and how many rows a savepoint
rollback undoes.
"""

from dataclasses import dataclass, field
from typing import Final
from unicodedata import combining, normalize

_LUNATE_SIGMA: Final = "\u03f2"


@dataclass(slots=True)
class OpenTransaction:
    """One source transaction between its begin and its end.

    begin             the offset where it begins
    stays_open        whether only COMMIT, XID or ROLLBACK ends it, and no other statement
    silent_statement  whether its statement only begins or rolls back a two-phase ALTER (MariaDB)
    xid               the XA transaction of these rows, "" for every other transaction
    rows              the number of row events so far
    last_row          the value of `rows` at the newest row event that was returned
    tables            table maps by table number
    savepoints        names, and the number of row events before each; oldest first
    """

    begin: int
    gtid: str
    stays_open: bool
    silent_statement: bool = False
    xid: str = ""
    rows: int = 0
    last_row: int = 0
    tables: dict[int, bytes] = field(default_factory=dict)
    savepoints: list[tuple[str, int]] = field(default_factory=list)

    def set_savepoint(self, name: str) -> None:
        """Set a savepoint after the rows so far.

        As on the server, it replaces an earlier savepoint of the same name.
        """
        self.savepoints = [held for held in self.savepoints if held[0] != name]
        self.savepoints.append((name, self.rows))

    def release(self, name: str) -> None:
        """Remove a savepoint and all that were set after it.

        Raises DoubtfulSavepoint if another savepoint's name may be equal to `name` on the server.
        """
        at = self._index(name)
        if at is not None:
            del self.savepoints[at:]

    def rolled_back_to(self, name: str) -> int | None:
        """Remove the savepoints that were set after `name`, and return how many row events came
        before the savepoint `name`.

        None if no savepoint has this name. Raises DoubtfulSavepoint if another savepoint's name may
        be equal to `name` on the server.
        """
        at = self._index(name)
        if at is None:
            return None
        del self.savepoints[at + 1 :]
        return self.savepoints[at][1]

    def _index(self, name: str) -> int | None:
        """Find the newest savepoint of this name: on the server, it replaced those of equal names.

        Raises DoubtfulSavepoint if a newer one may have a name that the server takes for equal.
        """
        for at in range(len(self.savepoints) - 1, -1, -1):
            held = self.savepoints[at][0]
            if held == name:
                return at
            if may_be_equal(held, name):
                raise DoubtfulSavepoint(held)
        return None


class DoubtfulSavepoint(Exception):
    """Raised if another savepoint's name equals the requested name only on some server versions."""


def may_be_equal(one: str, other: str) -> bool:
    """Return whether any server version compares these two savepoint names as equal.

    MySQL, and MariaDB up to 11.4, compare by utf8mb3_general_ci, in which E, e and é are equal.
    Later versions distinguish accents.
    """
    return len(one) == len(other) and all(map(_are_alike, one, other))


def _are_alike(one: str, other: str) -> bool:
    return one == other or _base(one) == _base(other)


def _base(letter: str) -> str:
    """Return the letter without its accents and case."""
    if letter == _LUNATE_SIGMA:
        return "\u03c3"
    parts = normalize("NFD", letter)
    plain = parts[0] if all(map(combining, parts[1:])) else letter
    return plain.upper().casefold()[0]
