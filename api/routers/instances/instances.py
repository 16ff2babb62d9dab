"""Endpoints for the states of instances, their reasons and remedies."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Response

from api.composition import Admin
from api.deps import AdminDep
from api.listing import LastRead, LastReadDep, ListingDep
from api.models.instance import DroppedNameView, InstanceView, TableRateView, table_rates
from api.models.topic import TopicView
from api.readings import Reading
from api.services.watch import Facts, Selection, StatePeriod, selected
from api.services.watch.facts import missing_files, present_state, unmapped_name
from api.services.watch.moment import Moment
from relay.errors import NodeMissing

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
    *,
    last: LastReadDep,
) -> list[InstanceView]:
    """Return all instances by name: of this admin's file, defined at run time, or of a relay's
    file.

    The header `X-Total-Count` is the number of instances that match the filters.
    """
    every = [_now(each) for each in _views(admin, last)]
    found = selected(every, {}, Selection(words, state, "name"))
    response.headers["X-Total-Count"] = str(len(found))
    moment = admin.watch.known
    return [_watched(each.view, moment) for each in found[offset : offset + limit]]


@router.get("/{name}")
def read_instance(admin: AdminDep, name: str, last: LastReadDep) -> InstanceView:
    """Return one instance."""
    if not last.wanted:
        return _watched(admin.directory.instance(name), admin.watch.known)
    found = next((each for each in _views(admin, last) if each.name == name), None)
    if found is None:
        raise NodeMissing(f"There is no instance {name!r}.")
    return _watched(found, admin.watch.known)


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


def _views(admin: Admin, last: LastRead) -> list[InstanceView]:
    """Return all instances; with `last` those of the watch, while ZooKeeper does not answer."""
    if not last.wanted:
        return admin.directory.instances()
    moment = admin.watch.moment()
    views = [each.view for each in moment.facts.values()]
    return last.of(Reading(views, moment.read_ms, moment.error))


def _now(view: InstanceView) -> Facts:
    state = present_state(view)
    return Facts(view, StatePeriod(0, state, view.code, view.reason, view.relay, exact=False))


def _watched(view: InstanceView, moment: Moment) -> InstanceView:
    """Return an instance, with what the watch knows about it and what its reason says."""
    facts = moment.facts.get(view.name)
    period = None if facts is None or facts.period.state != present_state(view) else facts.period
    update = {
        "source_address": moment.addresses.get(view.name, ""),
        "since_ms": None if period is None else period.since_ms,
        "present_state": present_state(view),
        "since_exact": None if period is None else period.exact,
        "rows_per_second": None if facts is None else facts.rate,
        "missing_files": missing_files(view),
        "unmapped": unmapped_name(view),
    }
    return view.model_copy(update=update)
