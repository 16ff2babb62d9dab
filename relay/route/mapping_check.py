"""Whether four mapping documents can come into force together."""

from relay.route.contradictions import contradictions
from relay.route.effort import Effort, TooMuchEffort
from relay.route.mapping_document import DBS, Documents, MappingProblem, read_documents
from relay.route.mapping_rules import read_rules
from relay.route.unfit_topics import unfit_topics


def problems(
    documents: Documents, reading: str = "", effort: Effort | None = None
) -> list[MappingProblem]:
    """Return the problems of the four documents together. An empty list means that the set can be
    activated.

    `reading` as in `read_documents`. Documents that take more than `effort` to check have that as
    their last problem; by default there is no limit.
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
