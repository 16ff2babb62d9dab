"""Ensures that all instances of a topic hash equal keys in the same text form, so that equal keys
go to one partition.
"""

from typing import Protocol

from relay.errors import StoreUnreachable
from relay.model.records.hashed_forms import (
    ONE_MORE,
    Forms,
    admitted,
    differing,
    has_form,
    is_plain,
    joined,
)
from relay.pipeline.delivery.saved_position import PublishedPartitioning
from relay.state import HashedKey, KeyAgreements, keys_repartitioned


class KeyHistory(Protocol):
    """What an instance published before its present run."""

    def had_rows(self, key: HashedKey) -> bool:
        """Return whether the instance has published rows of the table of `key` to the topic of
        `key`.
        """

    def warn(self, key: HashedKey, others: Forms) -> None:
        """Report that equal keys are in different partitions, because an older version of the relay
        published them without comparing the text forms of all instances.

        `others` are the other text forms in which the keys were hashed.
        """


class KeyForms:
    """The text forms in which this instance hashes keys.

    `known` are the forms for the position record: topic → logical table → the forms of all its real
    tables.
    """

    def __init__(
        self, saved: PublishedPartitioning, agreements: KeyAgreements, history: KeyHistory
    ) -> None:
        self.known = self._saved = saved.forms
        self._published = frozenset(saved.partitions)
        self._agreements = agreements
        self._history = history
        self._agreed: set[HashedKey] = set()

    def keep(self, key: HashedKey) -> None:
        """Record the text form in which this instance hashes the keys of a table.

        Raises PartitionsChanged if this instance or another one hashed equal keys in another form,
        and StoreUnreachable.
        """
        tables = self.known.get(key.topic, {})
        known = tables.get(str(key.table), ())
        forms = self._of_table(key, known) if key.shard is None else self._of_shard(key, known)
        if forms != known:
            self.known = {**self.known, key.topic: {**tables, str(key.table): forms}}

    def _of_table(self, key: HashedKey, known: Forms) -> Forms:
        # Most keys are numbers: the record, which each commit writes, has the other ones alone.
        forms = admitted(known, key.form) if known or not is_plain(key.form) else known
        if forms is None:
            raise keys_repartitioned(key, known)
        self._agree(key, forms)
        return forms

    def _of_shard(self, key: HashedKey, known: Forms) -> Forms:
        """Compare a form with those of the same real table, which the agreement has; the list of
        the record has those of all real tables.

        While ZooKeeper does not answer, only forms that the list has continue.
        """
        is_new = bool(differing(known, key.form)) and not has_form(known, key.form)
        if key in self._agreed and not is_new:
            return known
        try:
            shared = self._agreements.forms(key)
            if is_new and not shared and not self._agreements.has_forms(key):
                return self._of_table(key, known)  # ZooKeeper lost what it had of this table
        except StoreUnreachable:
            if is_new:
                raise
            return self._of_table(key, known)
        moved = differing(shared, key.form)
        accepted = (
            ONE_MORE in known
            and bool(moved)
            and not (has_form(shared, key.form) and has_form(known, key.form))
        )
        if key.form in shared:
            self._agreed.add(key)
        else:
            self._agree(key, moved if accepted else ())
        return joined(known, key.form, accepted=accepted)

    def _agree(self, key: HashedKey, own: Forms) -> None:
        """Compare a form with those of all instances of the topic, once in a run.

        While ZooKeeper does not answer, rows of a topic that has some continue.
        """
        if key in self._agreed:
            return
        try:
            while others := self._agreements.differing_forms(key, own):
                if not self._was_published(key):
                    raise keys_repartitioned(key, others)
                self._history.warn(key, others)
                own = (*own, *others)
        except StoreUnreachable:
            if key.topic not in self._published:
                raise
            return
        self._agreed.add(key)

    def _was_published(self, key: HashedKey) -> bool:
        """Return whether rows of this form were published before the run began.

        The record lacks the forms of plain keys, and has one list for all real tables: if keys name
        these, a list with several forms does not say which table had which.
        """
        if key.topic not in self._published:
            return False
        saved = self._saved.get(key.topic, {}).get(str(key.table), ())
        if not has_form(saved, key.form) if saved else not is_plain(key.form):
            return False
        if key.shard is not None and differing(saved, key.form):
            return False
        return (bool(saved) and key.shard is None) or self._history.had_rows(key)
