"""Unmapped tables that operators have hidden from the admin's lists, in one node."""

from collections.abc import Callable, Mapping
from typing import Final

from relay.errors import StoreRefused
from relay.state.json_object import JsonObject, write_json
from relay.state.mappings.records import Note
from relay.state.paths import Paths
from relay.zk import Node, Session, update_node

FORMAT: Final = 1
MOST_HIDDEN: Final = 1000
"""Largest number of hidden tables. With their notes they stay below ZooKeeper's limit of 1 MiB for
a node.
"""
_NOTE_CHARACTERS: Final = 300

Hidden = Mapping[str, Note]
"""Real table as `database.table` → who hid it, when and why."""


class HiddenTableStore:
    """Reads and changes the list of hidden tables. If another writer was faster, a change is
    applied again.
    """

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._path = paths.hidden_tables

    def hidden(self) -> Hidden:
        """Return all hidden tables, by name.

        Raises StoreRefused for a list that a newer version wrote.
        """
        node = self._session.find(self._path)
        return {} if node is None else _read(node.value)

    def hide(self, name: str, note: Note) -> None:
        """Hide a table. `note` says who hides it and why. Raises StoreRefused for a full list, and
        the errors of `hidden`.
        """
        author, comment = (each[:_NOTE_CHARACTERS] for each in (note.author, note.comment))
        short = Note(author, comment, note.saved_ms)

        def change(before: Hidden) -> Hidden:
            if len(before) >= MOST_HIDDEN and name not in before:
                raise StoreRefused(
                    f"{MOST_HIDDEN} tables are hidden already.",
                    remedy="Unhide some of them, or map them.",
                )
            return {**before, name: short}

        self._change(change)

    def unhide(self, name: str) -> None:
        """Show a hidden table again. Raises the errors of `hidden`."""
        self._change(lambda before: {each: note for each, note in before.items() if each != name})

    def _change(self, change: Callable[[Hidden], Hidden]) -> None:
        def changed(node: Node | None) -> tuple[None, bytes]:
            return None, _written(change({} if node is None else _read(node.value)))

        update_node(self._session, self._path, changed)


def _written(hidden: Hidden) -> bytes:
    tables = [{"name": name, **note.fields()} for name, note in sorted(hidden.items())]
    return write_json({"format": FORMAT, "tables": tables})


def _read(value: bytes) -> Hidden:
    fields = JsonObject.read(value)
    if (found := fields.whole("format")) > FORMAT:
        raise StoreRefused(
            f"The list of hidden tables has format {found}, and this version reads format "
            f"{FORMAT}.",
            remedy="Use the version of the admin that wrote it, or a newer one.",
        )
    return {
        each.text("name"): Note.read(each) for each in fields.objects("tables") if each.text("name")
    }
