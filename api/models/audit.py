"""Entries of the audit trail as the admin shows them."""

from typing import Any

from pydantic import BaseModel, Field

from relay.audit import AuditEntry


class AuditEntryView(BaseModel):
    """Something that was done by hand."""

    actor: str = Field(description="Who did it.")
    act: str = Field(description="What was done.", examples=["position.set"])
    subject: str = Field(description="The instance; empty for the whole installation.")
    before: dict[str, Any] = Field(description="What the act changed, as it was.")
    after: dict[str, Any] = Field(description="The same fields as they became.")
    comment: str = Field(description="Why.")
    at_ms: int = Field(description="When, Unix milliseconds.")

    @classmethod
    def of(cls, entry: AuditEntry) -> "AuditEntryView":
        """Return the entry with all its fields."""
        return cls(
            actor=entry.actor,
            act=entry.act,
            subject=entry.subject,
            before=dict(entry.before),
            after=dict(entry.after),
            comment=entry.comment,
            at_ms=entry.at_ms,
        )
