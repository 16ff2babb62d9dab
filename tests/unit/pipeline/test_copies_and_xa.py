"""No chunk of a table is read shortly after an XA COMMIT of its rows on MariaDB."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from relay.model.table import TableId
from relay.pipeline.copying import xa_commits
from relay.pipeline.copying.table_copies import TableCopies
from relay.pipeline.delivery.copy_view import CopyView
from relay.settings import CopyingSettings, FilterSettings, SourceSettings

TABLE, OTHER = TableId("shop", "orders"), TableId("shop", "items")


@pytest.mark.parametrize(
    ("committed", "uuid", "window", "waits"),
    [
        (TABLE, "", None, True),
        (OTHER, "", None, False),
        (TABLE, "a-uuid", None, False),
        (TABLE, "", object(), False),
    ],
)
def test_no_window_opens_until_mariadb_shows_an_xa_commit_of_the_table(
    committed: TableId,
    uuid: str,
    window: object,
    waits: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 100.0
    monkeypatch.setattr(xa_commits, "monotonic", lambda: now_s)
    instance: Any = SimpleNamespace(
        name="shop", filter=FilterSettings(), copying=CopyingSettings(lag_seconds=0)
    )
    checkpoint, run, store = MagicMock(), MagicMock(), MagicMock()
    checkpoint.progress.record.source.identity.server_uuid = uuid
    checkpoint.progress.record.snapshots = {}
    store.all_of.return_value = []
    run.request = run.ready.return_value = None
    run.window, run.current.id, run.view, run.progress.done = window, TABLE, CopyView(), False
    source = SourceSettings(host="db", user="u")
    copies = TableCopies(instance, source, store, checkpoint, MagicMock(), MagicMock())
    monkeypatch.setattr(copies, "_run", run)
    copies.xa_committed(committed)
    copies.step(MagicMock())
    assert run.advance.called is not waits
    now_s += xa_commits.HIDDEN_SECONDS
    run.advance.reset_mock()
    copies.step(MagicMock())
    assert run.advance.called
