"""`python -m tests.types`: write the texts of docs/types.md anew, as the relay prints what real
servers store.
"""

import sys

from deploy.embedded import MariaDB, MySQL, SqlServer
from deploy.embedded.fetching.progress import say
from tests.support.rows.types_page import PAGE, rewritten, type_lines
from tests.types.lines import inserted


def main() -> int:
    """Write the page."""
    texts: dict[int, tuple[str, str]] = {}
    for kind in (MySQL, MariaDB):
        kind.fetch()
        with kind() as server:
            texts |= _texts(server)
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8"), texts), encoding="utf-8")
    say(f"{len(texts)} lines")
    return 0


def _texts(server: SqlServer) -> dict[int, tuple[str, str]]:
    found = {}
    for line, truth, row, column in inserted(server, "types_page", type_lines(server.family)):
        if row.exact[column] != truth:
            say(
                f"{line.declared} {line.stored}: the server prints {truth!r}, the relay "
                f"{row.exact[column]!r}"
            )
        found[line.number] = row.exact[column] or "", row.canal[column] or ""
    return found


if __name__ == "__main__":
    sys.exit(main())
