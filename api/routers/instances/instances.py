"""Instances: their states, the reasons, and the remedies."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from api.deps import AdminDep
from api.listing import ListingDep
from api.models.instance import DroppedNameView, InstanceView, TableRateView, table_rates
from api.models.topic import TopicView
from api.services.watch import Facts, Selection, StatePeriod, selected
from api.services.watch.facts import present_state
from api.services.watch.moment import Moment

router: Final = APIRouter(prefix="/api/v1/instances", tags=["instances"])


@router.get("")
def list_instances(
    admin: AdminDep,
    response: Response,
    words: Annotated[
        str,
        Query(alias="filter", description="Words that name, relay, state or code must contain."),
    ] = "",
    state: Annotated[str, Query(description="The present state.", examples=["STOPPED"])] = "",
    limit: Annotated[
        int, Query(ge=1, le=10_000, description="Largest number of entries.")
    ] = 10_000,
    offset: Annotated[int, Query(ge=0, description="Number of entries to skip.")] = 0,
) -> list[InstanceView]:
    """Return all instances by name: of this admin's file, defined at run time, or of a relay's
    file.

    The header `X-Total-Count` is the number of instances that match the filters.
    """
    every = [_now(each) for each in admin.directory.instances()]
    found = selected(every, {}, Selection(words, state, "name"))
    response.headers["X-Total-Count"] = str(len(found))
    moment = admin.watch.known
    return [_watched(each.view, moment) for each in found[offset : offset + limit]]


@router.get("/{name}")
def read_instance(admin: AdminDep, name: str) -> InstanceView:
    """Return one instance."""
    return _watched(admin.directory.instance(name), admin.watch.known)


@router.get("/{name}/topics")
def list_topics(admin: AdminDep, name: str, part: ListingDep) -> list[TopicView]:
    """Return the topics that the instance feeds, with offsets and the progress of consumer
    groups.
    """
    admin.directory.instance(name)
    return part.of([TopicView.of(each) for each in admin.topics.of_instance(name)])


@router.get("/{name}/dropped")
def list_dropped(admin: AdminDep, name: str, part: ListingDep) -> list[DroppedNameView]:
    """Return the real tables whose rows the instance does not publish, those with the most rows
    first.
    """
    return part.of(admin.directory.dropped(name))


@router.get("/{name}/rates")
def list_rates(admin: AdminDep, name: str, part: ListingDep) -> list[TableRateView]:
    """Return the rows per second of the last minute by real table, the highest first.

    The entry `(other)` is the sum of all tables without a separate rate. The list is empty if the
    rates are unknown.
    """
    return part.of(table_rates(admin.directory.instance(name)))


def _now(view: InstanceView) -> Facts:
    state = present_state(view)
    return Facts(view, StatePeriod(0, state, view.code, view.reason, view.relay, exact=False))


def _watched(view: InstanceView, moment: Moment) -> InstanceView:
    """Return an instance, with the source's address and the beginning of the state from the
    watch.
    """
    facts = moment.facts.get(view.name)
    is_same = facts is not None and facts.period.state == present_state(view)
    update = {
        "source_address": moment.addresses.get(view.name, ""),
        "since_ms": facts.period.since_ms if facts is not None and is_same else None,
    }
    return view.model_copy(update=update)
