"""Audit trail: operator acts with actor, time and reason.

It is append-only, in chains that show missing entries.
"""

from relay.audit.chain import HeldEntry, Reference, StoredEntry
from relay.audit.delayed_trail import DelayedTrail
from relay.audit.entry import AuditEntry
from relay.audit.export import ExportForm, exported, json_line
from relay.audit.filter import AuditFilter
from relay.audit.trail import AuditTrail
from relay.audit.verify import ERASED, ERASED_ENTRIES, AuditVerdict
from relay.audit.via import COMMAND_LINE, PAGE, RELAY, REST, acting_via

__all__ = [
    "COMMAND_LINE",
    "ERASED",
    "ERASED_ENTRIES",
    "PAGE",
    "RELAY",
    "REST",
    "AuditEntry",
    "AuditFilter",
    "AuditTrail",
    "AuditVerdict",
    "DelayedTrail",
    "ExportForm",
    "HeldEntry",
    "Reference",
    "StoredEntry",
    "acting_via",
    "exported",
    "json_line",
]
