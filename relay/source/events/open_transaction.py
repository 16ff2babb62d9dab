"""What is known of the source transaction that is being read: its tables so far, its savepoints,
its last row.
"""

from dataclasses import dataclass, field


@dataclass(slots=True)
class OpenTransaction:
    """One source transaction between its begin and its end.

    `stays_open` says that a statement does not end it: a BEGIN was seen, or MariaDB's GTID event
    announced a commit. `xid` names the XA transaction whose rows these are, "" for every other.
    `rows` is the number of row events so far, `last_row` the number of those up to the newest one
    handed out.
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
        """Remember a savepoint behind the rows so far.

        The same name again replaces the earlier one, as on the server.
        """
        self.savepoints = [held for held in self.savepoints if held[0] != name]
        self.savepoints.append((name, self.rows))

    def release(self, name: str) -> None:
        """Forget a savepoint and all set after it."""
        at = self._index(name)
        if at is not None:
            del self.savepoints[at:]

    def rolled_back_to(self, name: str) -> int | None:
        """Forget the savepoints set after `name`.

        Returns how many row events came before it, None when it is not known.
        """
        at = self._index(name)
        if at is None:
            return None
        del self.savepoints[at + 1 :]
        return self.savepoints[at][1]

    def _index(self, name: str) -> int | None:
        return next((at for at, held in enumerate(self.savepoints) if held[0] == name), None)
