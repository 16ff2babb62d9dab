"""Operators' overrides of the placement: moves of instances, and servers in maintenance."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from relay.state.json_object import JsonObject, write_json
from relay.state.mappings.records import Note
from relay.state.paths import Paths
from relay.zk import Node, Session, Watch, update_node


@dataclass(frozen=True, slots=True)
class PlacementOverride:
    """Something that an operator asked for.

    `to` is the relay or server of a move, empty for a maintenance.
    """

    note: Note
    to: str = ""

    def fields(self) -> dict[str, object]:
        """Return the fields that `read` reads; the caller adds the subject's name."""
        return {"to": self.to, **self.note.fields()}

    @classmethod
    def read(cls, fields: JsonObject) -> "PlacementOverride":
        """Read one override; without `to` it is a maintenance."""
        return cls(Note.read(fields), fields.text("to"))


@dataclass(frozen=True, slots=True)
class PlacementOverrides:
    """All present overrides: `moves` by instance, `maintenance` by server."""

    moves: Mapping[str, PlacementOverride] = field(default_factory=dict)
    maintenance: Mapping[str, PlacementOverride] = field(default_factory=dict)

    def to_document(self) -> bytes:
        """Return the JSON document with both lists, each entry with its name and its note."""
        return write_json(
            {
                "moves": _written(self.moves, "instance"),
                "maintenance": _written(self.maintenance, "server"),
            }
        )

    @classmethod
    def from_document(cls, value: bytes) -> "PlacementOverrides":
        """Read the overrides that any version wrote; missing lists are empty."""
        fields = JsonObject.read(value)
        return cls(_read(fields, "moves", "instance"), _read(fields, "maintenance", "server"))


class PlacementStore:
    """Keeps the overrides in one node.

    A change is repeated if another writer was faster, because each concerns one name only.
    """

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._path = paths.placement

    def overrides(self) -> PlacementOverrides:
        """Return the present overrides."""
        node = self._session.find(self._path)
        return (
            PlacementOverrides() if node is None else PlacementOverrides.from_document(node.value)
        )

    def watch(self, signal: Callable[[], None]) -> Watch:
        """Call `signal` whenever the overrides may have changed."""
        return self._session.watch(self._path, signal)

    def hand_over(self, instance: str, to: str, note: Note) -> None:
        """Let an instance run on a relay or server, for as long as that lives, until the override
        is withdrawn or another one made.
        """
        self._change(
            lambda overrides: replace(
                overrides, moves={**overrides.moves, instance: PlacementOverride(note, to)}
            )
        )

    def withdraw_hand_over(self, instance: str) -> None:
        """Delete the move: settings and balance choose the relay of the instance again."""
        self._change(
            lambda overrides: replace(overrides, moves=_without(overrides.moves, instance))
        )

    def drain(self, server: str, note: Note) -> None:
        """Put a server into maintenance: its relays hand everything over that another one can
        take.
        """
        self._change(
            lambda overrides: replace(
                overrides, maintenance={**overrides.maintenance, server: PlacementOverride(note)}
            )
        )

    def end_maintenance(self, server: str) -> None:
        """End the maintenance of a server: its relays may run instances again."""
        self._change(
            lambda overrides: replace(
                overrides, maintenance=_without(overrides.maintenance, server)
            )
        )

    def _change(self, change: Callable[[PlacementOverrides], PlacementOverrides]) -> None:
        def changed(node: Node | None) -> tuple[None, bytes]:
            before = (
                PlacementOverrides()
                if node is None
                else PlacementOverrides.from_document(node.value)
            )
            return None, change(before).to_document()

        update_node(self._session, self._path, changed)


def _written(overrides: Mapping[str, PlacementOverride], name: str) -> list[dict[str, object]]:
    return [{name: each, **override.fields()} for each, override in sorted(overrides.items())]


def _read(fields: JsonObject, kind: str, name: str) -> dict[str, PlacementOverride]:
    return {
        each.text(name): PlacementOverride.read(each)
        for each in fields.objects(kind)
        if each.text(name)
    }


def _without(overrides: Mapping[str, PlacementOverride], name: str) -> dict[str, PlacementOverride]:
    return {each: override for each, override in overrides.items() if each != name}
