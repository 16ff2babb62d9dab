"""Hides unmapped tables from the list, and records that in the audit trail."""

from api.errors import NoSuchThing
from api.readings import LastReading, Reading
from relay.audit import AuditEntry, DelayedTrail
from relay.state import HiddenTableStore, Note


class HiddenTables:
    """Hides tables for all readers. Their rows are still dropped and counted as before."""

    def __init__(self, store: HiddenTableStore, acts: DelayedTrail) -> None:
        self._store = store
        self._acts = acts
        self._last = LastReading[dict[str, Note]]()

    def notes(self) -> dict[str, Note]:
        """Return who hid each hidden table, when and why: table name → note. Raises
        StoreRefused.
        """
        return dict(sorted(self._store.hidden().items()))

    def known(self) -> Reading[dict[str, Note]]:
        """Return what `notes` returns, or its last result while ZooKeeper does not answer.

        Raises StoreUnreachable if no reading has succeeded yet.
        """
        return self._last.of(self.notes)

    def hide(self, name: str, note: Note) -> None:
        """Hide a table. Nothing changes if the table is already hidden. Raises StoreRefused."""
        self._store.hide(name, note)
        self._note("unmapped.hidden", {}, {"table": name}, note)

    def unhide(self, name: str, note: Note) -> None:
        """Show a table again. Raises NoSuchThing if the table is not hidden, StoreRefused."""
        if name not in self._store.hidden():
            raise NoSuchThing(f"The table {name} is not hidden.")
        self._store.unhide(name)
        self._note("unmapped.unhidden", {"table": name}, {}, note)

    def _note(self, act: str, before: dict[str, str], after: dict[str, str], note: Note) -> None:
        self._acts.note(AuditEntry(note.author, act, "", before, after, note.comment))
