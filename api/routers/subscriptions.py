"""Information for consumers: Kafka's address, topic, tags and format by logical name."""

from typing import Annotated, Final

from fastapi import APIRouter, Query

from api.deps import AdminDep, CallerDep
from api.models.subscription import SubscriptionView
from relay.model.table import TableId

router: Final = APIRouter(prefix="/api/v1/subscriptions", tags=["subscriptions"])

_Name = Annotated[str, Query(min_length=1, max_length=64)]


@router.get("")
def list_subscribable_tables(admin: AdminDep, caller: CallerDep) -> SubscriptionView:
    """Return where consumers find each logical table of the active set."""
    return admin.subscriptions.all(caller)


@router.get("/table")
def subscribable_table(
    admin: AdminDep, caller: CallerDep, database: _Name, table: _Name
) -> SubscriptionView:
    """Return where consumers find one logical table; 404 offers names that are written like it."""
    return admin.subscriptions.one(TableId(database, table), caller)
