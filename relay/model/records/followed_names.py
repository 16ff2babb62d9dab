"""How far the schema history of a source was followed, as part of the position record. Pure."""

from dataclasses import replace

from relay.model.positions.position import SourcePosition


def names_up_to(source: SourcePosition, names: SourcePosition | None) -> SourcePosition | None:
    """Return `names` if the schema history was followed exactly up to the position `source`, else
    None.
    """
    if names is None or (names.binlog, names.identity) != (source.binlog, source.identity):
        return None
    return names


def names_kept(source: SourcePosition, names: SourcePosition | None) -> SourcePosition | None:
    """Return the value of `names` for a position after `source`, if the statements between the two
    positions were not followed.

    If the history was followed exactly up to `source`, the result has the GTID set of `source`, by
    which those statements can be followed later. None if the history belongs to another server,
    whose binlog has other statements.
    """
    if names is None or names.identity.server != source.identity.server:
        return None
    if names_up_to(source, names) is None:
        return names
    return replace(names, gtid_set=source.gtid_set)
