"""State of the source transaction that is being read: tables, savepoints, last row."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class OpenTransaction:
    """One source transaction between its begin and its end.

    `stays_open`: a statement does not end it, because a BEGIN was read or MariaDB's GTID event
    announced a commit.
    `xid`: the XA transaction of these rows, "" for every other transaction.
    `rows`: the number of row events so far.
    `last_row`: the number of row events up to the newest one returned.
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

        It replaces an earlier savepoint of the same name, as on the server.
        """
        self.savepoints = [held for held in self.savepoints if held[0] != name]
        self.savepoints.append((name, self.rows))

    def release(self, name: str) -> None:
        """Remove a savepoint and all that were set after it."""
        at = self._index(name)
        if at is not None:
            del self.savepoints[at:]

    def rolled_back_to(self, name: str) -> int | None:
        """Remove the savepoints that were set after `name`.

        Return how many row events came before it; None when the name is unknown.
        """
        at = self._index(name)
        if at is None:
            return None
        del self.savepoints[at + 1 :]
        return self.savepoints[at][1]

    def _index(self, name: str) -> int | None:
        return next((at for at, held in enumerate(self.savepoints) if held[0] == name), None)
