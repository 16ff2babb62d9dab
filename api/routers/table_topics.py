"""Endpoints with what consumers need: Kafka's address, topic, tags and format by logical name."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.deps import AdminDep, CallerDep
from api.models.subscription import SubscriptionView
from relay.model.table import TableId

router: Final = APIRouter(prefix="/api/v1/subscriptions", tags=["subscriptions"])

_Name = Annotated[str, Query(min_length=1, max_length=64)]


@router.get("")
def list_subscribable_tables(admin: AdminDep, caller: CallerDep) -> SubscriptionView:
    """Return the topic, tags and format of every logical table of the active set."""
    return admin.table_topics.all(caller)


@router.get("/table")
def subscribable_table(
    admin: AdminDep, caller: CallerDep, database: _Name, table: _Name
) -> SubscriptionView:
    """Return the topic, tags and format of one logical table.

    For an unknown table the answer is 404, with similar names.
    """
    return admin.table_topics.one(TableId(database, table), caller)
