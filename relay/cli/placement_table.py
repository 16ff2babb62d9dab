"""Who runs what, as a table for people."""

from collections.abc import Sequence

from rich.table import Table

from relay.state import InstancePlace


def placement_table(found: Sequence[InstancePlace], maintenance: Sequence[str]) -> Table:
    """One row per instance; below the table the servers in maintenance."""
    drained = f"in maintenance: {', '.join(maintenance)}" if maintenance else None
    table = Table(
        "instance",
        "leader",
        "moved to",
        "prefers",
        "could run it",
        "could not",
        title="Placement",
        caption=drained,
    )
    for place in found:
        able = [
            f"{each.relay} ({each.server})"
            for each in place.candidates
            if not each.code and each.relay != place.leader
        ]
        unable = [
            f"{each.relay} ({each.server}): {each.code}: {each.reason}"
            for each in place.candidates
            if each.code
        ]
        table.add_row(
            place.instance,
            place.leader,
            place.moved_to,
            ", ".join(place.preferred),
            "\n".join(able),
            "\n".join(unable),
        )
    return table
