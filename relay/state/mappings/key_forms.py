"""Stores the text forms in which the keys of a table are hashed in a topic, for all instances that
ever published there.

There is one node for each logical table of a topic. If keys name their real table, the real tables
of a logical table share a fixed number of nodes.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias
from zlib import crc32

from relay.model.records.hashed_forms import Forms
from relay.state.json_object import JsonObject, write_json
from relay.state.paths import Paths
from relay.zk import Node, Session, update_node

FORMAT: Final = 1
BUCKETS: Final = 256
"""Number of nodes that the real tables of one logical table share. With 10,000 real tables, a node
has the forms of about 40.
"""

Change: TypeAlias = Callable[[Forms], Forms | None]
"""Returns the forms after a change, None to refuse it."""


class KeyFormStore:
    """Reads and changes the text forms of keys.

    A node has the forms under one digest of partition rules (`rules`). Forms under another digest
    are ignored, and the next write replaces them, because all instances of a topic use the same
    rules. `shard` is the real table if keys name it, otherwise "".
    """

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def read(self, topic: str, table: str, rules: str, shard: str = "") -> Forms:
        """Return the forms of a table; () if no row was recorded. Raises StoreUnreachable.

        An outdated answer can lack newer forms. `change` decides by the present ones.
        """
        node = self._session.find(self._path(topic, table, shard))
        return () if node is None else _read(node.value, rules).get(shard, ())

    def read_all(self, topic: str, table: str, rules: str) -> Forms:
        """Return the forms of a logical table and of all its real tables, without duplicates.
        Raises StoreUnreachable.
        """
        found = self.read_shards(topic, table, rules).values()
        return tuple(dict.fromkeys(form for forms in found for form in forms))

    def read_shards(self, topic: str, table: str, rules: str) -> dict[str, Forms]:
        """Return the forms of each real table of a logical table; the entry "" has the forms of the
        logical table itself.

        Raises StoreUnreachable.
        """
        paths = [self._paths.key_forms(topic, table, each) for each in (None, *range(BUCKETS))]
        found: dict[str, Forms] = {}
        for node in self._session.find_all(paths):
            if node is not None:
                found |= _read(node.value, rules)
        return found

    def change(
        self, topic: str, table: str, rules: str, change: Change, shard: str = ""
    ) -> Forms | None:
        """Apply `change` to the forms, and return the result; None if `change` refuses the present
        forms.

        Raises VersionConflict after many attempts, StoreUnreachable.
        """

        def changed(node: Node | None) -> tuple[Forms | None, bytes | None]:
            before = {} if node is None else _read(node.value, rules)
            after = change(before.get(shard, ()))
            if after is None or after == before.get(shard):
                return after, None
            return after, _write({**before, shard: after}, rules)

        return update_node(self._session, self._path(topic, table, shard), changed)

    def _path(self, topic: str, table: str, shard: str) -> str:
        bucket = crc32(shard.encode()) % BUCKETS if shard else None
        return self._paths.key_forms(topic, table, bucket)


def _write(forms: Mapping[str, Forms], rules: str) -> bytes:
    keys = [{"shard": shard, "forms": list(each)} for shard, each in sorted(forms.items())]
    return write_json({"format": FORMAT, "rules": rules, "keys": keys})


def _read(value: bytes, rules: str) -> dict[str, Forms]:
    fields = JsonObject.read(value)
    if fields.text("rules") != rules:
        return {}
    return {each.text("shard"): each.texts("forms") for each in fields.objects("keys")}
