"""One instance."""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import model_validator

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
    """One source relayed as one ordered stream, on the first of `preferred_servers` that can.

    `oversize` says what becomes of a row that no topic takes as it is; unless it is "stop", one that cannot be printed is a dead letter.
    `spool` says where events wait while Kafka cannot take them: in the source's binlog beyond the buffer, or on the relay's disk.
    """

    name: Name
    preferred_servers: tuple[Name, ...] = ()
    oversize: Literal["stop", "dead_letter", "claim_check"] = "stop"
    spool: Literal["memory", "mixed"] = "memory"
    source: SourceSettings
    group: GroupSettings | None = None
    failover: FailoverSettings = FailoverSettings()
    start: StartSettings = StartSettings()
    filter: FilterSettings = FilterSettings()
    rules: tuple[RowRuleSettings, ...] = ()
    masks: tuple[MaskSettings, ...] = ()
    transforms: tuple[TransformSettings, ...] = ()
    lookups: tuple[LookupSettings, ...] = ()
    routing: RoutingSettings = RoutingSettings()
    partition: PartitionSettings = PartitionSettings()
    message: MessageSettings = MessageSettings()
    topic: TopicSettings = TopicSettings()
    transaction: TransactionSettings = TransactionSettings()
    buffer: BufferSettings = BufferSettings()
    flow: FlowSettings = FlowSettings()
    claims: ClaimSettings = ClaimSettings()
    spooling: SpoolingSettings = SpoolingSettings()

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
                "topic.retention = 'compact' keeps the last row of a key, and with message.row_image = 'partial' that lacks columns"
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
                raise ValueError(f"{setting} needs message keys, and message.rows_per_message = 'event' has none")
        return self

    def each_source(self) -> dict[str, SourceSettings]:
        """The sources by name; a single one is called ""."""
        return {"": self.source} if self.group is None else self.group.members(self.source)


def _refuse_one_address_twice(sources: Iterable[SourceSettings]) -> None:
    servers = [server for source in sources for server in (source, source.at_standby()) if server is not None]
    if len({(each.host, each.port) for each in servers}) < len(servers):
        raise ValueError("two sources of the group, or a source and a standby, have the same address")


def _refuse_switches_without_proof(sources: Mapping[str, SourceSettings], failover: FailoverSettings) -> None:
    """A place by time or by digests is looked for from what one source published last; of a group it is known by GTIDs alone."""
    how = failover.switch_without_gtid
    for name, source in sources.items():
        if source.standby is None:
            continue
        if how != "stop":
            raise ValueError(f"failover.switch_without_gtid = '{how}' is for a single source; in a group GTIDs prove the standby of {name}")
        if not source.gtid:
            raise ValueError(f"in a group GTIDs prove the standby of {name}, and source.gtid is off")
