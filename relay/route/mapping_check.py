"""Checks whether four mapping documents can come into force together."""

from relay.route.contradictions import contradictions
from relay.route.effort import Effort, TooMuchEffort
from relay.route.mapping_document import DBS, Documents, MappingProblem, read_documents
from relay.route.mapping_rules import read_rules
from relay.route.unfit_topics import unfit_topics


def problems(
    documents: Documents, reading: str = "", effort: Effort | None = None
) -> list[MappingProblem]:
    """Return the problems of the four documents together; an empty list means that they can come
    into force.

    `reading` is described at `read_documents`. If the check needs more than `effort`, that is the
    last problem; None: no limit.
    """
    effort = effort or Effort()
    found: list[MappingProblem] = []
    try:
        read, unreadable = read_documents(documents, reading)
        found += unreadable
        rules = read_rules(read, effort)
        found += rules.problems
        # A document that could not be read looks empty here; what the others seem to lack then
        # would be guesswork.
        if not unreadable:
            found += contradictions(rules, effort)
            found += [] if found else unfit_topics(rules, effort)
    except TooMuchEffort as exc:
        found.append(MappingProblem(DBS, "", str(exc)))
    return found
