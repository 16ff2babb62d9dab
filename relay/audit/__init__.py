"""Audit trail: operator acts with actor, time and reason.

It is append-only, in chains that show missing entries.
"""

from relay.audit.chain import HeldEntry, Reference, StoredEntry
from relay.audit.delayed_trail import DelayedTrail
from relay.audit.entry import AuditEntry
from relay.audit.export import ExportForm, exported
from relay.audit.filter import AuditFilter
from relay.audit.trail import AuditTrail
from relay.audit.verify import ERASED, ERASED_ENTRIES, AuditVerdict

__all__ = [
    "ERASED",
    "ERASED_ENTRIES",
    "AuditEntry",
    "AuditFilter",
    "AuditTrail",
    "AuditVerdict",
    "DelayedTrail",
    "ExportForm",
    "HeldEntry",
    "Reference",
    "StoredEntry",
    "exported",
]
