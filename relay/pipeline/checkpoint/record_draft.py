"""Builds the position record that is committed next."""

from dataclasses import replace

from relay.model.records.hashed_forms import HashedForms
from relay.model.records.position_record import PositionRecord


class RecordDraft:
    """Holds the position record that is committed next, in the attribute `record`.

    `Progress` sets the parts that follow from the stream. The methods here set the facts about
    topics and mapping sets.
    """

    __slots__ = ("record",)

    def __init__(self, record: PositionRecord) -> None:
        self.record = record

    def keeps(self, mappings: dict[str, int]) -> None:
        """Set the mapping sets that the position topic holds: digest → number."""
        if mappings != self.record.kept_mappings:
            self.record = replace(self.record, kept_mappings=mappings)

    def partitioned(
        self, partitions: dict[str, int], rules: dict[str, str], forms: HashedForms
    ) -> None:
        """Set how the rows of each topic are assigned to partitions.

        partitions  topic → number of partitions
        rules       topic → digest of the partition rules
        forms       topic → table → text forms in which keys are hashed
        """
        record = self.record
        if (partitions, rules, forms) != (record.partitions, record.placed_by, record.hashed_forms):
            self.record = replace(
                record, partitions=partitions, placed_by=rules, hashed_forms=forms
            )

    def formatted(self, formats: dict[str, str]) -> None:
        """Set the message format of each topic."""
        if formats != self.record.formats:
            self.record = replace(self.record, formats=formats)
