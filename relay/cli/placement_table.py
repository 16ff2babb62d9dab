"""Formats as a table which relay runs which instance."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from relay.state import InstanceAssignment


def placement_table(found: Sequence[InstanceAssignment], maintenance: Sequence[str]) -> Table:
    """Return one row per instance, and below the table the servers in maintenance."""
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
        table.add_row(
            place.instance,
            place.leader,
            place.moved_to,
            ", ".join(place.preferred),
            "\n".join(_able(place)),
            "\n".join(_unable(place)),
        )
    return table


def _able(place: InstanceAssignment) -> Iterator[str]:
    for each in place.candidates:
        if not each.code and each.relay != place.leader:
            yield f"{each.relay} ({each.server})"


def _unable(place: InstanceAssignment) -> Iterator[str]:
    for each in place.candidates:
        if each.code:
            yield f"{each.relay} ({each.server}): {each.code}: {each.reason}"
