"""Shows and changes one instance's position for an operator."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from time import time
from typing import Any, TypeAlias

from relay.errors import MoveRefused
from relay.model.positions.gtid import GtidSet
from relay.model.positions.position import BinlogPosition
from relay.model.records.position_record import PositionRecord
from relay.operations.fenced_record import Act, FencedRecord, Written
from relay.operations.instances.chosen_source import ChosenSource, chosen_source
from relay.operations.instances.followed_server import (
    FollowedPosition,
    check_readable,
    followed_position,
)
from relay.operations.instances.known_instances import is_known
from relay.operations.positions.lost_changes import loses_changes, with_copy
from relay.operations.positions.preview import Preview
from relay.operations.positions.repositioning import (
    Reposition,
    RepositionKind,
    plan_reposition,
    raise_floor,
    skip,
    standing_of,
    unskip,
)
from relay.operations.positions.rows_between import rows_of_move
from relay.operations.who import Who
from relay.position import KafkaPositionStore
from relay.settings import InstanceSettings, RelaySettings, SourceSettings
from relay.source import TransactionPosition, binlog_file_created_s
from relay.zk import Session

Change: TypeAlias = Callable[[PositionRecord | None], PositionRecord]


@dataclass(frozen=True, slots=True)
class Shown:
    """The position of an instance.

    `record` is the position record, `leader` the relay that leads (None: no relay does), and
    `history` the earlier records. After a move back to a record of the present epoch, rows get the
    same order keys again (see `positions_behind`).
    """

    record: PositionRecord | None
    leader: str | None
    history: tuple[PositionRecord, ...]

    @property
    def positions_behind(self) -> list[BinlogPosition]:
        """The positions of the present epoch whose order keys are known, the oldest first.

        Empty for a group, whose order keys depend on all its sources.
        """
        if self.record is None or self.record.following:
            return []
        epoch = self.record.epoch
        known = {each.source.binlog for each in self.history if each.epoch == epoch}
        return sorted(known, key=lambda target: target.rank)


class InstancePosition:
    """Shows and changes the position of one instance of this installation."""

    def __init__(
        self, settings: RelaySettings, instance: InstanceSettings, session: Session
    ) -> None:
        self.name = instance.name
        self._settings = settings
        self._session = session
        self._instance = instance
        self._record = FencedRecord(settings, instance, session)
        self._store = self._record.store

    def show(self) -> Shown:
        """Return the position, the leader and earlier positions. Creates a missing position topic.
        Raises BrokerUnreachable, PositionUnreadable, StoreUnreachable, TopicRefused.
        """
        record, history = (None, ()) if self._store.ensure_topic() else self._store.read_whole()
        return Shown(record, self._record.leader, history)

    def preview(
        self,
        at: BinlogPosition | None,
        *,
        as_new: bool = False,
        gtid_set: str | None = None,
        source: str | None = None,
    ) -> Preview:
        """Return what `reposition` would do with the same parameters, without changing anything.
        Raises the same errors.
        """
        chosen = chosen_source(self._instance, source)
        shown = self.show()
        followed = self._target(chosen, at, gtid_set, shown)
        target = followed.target
        reposition = self._plan(chosen, shown.record, target, shown.history, as_new=as_new)
        self._check_readable(reposition, followed.settings)
        before, after = reposition.origin, target.position
        if before is None:
            return Preview(reposition, shown.leader, None, "")
        published, wanted = GtidSet.parse(before.gtid_set), GtidSet.parse(after.gtid_set)
        between = (
            wanted.without(published)
            if reposition.kind is RepositionKind.FORWARD
            else published.without(wanted)
        )
        distance, files = target.bytes_from(before.binlog), target.files_from(before.binlog)
        rows = (
            None
            if distance is None
            else rows_of_move(self._settings, self._instance, self._session, followed, before)
        )
        return Preview(reposition, shown.leader, distance, str(between), files, rows)

    def reposition(
        self,
        at: BinlogPosition | None,
        who: Who,
        *,
        as_new: bool = False,
        gtid_set: str | None = None,
        source: str | None = None,
    ) -> Reposition:
        """Move the position to the beginning of a transaction, and return the move.

        The target is `at`, or the position after exactly the transactions of `gtid_set`; if both
        are given, they must agree. `as_new`: rows after the target get new order keys. In a group,
        `source` names the source to move. Raises MoveRefused, SourceNotNamed, and Fenced; after
        each of these errors nothing was changed.
        """
        chosen = chosen_source(self._instance, source)
        shown = self.show()
        followed = self._target(chosen, at, gtid_set, shown)
        target, history = followed.target, shown.history
        self._check_readable(
            self._plan(chosen, shown.record, target, history, as_new=as_new), followed.settings
        )

        def change(record: PositionRecord | None) -> PositionRecord:
            return self._plan(chosen, record, target, history, as_new=as_new).after

        before, after = self._write("position.set", who, change, chosen.name)
        return replace(self._plan(chosen, before, target, history, as_new=as_new), after=after)

    def raise_floor(self, above: str, who: Who) -> PositionRecord:
        """Raise the next order key above the last one of the instance `above`; return the new
        record.

        Raises MoveRefused if one of the two instances has no position record, if the next order key
        is already higher, or if this instance has half-published rows or publishes rows again.
        """
        other = KafkaPositionStore(self._settings.kafka, self._settings.installation, above)
        made = other.ensure_topic() if is_known(self._settings, above, self._session) else True
        found = None if made else other.read()
        if found is None:
            raise MoveRefused(
                f"Instance {above} has no position record.",
                remedy="Name an instance that has already published.",
            )
        order = found.order if found.replay is None else found.replay.order
        return self._write(
            "position.raise-floor", who, lambda record: raise_floor(_known(record), order)
        )[1]

    def skip(self, gtid: str, who: Who, source: str | None = None) -> tuple[str, ...]:
        """Record that the transaction `gtid` of a source must not be published; return the GTIDs of
        all transactions to skip.

        Raises MoveRefused if the instance has no position record, or if the transaction is already
        published or skipped. Raises SourceNotNamed if `source` does not name a source of
        the instance.
        """
        name = chosen_source(self._instance, source).name
        return self._change_skips(
            "transaction.skip", who, lambda record: skip(_known(record), gtid, name), name
        )

    def unskip(self, gtid: str, who: Who, source: str | None = None) -> tuple[str, ...]:
        """Withdraw the skip of the transaction `gtid`, and return the GTIDs of all transactions
        that remain to be skipped.

        Raises MoveRefused if the transaction is not to be skipped, for example because the relay
        has already passed it, and SourceNotNamed.
        """
        name = chosen_source(self._instance, source).name
        return self._change_skips(
            "transaction.unskip", who, lambda record: unskip(_known(record), gtid, name), name
        )

    def _target(
        self, chosen: ChosenSource, at: BinlogPosition | None, gtid_set: str | None, shown: Shown
    ) -> FollowedPosition:
        where = gtid_set if at is None else at
        if where is None:
            raise MoveRefused(
                "No position is given.", remedy="Give a file and an offset, or a GTID set."
            )
        if shown.record is None and chosen.name and shown.leader is not None:
            reason = (
                f"{self.name} has no position record yet, and {shown.leader} leads it. It "
                "would begin the other sources at their present positions."
            )
            raise MoveRefused(
                reason,
                remedy=f"Stop the relays of {self.name}, set the position of each "
                "source, then start the relays.",
            )
        standing = None if shown.record is None else standing_of(shown.record, chosen.name)
        followed = followed_position(
            chosen.settings, None if standing is None else standing.source, where
        )
        found = followed.target.position.gtid_set
        if at is not None and gtid_set is not None and _normal(gtid_set) != found:
            reason = f"Before {at} the source has executed {found!r}, not {gtid_set!r}."
            raise MoveRefused(reason, remedy="Correct the coordinates, or the GTID set.")
        return followed

    def _plan(
        self,
        chosen: ChosenSource,
        record: PositionRecord | None,
        target: TransactionPosition,
        history: tuple[PositionRecord, ...],
        *,
        as_new: bool,
    ) -> Reposition:
        latest_ms = int((time() + self._instance.transaction.max_clock_skew_seconds) * 1000)
        plan = plan_reposition(
            record, target.position, history, as_new=as_new, latest_ms=latest_ms, source=chosen.name
        )
        if self._instance.snapshot != "when_needed":
            return plan
        created_s = partial(binlog_file_created_s, chosen.settings)
        return with_copy(plan, time()) if loses_changes(plan, target, created_s) else plan

    def _check_readable(self, reposition: Reposition, settings: SourceSettings) -> None:
        """Check that the source still has the binlog before a former position, in the same history.

        Reading begins there.
        """
        if reposition.kind is RepositionKind.BACK:
            check_readable(self._instance, settings, reposition.after)

    def _change_skips(self, act: str, who: Who, change: Change, source: str) -> tuple[str, ...]:
        return self._write(act, who, change, source)[1].standing[source].skips

    def _write(self, act: str, who: Who, change: Change, source: str = "") -> Written:
        """Fence the leader, then change the record. The audit entry names the `source` of a
        group.
        """
        return self._record.write(Act(act, change, lambda record: _fields(record, source)), who)


def _normal(gtid_set: str) -> str:
    try:
        return str(GtidSet.parse(gtid_set))
    except ValueError as exc:
        raise MoveRefused(f"{exc}.", remedy="Write the GTID set as the source prints it.") from exc


def _known(record: PositionRecord | None) -> PositionRecord:
    if record is None:
        raise MoveRefused(
            "The instance has no position record.",
            remedy="Start a relay first, or set a position with --as-new.",
        )
    return record


def _fields(record: PositionRecord | None, source: str) -> dict[str, Any]:
    """Return the audit fields of a record, and of the chosen source of a group."""
    if record is None:
        return {}
    name = source or record.following
    at = record.standing.get(name)
    fields: dict[str, Any] = {
        **({"source": name} if name else {}),
        "place": "" if at is None else str(at.source.binlog),
        "gtid_set": "" if at is None else at.source.gtid_set,
        "execute_time": record.order.execute_time,
        "execute_position": record.order.execute_position,
        "epoch": record.epoch,
    }
    if record.replay is not None:
        fields |= {
            "replay_from": str(record.replay.publish_from),
            "replay_until": str(record.replay.until),
        }
    if record.split is not None:
        fields["half_published"] = f"{record.split.begin} {record.split.gtid}".strip()
    if record.snapshots:
        fields["snapshots"] = sorted(record.snapshots)
    return {**fields, "skips": list(at.skips)} if at is not None and at.skips else fields
