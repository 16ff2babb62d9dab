"""The source that a request refers to: that of a group must be named, a single one need not be."""

from collections.abc import Collection

from relay.errors import SourceNotNamed


def source_named(instance: str, known: Collection[str], wanted: str | None) -> str:
    """Return the name of the source that is `wanted` among those of the group, "" for a single
    source, for which `known` is empty.

    A single source can also be named by the instance's name; None and "" name no source. Raises
    SourceNotNamed.
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
