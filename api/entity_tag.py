"""If-Match and If-None-Match (RFC 9110, 13.1).

An entity tag is the number of a mapping set, or the name of a document's state. No later state has
the same tag, also if a document was removed and added again.
"""

import re
from dataclasses import dataclass
from typing import Final

from api.errors import BadRequest, PreconditionFailed, PreconditionRequired

_TAG: Final = re.compile(r'\s*(?:W/)?"([^"]*)"\s*')


def entity_tag(state: int | str) -> str:
    """Write a set's number, or the name of a state, as an entity tag."""
    return f'"{state}"'


@dataclass(frozen=True, slots=True)
class TagList:
    """The tags of one header; `any` is `*`."""

    tags: frozenset[str]
    any: bool = False

    @classmethod
    def read(cls, header: str | None) -> "TagList | None":
        """Read a header; None if it is missing. Raises BadRequest."""
        if header is None:
            return None
        if header.strip() == "*":
            return cls(frozenset(), any=True)
        parts = [_TAG.fullmatch(part) for part in header.split(",")]
        if not all(parts):
            raise BadRequest(
                f"{header!r} is not a list of entity tags.",
                remedy='An entity tag must be in quotes: If-Match: "12".',
            )
        return cls(frozenset(part.group(1) for part in parts if part is not None))

    def names(self, state: int | str) -> bool:
        """Return whether the header names this state."""
        return self.any or str(state) in self.tags


@dataclass(frozen=True, slots=True)
class Precondition:
    """The state of a document that a writer expects: If-Match and If-None-Match."""

    if_match: TagList | None = None
    if_none_match: TagList | None = None

    @property
    def blind(self) -> bool:
        """Whether the writer sent `If-Match: *`, which matches any state."""
        return self.if_match is not None and self.if_match.any

    @classmethod
    def of_state(cls, state: str) -> "Precondition":
        """Return the precondition of a page that showed this state."""
        return cls(if_match=TagList(frozenset({state})))

    def check(self, state: int | str, *, exists: bool) -> None:
        """Compare the expectation with the present state; `exists`: a document would be replaced.

        Raises PreconditionRequired if an edit of an existing document has no If-Match,
        PreconditionFailed if the state has changed.
        """
        if self.if_none_match is not None and exists and self.if_none_match.names(state):
            raise PreconditionFailed(
                "It exists already, and If-None-Match requires that it does not."
            )
        if self.if_match is None:
            if exists and self.if_none_match is None:
                raise PreconditionRequired("It exists already, and the request has no If-Match.")
        elif not self.if_match.names(state) or (self.if_match.any and not exists):
            raise PreconditionFailed(f"State {state} is active, and If-Match names another state.")
