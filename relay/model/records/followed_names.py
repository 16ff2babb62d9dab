"""How far the schema history of a source was followed. Pure."""

from dataclasses import replace

from relay.model.positions.position import SourcePosition


def names_up_to(source: SourcePosition, names: SourcePosition | None) -> SourcePosition | None:
    """Return `names` if the history was followed up to the position `source`, else None."""
    if names is None or (names.binlog, names.identity) != (source.binlog, source.identity):
        return None
    return names


def names_kept(source: SourcePosition, names: SourcePosition | None) -> SourcePosition | None:
    """Return `names` for a position after `source` whose statements are not followed: with the GTID
    set, so that they can be followed later without those that it holds.

    None if the history is of another server: it contains no statement that is read here.
    """
    if names is None or names.identity.server != source.identity.server:
        return None
    if names_up_to(source, names) is None:
        return names
    return replace(names, gtid_set=source.gtid_set)
