"""A table that did not fit is described anew once for each place."""

from relay.errors import NamesUnknown
from relay.model.table import TableId
from relay.pipeline.supervision.schema_refresh import TablesToRefresh


def misfit(table: str, place: str) -> NamesUnknown:
    error = NamesUnknown("The columns do not fit.", table=("d", table))
    error.place = place
    return error


def test_a_table_is_described_once_for_the_same_rows() -> None:
    tables_to_refresh = TablesToRefresh()
    tables_to_refresh.add(misfit("t", "b.1:100"))
    tables_to_refresh.add(misfit("u", "b.1:100"))
    assert tables_to_refresh.of_source() == {TableId("d", "t"), TableId("d", "u")}
    tables_to_refresh.refreshed()
    assert tables_to_refresh.of_source() == frozenset()
    assert not tables_to_refresh.was_refreshed(misfit("t", "b.1:200"))
    tables_to_refresh.add(misfit("t", "b.1:200"))
    tables_to_refresh.refreshed()
    assert tables_to_refresh.was_refreshed(misfit("t", "b.1:200"))
    assert not tables_to_refresh.was_refreshed(misfit("u", "b.1:200"))
