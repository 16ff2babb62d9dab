"""Bodies of answers with entries of the audit trail."""

from typing import Any

from pydantic import BaseModel, Field

from relay.audit import AuditEntry, AuditVerdict


class AuditEntryView(BaseModel):
    """One operator act, as it is recorded in the audit trail."""

    actor: str = Field(description="Who did it.")
    act: str = Field(description="What was done.", examples=["position.set"])
    subject: str = Field(description="The instance; empty for the whole installation.")
    before: dict[str, Any] = Field(
        description="The fields that the act changed, with their former values."
    )
    after: dict[str, Any] = Field(description="The same fields with their new values.")
    comment: str = Field(description="The reason that the actor gave.")
    at_ms: int = Field(description="When, Unix milliseconds.")
    via: str = Field(
        description="How it was requested: `page`, `REST`, `command line`, `relay`, or `provider` "
        "with the issuer. Empty in entries of older versions."
    )

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
            via=entry.via,
        )


class AuditActsView(BaseModel):
    """The acts that occur in the newest entries of the audit trail."""

    acts: list[str] = Field(description="Sorted.", examples=[["flow.set", "mapping.saved"]])


class AuditVerdictView(BaseModel):
    """The result of a check of the audit trail's chains."""

    whole: bool = Field(description="No problem was found.")
    entries: int = Field(description="Entries in chains.")
    chains: int = Field(
        description="Number of chains. Each has one writer: a relay, an admin or a command."
    )
    unchained: int = Field(description="Entries of older versions, which no chain protects.")
    repeated: int = Field(description="Records that repeat an entry.")
    erased: int = Field(description="Entries whose contents an operator erased.")
    problems: list[str] = Field(description="Missing, changed or contradicting entries.")
    notes: list[str] = Field(description="What the chains cannot prove here.")
    newest: list[str] = Field(
        description="The entries that no other one names, as `writer:number:digest`."
    )

    @classmethod
    def of(cls, verdict: AuditVerdict) -> "AuditVerdictView":
        """Return the verdict with all its fields."""
        return cls(
            whole=not verdict.problems,
            entries=verdict.entries,
            chains=verdict.chains,
            unchained=verdict.unchained,
            repeated=verdict.repeated,
            erased=verdict.erased,
            problems=list(verdict.problems),
            notes=list(verdict.notes),
            newest=[str(each) for each in verdict.newest],
        )
