"""Entries of the audit trail by time, actor, act and subject."""

from dataclasses import dataclass

from relay.audit.entry import AuditEntry


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """The criteria of a reader. An empty criterion matches every entry.

    act      the name of an act, or its first part up to a dot: mapping
    before   only entries before this time (Unix milliseconds)
    since    only entries at this time or later (Unix milliseconds)
    comment  a part of the comment, in upper or lower case
    via      how the act was requested, as the whole value
    """

    actor: str = ""
    act: str = ""
    subject: str = ""
    before: int | None = None
    since: int | None = None
    comment: str = ""
    via: str = ""

    def accepts(self, entry: AuditEntry) -> bool:
        """Return whether an entry matches all criteria."""
        return (
            (not self.actor or entry.actor == self.actor)
            and (not self.act or entry.act == self.act or entry.act.startswith(f"{self.act}."))
            and (not self.subject or entry.subject == self.subject)
            and self.comment.casefold() in entry.comment.casefold()
            and (not self.via or entry.via == self.via)
            and (self.before is None or entry.at_ms < self.before)
            and (self.since is None or entry.at_ms >= self.since)
        )
