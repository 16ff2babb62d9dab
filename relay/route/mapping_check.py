"""Checks whether four mapping documents together can become the active mapping set."""

from relay.route.contradictions import contradictions
from relay.route.effort import Effort, TooMuchEffort
from relay.route.mapping_document import DBS, Documents, MappingProblem, read_documents
from relay.route.mapping_rules import read_rules
from relay.route.unfit_topics import unfit_topics


def problems(
    documents: Documents, reading: str = "", effort: Effort | None = None
) -> list[MappingProblem]:
    """Return the problems of the four documents together; an empty list means that they can become
    active.

    `reading` is described at `read_documents`. If the check needs more than `effort`, the last
    problem says so; None: no limit.
    """
    effort = effort or Effort()
    found: list[MappingProblem] = []
    try:
        read, unreadable = read_documents(documents, reading)
        found += unreadable
        rules = read_rules(read, effort)
        found += rules.problems
        # A document that cannot be read counts as empty here. Contradictions that the others then
        # seem to have would be misleading.
        if not unreadable:
            found += contradictions(rules, effort)
            found += [] if found else unfit_topics(rules, effort)
    except TooMuchEffort as exc:
        found.append(MappingProblem(DBS, "", str(exc)))
    return found
