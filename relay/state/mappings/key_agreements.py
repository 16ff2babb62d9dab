"""The forms of keys on which all instances of a topic agree, and the error where they differ."""

from typing import NamedTuple, Protocol

from relay.errors import PartitionsChanged
from relay.model.records.hashed_forms import Forms, agreed, differing
from relay.model.table import TableId
from relay.state.mappings.key_forms import Change


class HashedKey(NamedTuple):
    """In which form the keys of a logical table are hashed in a topic.

    `shard` is the real table, if keys name it. Keys of other real tables are then others.
    """

    topic: str
    table: TableId
    form: str
    shard: TableId | None


class FormStore(Protocol):
    """The forms of all instances; `KeyFormStore` keeps them in ZooKeeper."""

    def read(self, topic: str, table: str, rules: str, shard: str = "", /) -> Forms:
        """Return the forms of a table, or of a real one if keys name it."""

    def read_all(self, topic: str, table: str, rules: str, /) -> Forms:
        """Return the forms of a logical table and of all its real tables."""

    def change(
        self, topic: str, table: str, rules: str, change: Change, shard: str = ""
    ) -> Forms | None:
        """Change the forms and return them; None if the change refuses what is there."""


class PlannedForms:
    """The forms of a store, with those that instances will note; nothing is written."""

    def __init__(self, store: FormStore) -> None:
        self._store = store
        self._planned: dict[tuple[str, str, str, str], Forms] = {}

    def read(self, topic: str, table: str, rules: str, shard: str = "") -> Forms:
        """Return the forms of a table. Raises StoreUnreachable."""
        at = (topic, table, rules, shard)
        if at not in self._planned:
            self._planned[at] = self._store.read(topic, table, rules, shard)
        return self._planned[at]

    def read_all(self, topic: str, table: str, rules: str) -> Forms:
        """Return the forms of a table and of its real tables. Raises StoreUnreachable."""
        planned = (
            form
            for at, forms in self._planned.items()
            if at[:3] == (topic, table, rules)
            for form in forms
        )
        return tuple(dict.fromkeys((*self._store.read_all(topic, table, rules), *planned)))

    def change(
        self, topic: str, table: str, rules: str, change: Change, shard: str = ""
    ) -> Forms | None:
        """Change the forms in memory. Raises StoreUnreachable."""
        after = change(self.read(topic, table, rules, shard))
        if after is not None:
            self._planned[topic, table, rules, shard] = after
        return after


class KeyAgreements:
    """The forms of keys in topics, by partition rules of one digest."""

    def __init__(self, store: FormStore, rules: str) -> None:
        self._store = store
        self._rules = rules

    def forms(self, key: HashedKey) -> Forms:
        """Return the forms of the key in its topic. Raises StoreUnreachable."""
        return self._store.read(*self._at(key), _shard(key))

    def has_forms(self, key: HashedKey) -> bool:
        """Return whether any form of the logical table is known. Raises StoreUnreachable."""
        return bool(self._store.read_all(*self._at(key)))

    def differing_forms(self, key: HashedKey, own: Forms) -> Forms:
        """Note that an instance publishes keys of a table in a form; `own` are the forms that it
        has published or that an operator accepted for it.

        Returns the forms of the topic if equal keys are in other partitions there and nobody
        accepted that; nothing is noted then. Raises StoreUnreachable.
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


def keys_move(key: HashedKey, known: Forms) -> PartitionsChanged:
    """Say that a change of a table would give its keys other partitions."""
    return PartitionsChanged(
        f"Keys of {key.table} were hashed for topic {key.topic} as {' | '.join(known)}, and a row "
        f"with keys as {key.form} follows: equal keys would get other partitions.",
        remedy=(
            "A key column has another type or character set, here, in another shard or in another "
            "instance of the topic. If "
            "consumers of the topic compare the order key: `roma position repartition INSTANCE "
            f"--topic {key.topic} --table {key.table}` accepts it. Otherwise map the table to a "
            "new topic and copy it."
        ),
    )


def keys_differ(key: HashedKey, others: Forms) -> str:
    """Say that keys of an instance and of another one have differed since before they were
    compared.
    """
    return (
        f"Keys of {key.table} in topic {key.topic} are hashed as {key.form} by this instance, "
        f"and as {' | '.join(others)} by another one. This was so before instances were "
        "compared: equal keys may have rows in two partitions."
    )


def _shard(key: HashedKey) -> str:
    return "" if key.shard is None else str(key.shard)
