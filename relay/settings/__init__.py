"""The models of the configuration file, and the functions that read it.

Relay, admin, command line, Canal server and Spark jobs read their settings by this package. The
models are frozen, unknown keys are errors, secrets are never printed, and each default is the safe
value.
"""

from relay.settings.base import NAME_PATTERN, Name, Port, Settings
from relay.settings.copying import CopyingSettings, copies_refusal
from relay.settings.file import (
    AdminTlsSettings,
    ApiSettings,
    BugReportSettings,
    LogSettings,
    RelaySettings,
    SecretsSettings,
    StatusSettings,
    checked_settings,
    instance_settings,
    load_settings,
    read_settings,
)
from relay.settings.formats import FormatName, RegistrySettings
from relay.settings.group import GroupSettings, GroupSourceSettings
from relay.settings.instance import InstanceSettings
from relay.settings.publishing import (
    BufferSettings,
    ClaimSettings,
    FlowSettings,
    HeartbeatSettings,
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
from relay.settings.secrets import (
    HARMLESS_CLAIM_OPTIONS,
    RunTimeVariables,
    Secret,
    VariableSecret,
    plain_options,
)
from relay.settings.servers import (
    MOST_PROCESSES,
    CanalDestinationSettings,
    CanalServerSettings,
    KafkaSettings,
    PlacementSettings,
)
from relay.settings.sign_in import OidcSettings, TrustedHeaderSettings, checked_address
from relay.settings.source import (
    FailoverSettings,
    SourceSettings,
    StandbySettings,
    StartSettings,
    TlsSettings,
)
from relay.settings.unknown_keys import UNKNOWN_KEY, nearest, told_errors, unknown_key
from relay.settings.zookeeper import ZooKeeperAuthSettings, ZooKeeperSettings, ZooKeeperTlsSettings

__all__ = [
    "HARMLESS_CLAIM_OPTIONS",
    "MOST_PROCESSES",
    "NAME_PATTERN",
    "UNKNOWN_KEY",
    "AdminTlsSettings",
    "ApiSettings",
    "BufferSettings",
    "BugReportSettings",
    "CanalDestinationSettings",
    "CanalServerSettings",
    "ClaimSettings",
    "CopyingSettings",
    "FailoverSettings",
    "FilterSettings",
    "FlowSettings",
    "FormatName",
    "GroupSettings",
    "GroupSourceSettings",
    "HeartbeatSettings",
    "InstanceSettings",
    "KafkaSettings",
    "LogSettings",
    "LookupSettings",
    "MaskSettings",
    "MessageSettings",
    "Name",
    "OidcSettings",
    "PartitionSettings",
    "PlacementSettings",
    "Port",
    "RegistrySettings",
    "RelaySettings",
    "RoutingSettings",
    "RowRuleSettings",
    "RunTimeVariables",
    "Secret",
    "SecretsSettings",
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
    "TrustedHeaderSettings",
    "VariableSecret",
    "ZooKeeperAuthSettings",
    "ZooKeeperSettings",
    "ZooKeeperTlsSettings",
    "checked_address",
    "checked_settings",
    "copies_refusal",
    "instance_settings",
    "load_settings",
    "nearest",
    "plain_options",
    "read_settings",
    "told_errors",
    "unknown_key",
]
