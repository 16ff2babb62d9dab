"""Determines the topics of rows that the mapping documents alone show, before any row is read."""

from relay.errors import UnmappedName
from relay.model.names.topic_template import is_template
from relay.model.table import TableId
from relay.route.effort import MOST_STEPS
from relay.route.router import Destination, Router


def known_topics(router: Router) -> tuple[str, ...]:
    """Return the topics of rows for the databases and tables that the mapping names, sorted.

    The fixed default topic is included. Tables that no document names may add topics when they
    appear.
    """
    mapping = router.mapping
    found = {topic for topic in mapping.all_topics if not is_template(topic)}
    if len(found) < len(mapping.all_topics):
        for name in mapping.named_databases:
            found.update(_topics(router, TableId(name, "")))
        if mapping.count_of_named_tables * mapping.steps_per_table <= MOST_STEPS:
            for table in mapping.named_tables:
                found.update(_topics(router, table))
    return tuple(sorted(found | set(router.fixed_default)))


def _topics(router: Router, real: TableId) -> tuple[str, ...]:
    try:
        route = router.route(real) if real.table else router.route_database(real.database)
    except UnmappedName:
        return ()
    return route.topics if isinstance(route, Destination) else ()
