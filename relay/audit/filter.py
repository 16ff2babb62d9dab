"""Entries of the audit trail by time, actor, act and subject."""

from dataclasses import dataclass

from relay.audit.entry import AuditEntry


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """The criteria of a reader; an empty one matches every entry.

    act     the whole name of an act, or its beginning up to a dot: mapping
    before  entries before this moment alone, Unix milliseconds
    since   entries from this moment on, Unix milliseconds
    comment a part of the comment; upper and lower case are equal
    via     how the act was requested, whole
    """

    actor: str = ""
    act: str = ""
    subject: str = ""
    before: int | None = None
    since: int | None = None
    comment: str = ""
    via: str = ""

    def accepts(self, entry: AuditEntry) -> bool:
        """Whether an entry matches all criteria."""
        return (
            (not self.actor or entry.actor == self.actor)
            and (not self.act or entry.act == self.act or entry.act.startswith(f"{self.act}."))
            and (not self.subject or entry.subject == self.subject)
            and self.comment.casefold() in entry.comment.casefold()
            and (not self.via or entry.via == self.via)
            and (self.before is None or entry.at_ms < self.before)
            and (self.since is None or entry.at_ms >= self.since)
        )
