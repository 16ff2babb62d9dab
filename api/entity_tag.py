"""Parses and checks the headers If-Match and If-None-Match (RFC 9110, 13.1).

An entity tag is the number of a mapping set, or the name of a document's state. A later state never
has the same tag, even if a document was removed and added again.
"""

import re
from dataclasses import dataclass
from typing import Final

from api.errors import BadRequest, PreconditionFailed, PreconditionRequired

_TAG: Final = re.compile(r'\s*(?:W/)?"([^"]*)"\s*')


def entity_tag(state: int | str) -> str:
    """Return the number of a mapping set, or the name of a document's state, in quotes as an
    ETag.
    """
    return f'"{state}"'


@dataclass(frozen=True, slots=True)
class TagList:
    """The entity tags of one header; `any` is True for the header `*`."""

    tags: frozenset[str]
    any: bool = False

    @classmethod
    def read(cls, header: str | None) -> "TagList | None":
        """Return the entity tags of a header; None if `header` is None.

        Raises BadRequest if the header is not a list of quoted tags.
        """
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
        """Return whether the header is `*` or contains the entity tag of this state."""
        return self.any or str(state) in self.tags


@dataclass(frozen=True, slots=True)
class Precondition:
    """The headers If-Match and If-None-Match of a write; None: the request does not have the
    header.
    """

    if_match: TagList | None = None
    if_none_match: TagList | None = None

    @property
    def blind(self) -> bool:
        """Whether the writer sent `If-Match: *`, which matches any state."""
        return self.if_match is not None and self.if_match.any

    @classmethod
    def of_state(cls, state: str) -> "Precondition":
        """Return the precondition that a document is still in this state."""
        return cls(if_match=TagList(frozenset({state})))

    def check(self, state: int | str, *, exists: bool) -> None:
        """Check that the present state of a document meets the precondition.

        state   present state: a set's number or the name of a document's state
        exists  whether the write would replace an existing document

        Raises PreconditionRequired if the document exists and the request has neither header,
        PreconditionFailed if the document is in another state than the headers require.
        """
        if self.if_none_match is not None and exists and self.if_none_match.names(state):
            raise PreconditionFailed(
                "The object exists already, and If-None-Match requires that it does not exist."
            )
        if self.if_match is None:
            if exists and self.if_none_match is None:
                raise PreconditionRequired(
                    "The object exists already, and the request has no If-Match."
                )
        elif not self.if_match.names(state) or (self.if_match.any and not exists):
            raise PreconditionFailed(
                f"The present state is {state}, and If-Match names another state."
            )
