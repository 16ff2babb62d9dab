"""Opens embedded changes with plain arguments."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from relay.embedded.changes import EmbeddedChanges
from relay.embedded.position_store import PositionFile, PositionStore
from relay.embedded.settings import EmbeddedSettings
from relay.settings import SourceSettings, checked_settings


def open(  # noqa: A001 - `embedded.open`, as a file is opened
    source: SourceSettings | Mapping[str, Any],
    tables: Sequence[str],
    *,
    position: Path | str | PositionStore,
    **options: Any,
) -> EmbeddedChanges:
    """Return the changes of some tables after the saved position. Use the result in a `with`
    statement.

    source    the server, with the fields of `source` in an instance's settings
    tables    real tables `database.table`, or regular expressions for such names between slashes
    position  the file of the position, or a store; `PositionCallbacks` makes a store of two
              functions
    options   further fields of `EmbeddedSettings`

    The source is opened when the first change is requested. Raises ConfigurationError for
    contradictory settings and for a position that another program uses, PositionUnreadable,
    PositionNewer.
    """
    values = {"source": source, "tables": tuple(tables), **options}
    settings = checked_settings(EmbeddedSettings, values, "embedded.open", "arguments")
    store = PositionFile(Path(position)) if isinstance(position, Path | str) else position
    return EmbeddedChanges(settings, store)
