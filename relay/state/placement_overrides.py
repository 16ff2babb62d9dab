"""Operators' overrides of the placement: hand-overs of instances, and servers in maintenance."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from relay.state.json_object import JsonObject, write_json
from relay.state.mappings.records import Note
from relay.state.paths import Paths
from relay.zk import Node, Session, Watch, update_node


@dataclass(frozen=True, slots=True)
class PlacementOverride:
    """One override. `to` is the relay or server of a hand-over, "" for a maintenance."""

    note: Note
    to: str = ""

    def fields(self) -> dict[str, object]:
        """Return the fields of the override; the caller adds the name of the instance or server."""
        return {"to": self.to, **self.note.fields()}

    @classmethod
    def read(cls, fields: JsonObject) -> "PlacementOverride":
        """Return the override in these fields. Without `to` it is a maintenance."""
        return cls(Note.read(fields), fields.text("to"))


@dataclass(frozen=True, slots=True)
class PlacementOverrides:
    """All present overrides: hand-overs by instance (`moves`), and maintenance by server."""

    moves: Mapping[str, PlacementOverride] = field(default_factory=dict)
    maintenance: Mapping[str, PlacementOverride] = field(default_factory=dict)

    def to_document(self) -> bytes:
        """Return the JSON document with both lists."""
        return write_json(
            {
                "moves": _written(self.moves, "instance"),
                "maintenance": _written(self.maintenance, "server"),
            }
        )

    @classmethod
    def from_document(cls, value: bytes) -> "PlacementOverrides":
        """Return the overrides in a document of any version. Missing lists are empty."""
        fields = JsonObject.read(value)
        return cls(_read(fields, "moves", "instance"), _read(fields, "maintenance", "server"))


class PlacementStore:
    """Stores the overrides in one node.

    If another writer was faster, a change is applied again, because each change concerns one name
    only.
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
        """Let an instance run on the relay or server `to`, as long as that relay or server runs,
        until the override is withdrawn or replaced.
        """
        self._change(
            lambda overrides: replace(
                overrides, moves={**overrides.moves, instance: PlacementOverride(note, to)}
            )
        )

    def withdraw_hand_over(self, instance: str) -> None:
        """Delete the hand-over of an instance: settings and balance choose its relay again."""
        self._change(
            lambda overrides: replace(overrides, moves=_without(overrides.moves, instance))
        )

    def drain(self, server: str, note: Note) -> None:
        """Put a server into maintenance: its relays hand over every instance that another relay can
        run.
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
