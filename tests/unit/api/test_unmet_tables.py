"""A dry run warns of a table that nobody has met, where its database is known."""

import pytest

from api.services.mappings.effects.unmet_tables import unmet_tables
from relay.model.table import TableId
from relay.route import MappingSet
from tests.unit.route.mappings import documents

MET = {"shop": [TableId("shop_1", "user"), TableId("shop_2", "order")], "idle": []}


def mapping(*tables: str) -> MappingSet:
    entries = [{"logicTb": "client", "realTbs": list(tables)}] if tables else []
    dbs = [{"logicDb": "shop", "realDbs": "shop_1,shop_2,unmet"}]
    return MappingSet.compile(
        1, documents(dbs=dbs, tbs=entries, topics=[{"logicDb": "shop", "topic": "shop"}])
    )


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("usre", "did you mean user?"),
        ("shop_1.User", "did you mean user?"),
        ("shop_1.xxxxx", "unless the table will be created later."),
    ],
)
def test_a_slip_of_the_pen_is_told(named: str, said: str) -> None:
    (warning,) = unmet_tables(mapping(), mapping("order", named), MET)
    assert warning.sentence.endswith(said)
    assert warning.instances == ("shop",)


def test_what_is_known_or_cannot_be_is_not_told() -> None:
    assert list(unmet_tables(mapping(), mapping("user", "unmet.usre", "/usr./"), MET)) == []
    assert list(unmet_tables(mapping("usre"), mapping("usre", "order"), MET)) == [], (
        "it was named before"
    )
