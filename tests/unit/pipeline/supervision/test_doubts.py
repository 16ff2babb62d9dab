"""A table that did not fit is described anew once for each place."""

from relay.errors import NamesUnknown
from relay.model.table import TableId
from relay.pipeline.supervision.schema_refresh import Doubts


def misfit(table: str, place: str) -> NamesUnknown:
    error = NamesUnknown("The columns do not fit.", table=("d", table))
    error.place = place
    return error


def test_a_table_is_described_once_for_the_same_rows() -> None:
    doubts = Doubts()
    doubts.add(misfit("t", "b.1:100"))
    doubts.add(misfit("u", "b.1:100"))
    assert doubts.tables_of() == {TableId("d", "t"), TableId("d", "u")}
    doubts.described()
    assert doubts.tables_of() == frozenset()
    assert not doubts.holds(misfit("t", "b.1:200"))
    doubts.add(misfit("t", "b.1:200"))
    doubts.described()
    assert doubts.holds(misfit("t", "b.1:200"))
    assert not doubts.holds(misfit("u", "b.1:200"))
