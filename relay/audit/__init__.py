"""Audit: who did what by hand, when and why; append-only."""

from relay.audit.delayed_trail import DelayedTrail
from relay.audit.entry import AuditEntry
from relay.audit.trail import AuditTrail

__all__ = ["AuditEntry", "AuditTrail", "DelayedTrail"]
