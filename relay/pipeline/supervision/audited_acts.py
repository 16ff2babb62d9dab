"""Makes the audit entries about what the relay itself does at the start of a run."""

from relay.audit import AuditEntry
from relay.pipeline.copying.own_requests import own_request
from relay.state import SwitchNote


def copy_entry(instance: str, number: str) -> AuditEntry:
    """Return the audit entry for a copy request that the relay itself makes. `number` is the number
    of the request.
    """
    request = own_request(number, instance)
    after: dict[str, object] = {"id": request.id, "tables": list(request.tables)}
    return AuditEntry(request.by, "snapshot.started", instance, {}, after, request.comment)


def switch_entry(instance: str, switch: SwitchNote) -> AuditEntry:
    """Return the audit entry for a switch of the source to another server."""
    after: dict[str, object] = {"source": switch.source} if switch.source else {}
    after |= {
        "to": switch.to,
        "place": switch.place,
        "epoch": switch.epoch,
        "lost": switch.lost,
        "left_out": switch.left_out,
    }
    return AuditEntry(
        switch.accepted_by or switch.asked_by or "relay",
        "source.switched",
        instance,
        {},
        after,
        switch.reason,
    )
