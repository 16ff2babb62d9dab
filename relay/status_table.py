"""What every instance does, as a table for people."""

from collections.abc import Sequence

from rich.table import Table

from relay.state import InstanceStatus


def status_table(statuses: Sequence[InstanceStatus]) -> Table:
    """One row per instance; the reason and the way out stand below its state."""
    table = Table("instance", "state", "position", "lag s", "rows", "mapping set", "row printer", "relay", title="Instances")
    for each in statuses:
        state = "\n".join(part for part in (each.state, each.code, each.reason, each.remedy) if part)
        place = f"{each.position_file}:{each.position_offset}" if each.position_file else ""
        lag = "" if each.lag_seconds is None else f"{each.lag_seconds:.1f}"
        table.add_row(each.name, state, place, lag, str(each.published_rows), str(each.mapping_set), each.row_printer, each.relay)
    return table
