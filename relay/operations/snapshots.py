"""Creates, changes and shows requests to copy tables into their topics."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from secrets import token_hex
from time import gmtime, strftime, time
from typing import NamedTuple

import orjson

from relay.audit import AuditEntry, AuditTrail
from relay.errors import NodeMissing, SnapshotRefused
from relay.operations.instances.known_instances import defined_instances, instance_of
from relay.operations.wanted_snapshots import WantedSnapshot, check_wanted
from relay.operations.who import Who
from relay.settings import RelaySettings
from relay.state import (
    InstanceStore,
    Paths,
    SnapshotRequest,
    SnapshotState,
    SnapshotStore,
)
from relay.zk import Session


@dataclass(frozen=True, slots=True)
class ShownSnapshot:
    """A copy request with its progress, as the relay reports it.

    `progress` has the fields of `CopyView`, {} if the request does not run. `lost`: the position
    record has the progress of this request, but ZooKeeper does not have the request.
    """

    request: SnapshotRequest
    progress: dict[str, object]
    lost: bool = False


class Started(NamedTuple):
    """The copy requests that were created (`made`), and existing ones that already copy the same
    rows (`under_way`).
    """

    made: Sequence[SnapshotRequest]
    under_way: Sequence[SnapshotRequest]


class Snapshots:
    """Creates, changes and shows copy requests. The audit entry is written before each change."""

    def __init__(self, settings: RelaySettings, session: Session) -> None:
        self._settings = settings
        self._session = session
        paths = Paths.of(settings.zookeeper, settings.installation)
        self._store = SnapshotStore(session, paths)
        self._instances = InstanceStore(session, paths)
        self._trail = AuditTrail(settings.kafka, settings.installation)

    def start(
        self, who: Who, wanted: WantedSnapshot, instances: Sequence[str] = ()
    ) -> list[SnapshotRequest]:
        """Create a copy request for each named instance, for all instances if none is named; return
        the requests.

        Raises SnapshotRefused for a table without a database or a request that already runs,
        ConfigurationError for unknown instances, and StoreUnreachable.
        """
        requests = self._requests(who, [wanted], instances)
        if under_way := self._under_way(requests):
            first = under_way[0]
            raise SnapshotRefused(
                f"Request {first.id} of {first.instance} already copies the same tables.",
                remedy="Wait until it has ended, or cancel it first (`roma snapshot cancel`).",
            )
        return self._create(who, requests)

    def start_all(
        self, who: Who, wanted: Sequence[WantedSnapshot], instances: Sequence[str] = ()
    ) -> Started:
        """Create several copy requests. All are checked before the first one is created.

        A request that already runs is not created again, so the call may be repeated after a
        failure. Raises the errors of `start`.
        """
        requests = self._requests(who, wanted, instances)
        under_way = self._under_way(requests)
        known = set(map(_what, under_way))
        made = self._create(who, [each for each in requests if _what(each) not in known])
        return Started(made, under_way)

    def _requests(
        self, who: Who, wanted: Sequence[WantedSnapshot], instances: Sequence[str]
    ) -> list[SnapshotRequest]:
        """Return the requests of these instances, of all if none is named. Raises the errors of
        `start`.
        """
        check_wanted(wanted, self._settings.installation)
        names = [
            instance_of(self._settings, name, self._session, resolved=False).name
            for name in instances
        ] or [each.name for each in defined_instances(self._settings, self._session).settings]
        now_s = time()
        return [
            SnapshotRequest(
                number,
                name,
                each.tables,
                each.where,
                each.keys,
                each.to_topic,
                each.rows_per_second,
                each.priority,
                by=who.name,
                comment=who.comment,
                created_ms=int(now_s * 1000),
            )
            for number, each in zip(_numbers(now_s, len(wanted)), wanted, strict=True)
            for name in names
        ]

    def check(self, *wanted: WantedSnapshot) -> None:
        """Raise SnapshotRefused if `wanted` has too many requests, or if a table, condition or key
        in them is invalid.
        """
        check_wanted(wanted, self._settings.installation)

    def pause(self, who: Who, number: str, instance: str = "") -> list[SnapshotRequest]:
        """Pause the copy request `number`, and return it for each instance. A chunk that is being
        read is dropped.

        `instance` "": in all instances. Raises SnapshotRefused if there is no such request, or if
        it has ended everywhere.
        """
        return self._change(who, number, instance, SnapshotState.PAUSED)

    def resume(self, who: Who, number: str, instance: str = "") -> list[SnapshotRequest]:
        """Let the paused copy request `number` continue after its last published chunk; return it
        for each instance.

        `instance` "": in all instances. Raises SnapshotRefused if there is no such request, or if
        it has ended everywhere.
        """
        return self._change(who, number, instance, SnapshotState.RUNNING)

    def cancel(self, who: Who, number: str, instance: str = "") -> list[SnapshotRequest]:
        """Cancel the copy request `number`, and return it for each instance. Rows that are already
        published stay.

        If ZooKeeper lost the request of an instance, only that one is cancelled, and the relay
        removes its progress from the position record. Repeat the call for the other instances.
        `instance` "": in all instances. Raises SnapshotRefused if there is no such request, or if
        it has ended everywhere.
        """
        lost = [each.request for each in self.shown(instance) if each.lost]
        for request in lost:
            if request.id == number:
                cancelled = replace(request, state=SnapshotState.CANCELLED, by=who.name)
                self._note(who, "snapshot.cancelled", cancelled)
                return self._store.create(cancelled)
        return self._change(who, number, instance, SnapshotState.CANCELLED)

    def shown(self, instance: str = "") -> list[ShownSnapshot]:
        """Return the copy requests of an instance in the order in which they are executed; "": of
        all instances.
        """
        names = (
            [instance]
            if instance
            else [each.name for each in defined_instances(self._settings, self._session).settings]
        )
        return [each for name in names for each in self._of_instance(name)]

    def _of_instance(self, instance: str) -> list[ShownSnapshot]:
        try:
            progress = self._instances.status(instance).snapshot
        except NodeMissing:
            progress = {}
        found = [
            ShownSnapshot(each, progress if progress.get("request") == each.id else {})
            for each in self._store.all_of(instance)
        ]
        known = {each.request.id for each in found}
        lost = [each for each in progress.get("lost", ()) if each not in known]
        return [
            *found,
            *(ShownSnapshot(SnapshotRequest(each, instance), {}, lost=True) for each in lost),
        ]

    def _under_way(self, requests: Sequence[SnapshotRequest]) -> list[SnapshotRequest]:
        """Return the requests in progress that these would repeat."""
        wanted = set(map(_what, requests))
        return [
            each
            for instance in dict.fromkeys(each.instance for each in requests)
            for each in self._store.all_of(instance)
            if not each.state.ended and _what(each) in wanted
        ]

    def _create(self, who: Who, requests: Sequence[SnapshotRequest]) -> list[SnapshotRequest]:
        for request in requests:
            self._note(who, "snapshot.started", request)
        return self._store.create(*requests)

    def _change(
        self, who: Who, number: str, instance: str, state: SnapshotState
    ) -> list[SnapshotRequest]:
        found = [each.request for each in self.shown(instance) if each.request.id == number]
        if not found:
            raise SnapshotRefused(
                f"There is no request with the number {number}.", remedy=_SEE_LIST
            )
        going = [each for each in found if not each.state.ended]
        if not going:
            raise SnapshotRefused(
                f"Request {number} has already ended: {found[0].state}.", remedy=_SEE_LIST
            )
        return [self._set(who, each, lambda before: replace(before, state=state)) for each in going]

    def _set(
        self,
        who: Who,
        before: SnapshotRequest,
        change: Callable[[SnapshotRequest], SnapshotRequest],
    ) -> SnapshotRequest:
        after = change(before)
        self._note(who, f"snapshot.{after.state.lower()}", after, before)
        return self._store.write(after)

    def _note(
        self, who: Who, what: str, request: SnapshotRequest, before: SnapshotRequest | None = None
    ) -> None:
        fields = {} if before is None else audited_fields(before)
        self._trail.append(
            AuditEntry(
                who.name, what, request.instance, fields, audited_fields(request), who.comment
            )
        )


def audited_fields(request: SnapshotRequest) -> dict[str, object]:
    """Return the audit fields of a copy request, without values of rows.

    `keys` is how many keys it names, `keys_digest` the SHA-256 of their JSON, and `has_condition`
    whether it has a condition.
    """
    fields = request.to_fields()
    del fields["where"]
    digest = sha256(orjson.dumps(request.keys)).hexdigest() if request.keys else ""
    return {
        **fields,
        "has_condition": bool(request.where),
        "keys": len(request.keys),
        "keys_digest": digest,
    }


def _what(request: SnapshotRequest) -> tuple[object, ...]:
    """Return a description of the request: instance, copied rows, and target topic."""
    return request.instance, request.tables, request.where, request.to_topic, request.keys


def _numbers(now_s: float, count: int) -> list[str]:
    """Return `count` new, different request numbers."""
    ends: dict[str, None] = {}
    while len(ends) < count:
        ends[token_hex(2)] = None
    moment = strftime("%Y%m%d-%H%M%S", gmtime(now_s))
    return [f"{moment}-{each}" for each in ends]


_SEE_LIST = "`roma snapshot list` shows all requests."
