"""The configuration file as frozen models: unknown keys are errors, secrets are never printed, defaults are the safe value."""

from relay.settings.base import Name, Port, Settings
from relay.settings.file import ApiSettings, LogSettings, RelaySettings, StatusSettings, instance_settings, load_settings, read_settings
from relay.settings.group import GroupSettings, GroupSourceSettings
from relay.settings.instance import InstanceSettings
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
from relay.settings.servers import KafkaSettings, PlacementSettings, ZooKeeperSettings
from relay.settings.source import FailoverSettings, SourceSettings, StandbySettings, StartSettings, TlsSettings

__all__ = [
    "ApiSettings",
    "BufferSettings",
    "ClaimSettings",
    "FailoverSettings",
    "FilterSettings",
    "FlowSettings",
    "GroupSettings",
    "GroupSourceSettings",
    "InstanceSettings",
    "KafkaSettings",
    "LogSettings",
    "LookupSettings",
    "MaskSettings",
    "MessageSettings",
    "Name",
    "PartitionSettings",
    "PlacementSettings",
    "Port",
    "RelaySettings",
    "RoutingSettings",
    "RowRuleSettings",
    "Settings",
    "SourceSettings",
    "SpoolingSettings",
    "StandbySettings",
    "StartSettings",
    "StatusSettings",
    "TlsSettings",
    "TopicSettings",
    "TransactionSettings",
    "TransformSettings",
    "ZooKeeperSettings",
    "instance_settings",
    "load_settings",
    "read_settings",
]
