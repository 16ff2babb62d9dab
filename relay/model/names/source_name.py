"""Finds the source that an operator's request is about: it must name a source of a group, and need
not name a single source.
"""

from collections.abc import Collection

from relay.errors import SourceNotNamed


def source_named(instance: str, known: Collection[str], wanted: str | None) -> str:
    """Return the name of the source that a request is about; "" for a single source.

    known   the names of the group's sources; empty for a single source
    wanted  the name in the request; None or "" if the request names no source. A single source can
            also be called by the instance's name

    Raises SourceNotNamed.
    """
    if not known:
        if wanted and wanted != instance:
            raise SourceNotNamed(
                f"Instance {instance} reads a single source, which is not called {wanted}."
            )
        return ""
    names = ", ".join(known)
    if not wanted:
        raise SourceNotNamed(f"Instance {instance} reads a group of sources: {names}.", known)
    if wanted not in known:
        raise SourceNotNamed(f"Instance {instance} has no source {wanted}, but {names}.", known)
    return wanted
