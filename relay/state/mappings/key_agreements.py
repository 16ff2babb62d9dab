"""Records in which text forms the instances of a topic hash keys, and raises an error if equal keys
would get different partitions.

The partition of a row is computed from the text of its key. The form describes how that text is
made, for example the character set or type of each key column (relay.model.records.hashed_forms).
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, TypeAlias

from relay.errors import PartitionsChanged
from relay.model.records.hashed_forms import Forms, agreed, differing
from relay.model.table import TableId
from relay.state.mappings.key_forms import Change

_At: TypeAlias = tuple[str, str, str]
"""Topic, logical table, and the digest of the partition rules."""


class HashedKey(NamedTuple):
    """The text form in which the keys of a logical table are hashed in a topic.

    `shard` is the real table, if keys name it: keys of other real tables are then never equal.
    """

    topic: str
    table: TableId
    form: str
    shard: TableId | None


class FormStore(Protocol):
    """Stores the text forms of keys of all instances; `KeyFormStore` stores them in ZooKeeper.

    `rules` is the digest of the partition rules under which the keys are hashed.
    """

    def read(self, topic: str, table: str, rules: str, shard: str = "", /) -> Forms:
        """Return the forms of a logical table, or of the real table `shard` if keys name it."""

    def read_shards(self, topic: str, table: str, rules: str, /) -> Mapping[str, Forms]:
        """Return the forms of each real table of a logical table; the entry "" has the forms of the
        logical table itself.
        """

    def change(
        self, topic: str, table: str, rules: str, change: Change, shard: str = ""
    ) -> Forms | None:
        """Apply `change` to the forms, and return the result; None if `change` refuses the present
        forms.
        """


class PlannedForms:
    """The forms of a store together with those that instances would add; nothing is written. It is
    for dry runs.

    The real tables of a logical table are read together, once.
    """

    def __init__(self, store: FormStore) -> None:
        self._store = store
        self._shards: dict[_At, Mapping[str, Forms]] = {}
        self._planned: dict[_At, dict[str, Forms]] = {}

    def read(self, topic: str, table: str, rules: str, shard: str = "") -> Forms:
        """Return the forms of a logical table, or of the real table `shard`. Raises
        StoreUnreachable.
        """
        at = (topic, table, rules)
        planned = self._planned.setdefault(at, {})
        if shard not in planned:
            planned[shard] = self._stored(at).get(shard, ()) if shard else self._store.read(*at)
        return planned[shard]

    def read_shards(self, topic: str, table: str, rules: str) -> Mapping[str, Forms]:
        """Return the forms of a logical table (the entry "") and of its real tables. Raises
        StoreUnreachable.
        """
        at = (topic, table, rules)
        return {**self._stored(at), **self._planned.get(at, {})}

    def change(
        self, topic: str, table: str, rules: str, change: Change, shard: str = ""
    ) -> Forms | None:
        """Apply `change` to the forms in memory only, and return the result; None if `change`
        refuses.

        Raises StoreUnreachable.
        """
        after = change(self.read(topic, table, rules, shard))
        if after is not None:
            self._planned[topic, table, rules][shard] = after
        return after

    def _stored(self, at: _At) -> Mapping[str, Forms]:
        found = self._shards.get(at)
        if found is None:
            found = self._shards[at] = self._store.read_shards(*at)
        return found


class KeyAgreements:
    """The agreements of instances on text forms of keys, under partition rules with one digest."""

    def __init__(self, store: FormStore, rules: str) -> None:
        self._store = store
        self._rules = rules

    def forms(self, key: HashedKey) -> Forms:
        """Return all forms in which the key's table is hashed in its topic. Raises
        StoreUnreachable.
        """
        return self._store.read(*self._at(key), _shard(key))

    def has_forms(self, key: HashedKey) -> bool:
        """Return whether ZooKeeper has any form of the logical table, or of its real tables. Raises
        StoreUnreachable.
        """
        return any(self._store.read_shards(*self._at(key)).values())

    def differing_forms(self, key: HashedKey, own: Forms) -> Forms:
        """Record that an instance hashes keys of a table in the form `key.form`, and return ().

        `own` are the forms that the instance published or that an operator accepted for it. If
        equal keys are in other partitions of the topic and no operator accepted that, nothing is
        recorded, and the forms of the topic are returned. Raises StoreUnreachable.
        """
        if key.form in self.forms(key):
            return ()
        found: list[Forms] = []

        def change(known: Forms) -> Forms | None:
            found.append(differing(known, key.form))
            return agreed(known, own, key.form)

        is_agreed = self._store.change(*self._at(key), change, _shard(key)) is not None
        return () if is_agreed else found[-1]

    def _at(self, key: HashedKey) -> tuple[str, str, str]:
        return key.topic, str(key.table), self._rules


def keys_repartitioned(key: HashedKey, known: Forms) -> PartitionsChanged:
    """Return the error for a row whose key form would move equal keys to other partitions.

    `known` are the forms in which the keys were hashed before.
    """
    return PartitionsChanged(
        f"Until now keys of {key.table} were hashed for topic {key.topic} in the form "
        f"{' | '.join(known)}. The next row would be hashed in the form {key.form}, so equal "
        "keys would get other partitions.",
        remedy=(
            "A key column has another type or character set than before, or than in another "
            "shard or instance of the topic. If all consumers of the topic compare the order "
            f"key, accept the change: `roma position repartition INSTANCE --topic {key.topic} "
            f"--table {key.table}`. Otherwise map the table to a new topic and copy it."
        ),
    )


def keys_differ(key: HashedKey, others: Forms) -> str:
    """Return a sentence for the status: this instance and another one hash equal keys differently,
    and the difference is older than the check for it.
    """
    return (
        f"This instance hashes keys of {key.table} for topic {key.topic} in the form "
        f"{key.form}, and another instance in the form {' | '.join(others)}. The difference is "
        "older than the check for it, so equal keys may have rows in two partitions."
    )


def _shard(key: HashedKey) -> str:
    return "" if key.shard is None else str(key.shard)
