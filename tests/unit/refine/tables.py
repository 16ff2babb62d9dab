"""What settings make of the table of tests/support/conditions."""

from relay.encode import exact_text
from relay.model.change import RowChange
from relay.model.table import TableDefinition, TableId
from relay.model.value import Value
from relay.refine import NotPublished, Refinements, TableRefinement
from relay.refine.transformed import Lookup
from relay.settings import InstanceSettings
from tests.support.conditions import DEFINITION

LOGICAL = TableId("shop", "customer")


def instance(**settings: object) -> InstanceSettings:
    """Settings of an instance with these."""
    return InstanceSettings.model_validate(
        {"name": "shop", "source": {"host": "h", "user": "u", "server_id": 7}, **settings}
    )


def refinement(
    lookups: dict[str, Lookup] | None = None,
    definition: TableDefinition = DEFINITION,
    **settings: object,
) -> TableRefinement:
    """What these settings make of the table."""
    found = Refinements(instance(**settings), lookups or {}).of(definition, LOGICAL, exact_text)
    assert found is not None
    return found


def published(
    refined: TableRefinement, change: RowChange
) -> list[tuple[dict[str, Value] | None, dict[str, Value] | None]]:
    """What a change is published as: images before and after, by the names of the columns that
    messages have.
    """
    made = refined.changes(change)
    assert not isinstance(made, NotPublished), made
    names = [column.name for column in refined.published.map.columns]
    shown = [refined.shown(each) for each in made]
    images = [
        [None if image is None else dict(zip(names, image, strict=True)) for image in each]
        for each in shown
    ]
    return [(before, after) for before, after in images]
