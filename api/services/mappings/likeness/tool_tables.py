"""Recognizes tables that a schema change tool makes beside the table that it changes, by their
names.

Sources of the names: github/gh-ost, doc/cheatsheet.md and the option `--timestamp-old-table`;
Percona Toolkit, pt-online-schema-change, options `--new-table-name` and `--swap-tables`.
"""

import re
from typing import Final, NamedTuple

from api.models.mappings.unmapped import ToolTableView
from relay.model.table import TableId

_NAME: Final = re.compile(r"(_+)(.+?)(_\d{14})?_(gho|ghc|del|new|old)", re.DOTALL)


class _Kind(NamedTuple):
    tool: str
    role: str


_GH_OST: Final = "gh-ost"
_PT: Final = "pt-online-schema-change"
_KINDS: Final = {
    "gho": _Kind(_GH_OST, "the copy of {} with its new columns"),
    "ghc": _Kind(_GH_OST, "the log of its change of {}"),
    "del": _Kind(_GH_OST, "{} as it was before the change"),
    "new": _Kind(_PT, "the copy of {} with its new columns"),
    "old": _Kind(_PT, "{} as it was before the change"),
}


def tool_table(real: TableId) -> ToolTableView | None:
    """Return the schema change tool whose tables have names like `real`; None for other names."""
    found = _NAME.fullmatch(real.table)
    if found is None:
        return None
    underscores, table, stamp, suffix = found.groups()
    kind = _KINDS[suffix]
    if kind.tool == _GH_OST and len(underscores) > 1:
        table = underscores[1:] + table  # gh-ost adds one; a further one is the table's own
    if stamp and suffix != "del":
        table += stamp
    role = kind.role.format(table)
    return ToolTableView(
        tool=kind.tool,
        original=f"{real.database}.{table}",
        sentence=f"Named as {kind.tool} names {role}. Such tables are normally not mapped.",
    )
