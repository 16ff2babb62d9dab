"""The settings of one instance."""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import model_validator

from relay.model.names.topic_template import DDL_SUFFIX
from relay.model.records.topic_partitioning import PartitioningRules
from relay.settings.base import InstanceName, Name, Settings
from relay.settings.copying import CopyingSettings, copies_refusal
from relay.settings.formats import (
    REGISTERED,
    FormatName,
    RegistrySettings,
    refusal_of_all,
    refusals,
)
from relay.settings.group import GroupSettings
from relay.settings.publishing import (
    BufferSettings,
    ClaimSettings,
    FlowSettings,
    HeartbeatSettings,
    MessageSettings,
    SpoolingSettings,
    TopicSettings,
    TransactionSettings,
    compaction_refusal,
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
    """The settings of one source, which is relayed as one ordered stream."""

    name: InstanceName
    """Name of the instance.

    Part of the transactional id and of topic names; never change it after the first row.
    """
    preferred_servers: tuple[Name, ...] = ()
    """Preferred machines, the best first. The instance runs on the first one that can run it."""
    oversize: Literal["stop", "dead_letter", "claim_check"] = "stop"
    """What happens to a row whose message is larger than Kafka accepts: stop the instance, store
    the row as a dead letter, or store its value at `claims.url`.

    With `dead_letter` and `claim_check`, a row that cannot be encoded becomes a dead letter too.
    """
    row_printer: Literal["auto", "readable"] = "auto"
    """`auto`: compiled code prints the rows that it supports.

    `readable`: plain Python prints every row. Both print the same bytes.
    """
    snapshot: Literal["never", "initial", "when_needed"] = "never"
    """When the relay copies all mapped tables without an operator's request.

    `initial`: at the first start of the instance. `when_needed`: also after an operator accepted
    the loss of changes that the source no longer has.
    """
    spool: Literal["memory", "mixed"] = "memory"
    """Where events are stored while Kafka is unavailable.

    `memory`: in the buffer in memory. When it is full, the relay stops reading, and later events
    stay in the source's binlog. `mixed`: on the relay's disk.
    """
    source: SourceSettings
    """The server whose binlog is read."""
    group: GroupSettings | None = None
    """Further sources, whose transactions are merged into one stream."""
    failover: FailoverSettings = FailoverSettings()
    """When the relay switches from the source to its standby."""
    start: StartSettings = StartSettings()
    """Where reading begins if the instance has no position."""
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
    """The format and contents of messages."""
    registry: RegistrySettings = RegistrySettings()
    """The schema registry."""
    topic: TopicSettings = TopicSettings()
    """Settings of the topics that the relay creates."""
    transaction: TransactionSettings = TransactionSettings()
    """How source transactions become Kafka transactions."""
    heartbeat: HeartbeatSettings = HeartbeatSettings()
    """Heartbeat messages that an instance publishes while it has no changes."""
    buffer: BufferSettings = BufferSettings()
    """The buffer between reading and publishing."""
    flow: FlowSettings = FlowSettings()
    """Limits of rows and bytes."""
    copying: CopyingSettings = CopyingSettings()
    """When a copy of tables pauses."""
    claims: ClaimSettings = ClaimSettings()
    """Where `oversize = "claim_check"` stores values."""
    spooling: SpoolingSettings = SpoolingSettings()
    """Where `spool = "mixed"` stores events."""

    @model_validator(mode="after")
    def _spool_has_a_place(self) -> "InstanceSettings":
        if self.spool == "mixed" and self.spooling.directory is None:
            raise ValueError("spool = 'mixed' needs spooling.directory; set it to a folder")
        return self

    @model_validator(mode="after")
    def _claims_have_a_place(self) -> "InstanceSettings":
        if self.oversize == "claim_check" and self.claims.url is None:
            raise ValueError("oversize = 'claim_check' needs claims.url; set it to a folder or URL")
        return self

    @model_validator(mode="after")
    def _snapshot_can_be_taken(self) -> "InstanceSettings":
        if self.snapshot != "never" and (reason := copies_refusal(self)):
            raise ValueError(f"snapshot = '{self.snapshot}' cannot be carried out: {reason}")
        return self

    @model_validator(mode="after")
    def _formats_fit(self) -> "InstanceSettings":
        """Check all formats; `MessageSettings` checks only its own format."""
        for where, name in self._named_formats().items():
            if name in REGISTERED and self.registry.url is None:
                raise ValueError(f"{where} = '{name}' needs registry.url; set it to a registry")
            if found := refusals(where, name, dict(self.message)):
                raise ValueError("; ".join(found))
        if of_all := refusal_of_all(self.formats, self.registry, schemas=self.message.schemas):
            raise ValueError(of_all)
        return self

    @model_validator(mode="after")
    def _the_last_message_of_a_key_is_its_row(self) -> "InstanceSettings":
        if self.topic.compacts and (reason := compaction_refusal(self.message)):
            raise ValueError(reason)
        return self

    @model_validator(mode="after")
    def _a_group_stands_by_itself(self) -> "InstanceSettings":
        if self.group is not None:
            of_one = {
                "failover.virtual_address": self.failover.virtual_address,
                "lookups": bool(self.lookups),
                "spool = 'mixed'": self.spool == "mixed",
                "start.journal_name": self.start.journal_name is not None,
                "start.gtid_set": self.start.gtid_set is not None,
                "source.standby.start": self.source.starts_at_standby,
            }
            for setting, given in of_one.items():
                if given:
                    raise ValueError(f"{setting} applies to one source, not a group; remove it")
            _refuse_one_address_twice(self.each_source().values())
            _refuse_switches_without_proof(self.each_source(), self.failover)
        return self

    @model_validator(mode="after")
    def _packed_messages_have_no_keys(self) -> "InstanceSettings":
        needs_keys = {
            "message.tombstones = true": self.message.tombstones,
            "routing.key_scope = 'shard'": self.routing.key_scope == "shard",
            "topic.retention = 'compact'": self.topic.compacts,
        }
        for setting, wanted in needs_keys.items():
            if wanted and self.message.rows_per_message == "event":
                raise ValueError(
                    f"{setting} needs message keys, which packed messages do not have; "
                    "set message.rows_per_message = 'row'"
                )
        return self

    @model_validator(mode="after")
    def _statements_have_topics_of_their_own(self) -> "InstanceSettings":
        for topic in filter(None, (self.transaction.topic, self.heartbeat.topic)):
            if topic.endswith(DDL_SUFFIX):
                raise ValueError(
                    f"{topic} is the name of a topic of statements: choose names for "
                    f"transaction.topic and heartbeat.topic that do not end in {DDL_SUFFIX}"
                )
        return self

    @property
    def transaction_topic(self) -> str | None:
        """The topic of BEGIN and END messages, None without one."""
        return _with_name(self.transaction.topic, self.name)

    @property
    def heartbeat_topic(self) -> str | None:
        """The topic of heartbeats, None without one."""
        return _with_name(self.heartbeat.topic, self.name)

    @property
    def report_topics(self) -> frozenset[str]:
        """The topics of BEGIN, END and heartbeat messages, which have no rows."""
        return frozenset(filter(None, (self.transaction_topic, self.heartbeat_topic)))

    @property
    def partitioning_rules(self) -> PartitioningRules:
        """Return the settings that determine a row's partition, except the number of partitions."""
        return PartitioningRules(
            self.partition.partition_hash, self.partition.database_hash, self.routing.names
        )

    @property
    def formats(self) -> tuple[FormatName, ...]:
        """Return all formats of the instance's topics, the one of `message.format` first."""
        return tuple(dict.fromkeys(self._named_formats().values()))

    def format_of(self, topic: str) -> FormatName:
        """Return the format of a topic. The topic of its statements has the same format."""
        rule = self.topic.rule_of(topic.removesuffix(DDL_SUFFIX))
        return self.message.format if rule is None or rule.format is None else rule.format

    def _named_formats(self) -> dict[str, FormatName]:
        """Return the formats by the name of the setting that selects them."""
        rules = {
            f"topic.rules[{number}].format": rule.format
            for number, rule in enumerate(self.topic.rules)
            if rule.format is not None
        }
        return {"message.format": self.message.format, **rules}

    def partitions_of(self, topic: str) -> int | None:
        """Return the configured number of partitions of a row topic, None if none is configured."""
        rule = self.topic.rule_of(topic)
        if rule is None or rule.partitions_num is None:
            return self.partition.partitions_num
        return rule.partitions_num

    def start_at(self, server: SourceSettings) -> StartSettings:
        """Return where reading begins at a server if the instance has no position."""
        standby = self.source.standby
        if (
            standby is not None
            and standby.start is not None
            and (standby.host, standby.port) == (server.host, server.port)
        ):
            return standby.start
        return self.start

    def each_source(self) -> dict[str, SourceSettings]:
        """Return the settings of the sources by name; the name of a single source is ""."""
        return {"": self.source} if self.group is None else self.group.members(self.source)


def _with_name(topic: str | None, instance: str) -> str | None:
    return None if topic is None else topic.replace("{instance}", instance)


def _refuse_one_address_twice(sources: Iterable[SourceSettings]) -> None:
    servers = [
        server
        for source in sources
        for server in (source, source.at_standby())
        if server is not None
    ]
    if len({(each.host, each.port) for each in servers}) < len(servers):
        raise ValueError(
            "two sources of the group, or a source and a standby, have the same host and port; "
            "correct the address of one of them"
        )


def _refuse_switches_without_proof(
    sources: Mapping[str, SourceSettings], failover: FailoverSettings
) -> None:
    """Refuse settings of a group under which a standby cannot be proven. A group proves standbys by
    GTIDs; the other ways find a position by the last transaction of a single source.
    """
    how = failover.switch_without_gtid
    for name, source in sources.items():
        if source.standby is None:
            continue
        if how != "stop":
            raise ValueError(
                f"failover.switch_without_gtid = '{how}' is for a single source; in a group "
                f"GTIDs prove the standby of {name}: set it to 'stop'"
            )
        if not source.gtid:
            raise ValueError(
                f"in a group GTIDs prove the standby of {name}, and gtid of that source is false; "
                "set gtid = true, or remove the standby"
            )
