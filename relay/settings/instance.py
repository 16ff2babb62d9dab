"""One instance."""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import model_validator

from relay.model.records.topic_placing import PlacingRules
from relay.settings.base import Name, Settings
from relay.settings.group import GroupSettings
from relay.settings.publishing import (
    BufferSettings,
    ClaimSettings,
    FlowSettings,
    MessageSettings,
    SpoolingSettings,
    TopicSettings,
    TransactionSettings,
)
from relay.settings.rules import (
    FilterSettings,
    LookupSettings,
    MaskSettings,
    PartitionSettings,
    RoutingSettings,
    RowRuleSettings,
    TransformSettings,
)
from relay.settings.source import FailoverSettings, SourceSettings, StartSettings


class InstanceSettings(Settings):
    """One source relayed as one ordered stream."""

    name: Name
    """Name of the instance.

    Part of the transactional id and of topic names; never change it after the first row.
    """
    preferred_servers: tuple[Name, ...] = ()
    """Machines to run on, the best first. It runs on the first that can."""
    oversize: Literal["stop", "dead_letter", "claim_check"] = "stop"
    """What becomes of a row that no topic takes: stop, store it as a dead letter, or store its
    value at `claims.url`.

    Unless it is `stop`, a row that cannot be printed is a dead letter.
    """
    row_printer: Literal["auto", "readable"] = "auto"
    """`auto`: compiled code where it can.

    `readable`: plain Python for every row. Both print the same bytes.
    """
    spool: Literal["memory", "mixed"] = "memory"
    """Where events wait while Kafka cannot take them: `memory`, then the source's binlog.

    `mixed`: the relay's disk.
    """
    source: SourceSettings
    """The server that is read."""
    group: GroupSettings | None = None
    """Further sources, merged into one stream."""
    failover: FailoverSettings = FailoverSettings()
    """When the standby is read."""
    start: StartSettings = StartSettings()
    """Where an instance without a position starts."""
    filter: FilterSettings = FilterSettings()
    """Which tables are published."""
    rules: tuple[RowRuleSettings, ...] = ()
    """Which rows and columns are published."""
    masks: tuple[MaskSettings, ...] = ()
    """How values are hidden."""
    transforms: tuple[TransformSettings, ...] = ()
    """Functions for the rows of a table."""
    lookups: tuple[LookupSettings, ...] = ()
    """Queries that transforms may use."""
    routing: RoutingSettings = RoutingSettings()
    """What happens to names without a mapping."""
    partition: PartitionSettings = PartitionSettings()
    """How rows are assigned to partitions."""
    message: MessageSettings = MessageSettings()
    """The form of messages."""
    topic: TopicSettings = TopicSettings()
    """How topics are made."""
    transaction: TransactionSettings = TransactionSettings()
    """How source transactions become Kafka transactions."""
    buffer: BufferSettings = BufferSettings()
    """The buffer between reading and publishing."""
    flow: FlowSettings = FlowSettings()
    """Limits of rows and bytes."""
    claims: ClaimSettings = ClaimSettings()
    """Where `oversize = "claim_check"` stores values."""
    spooling: SpoolingSettings = SpoolingSettings()
    """Where `spool = "mixed"` stores events."""

    @model_validator(mode="after")
    def _spool_has_a_place(self) -> "InstanceSettings":
        if self.spool == "mixed" and self.spooling.directory is None:
            raise ValueError("spool = 'mixed' needs spooling.directory")
        return self

    @model_validator(mode="after")
    def _claims_have_a_place(self) -> "InstanceSettings":
        if self.oversize == "claim_check" and self.claims.url is None:
            raise ValueError("oversize = 'claim_check' needs claims.url")
        return self

    @model_validator(mode="after")
    def _partial_rows_are_not_compacted(self) -> "InstanceSettings":
        if self.message.row_image == "partial" and self.topic.retention == "compact":
            raise ValueError(
                "topic.retention = 'compact' keeps the last row of a key, and with "
                "message.row_image = 'partial' that lacks columns"
            )
        return self

    @model_validator(mode="after")
    def _a_group_stands_by_itself(self) -> "InstanceSettings":
        if self.group is not None:
            of_one = {
                "failover.virtual_address": self.failover.virtual_address,
                "lookups": bool(self.lookups),
                "spool = 'mixed'": self.spool == "mixed",
                "start.journal_name": self.start.journal_name is not None,
            }
            for setting, given in of_one.items():
                if given:
                    raise ValueError(f"{setting} speaks of one source, and a group has several")
            _refuse_one_address_twice(self.each_source().values())
            _refuse_switches_without_proof(self.each_source(), self.failover)
        return self

    @model_validator(mode="after")
    def _packed_messages_have_no_keys(self) -> "InstanceSettings":
        needs_keys = {
            "message.tombstones = true": self.message.tombstones,
            "routing.key_scope = 'shard'": self.routing.key_scope == "shard",
            "topic.retention = 'compact'": self.topic.retention == "compact",
        }
        for setting, wanted in needs_keys.items():
            if wanted and self.message.rows_per_message == "event":
                raise ValueError(
                    f"{setting} needs message keys, and message.rows_per_message = 'event' has none"
                )
        return self

    @property
    def placing_rules(self) -> PlacingRules:
        """What decides about the partition of a row, besides the number of partitions."""
        return PlacingRules(
            self.partition.partition_hash, self.partition.database_hash, self.routing.names
        )

    def each_source(self) -> dict[str, SourceSettings]:
        """The sources by name; a single one is called ""."""
        return {"": self.source} if self.group is None else self.group.members(self.source)


def _refuse_one_address_twice(sources: Iterable[SourceSettings]) -> None:
    servers = [
        server
        for source in sources
        for server in (source, source.at_standby())
        if server is not None
    ]
    if len({(each.host, each.port) for each in servers}) < len(servers):
        raise ValueError(
            "two sources of the group, or a source and a standby, have the same address"
        )


def _refuse_switches_without_proof(
    sources: Mapping[str, SourceSettings], failover: FailoverSettings
) -> None:
    """A place by time or by digests is looked for from what one source published last.

    Of a group it is known by GTIDs alone.
    """
    how = failover.switch_without_gtid
    for name, source in sources.items():
        if source.standby is None:
            continue
        if how != "stop":
            raise ValueError(
                f"failover.switch_without_gtid = '{how}' is for a single source; in a group "
                f"GTIDs prove the standby of {name}"
            )
        if not source.gtid:
            raise ValueError(
                f"in a group GTIDs prove the standby of {name}, and source.gtid is off"
            )
