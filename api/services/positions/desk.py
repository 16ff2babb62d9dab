"""Reads and moves positions, with the same functions as the command line."""

from datetime import datetime

from api.errors import BadRequest, NoSuchThing
from api.models.mappings.instance_mapping import AcceptedMapping, MappingComparisonView
from api.models.position import (
    Confirmed,
    Floor,
    FloorWish,
    FoundPlace,
    Move,
    MovePreview,
    Place,
    PositionView,
    Repartitioning,
    RepartitionOrder,
    RepartitionView,
    Skip,
    SkipWish,
)
from api.services.positions.sentences import floor_sentences, skip_sentences
from relay.model.names.mapping_name import MappingName
from relay.operations import (
    InstanceMapping,
    InstancePosition,
    Repartition,
    Who,
    instance_of,
    is_known,
    position_by_time,
)
from relay.settings import InstanceSettings, RelaySettings
from relay.zk import Session


class PositionDesk:
    """Reads, previews and changes positions of instances, also of those defined at run time."""

    def __init__(self, settings: RelaySettings, session: Session) -> None:
        self._settings = settings
        self._session = session

    def read(self, instance: str) -> PositionView:
        """Return the committed position of an instance.

        Raises NoSuchThing, BrokerUnreachable, PositionUnreadable.
        """
        return PositionView.of(instance, self._position(instance).show())

    def search(
        self, instance: str, time: datetime, *, file: str | None, standby: bool, source: str | None
    ) -> FoundPlace:
        """Return the last transaction boundary before a time.

        instance  name of the instance
        time      the time
        file      search only in this binlog file; None: in all files
        standby   True: search on the standby server instead of the configured one
        source    name of a source of the group; None: the instance has one source

        Raises NoSuchThing, SourceNotNamed, ConfigurationError, BinlogPurged, and the errors of the
        source.
        """
        return FoundPlace.of(
            position_by_time(
                self._known(instance, resolved=True),
                time,
                file=file,
                standby=standby,
                source=source,
            )
        )

    def preview(self, instance: str, to: Place) -> MovePreview:
        """Return the effect of a move of the position. Raises MoveRefused."""
        found = self._position(instance, resolved=True).preview(
            to.coordinates, as_new=to.as_new, gtid_set=to.gtid_set, source=to.source
        )
        return MovePreview.of(instance, found)

    def reposition(self, instance: str, to: Move, who: Who) -> PositionView:
        """Move the position of an instance, and return the new one.

        instance  name of the instance
        to        the new position, and the confirmation
        who       author and comment for the audit trail

        Raises MoveRefused, BadRequest without the confirmation.
        """
        _check(instance, to)
        self._position(instance, resolved=True).reposition(
            to.coordinates, who, as_new=to.as_new, gtid_set=to.gtid_set, source=to.source
        )
        return self.read(instance)

    def preview_skip(self, instance: str, wish: SkipWish) -> list[str]:
        """Return sentences about the effect of skipping a transaction, or of withdrawing that.

        Nothing is changed. Raises NoSuchThing, BrokerUnreachable, PositionUnreadable, and
        BadRequest for an instance without a position.
        """
        return skip_sentences(self._published(instance), wish.gtid, undo=wish.undo)

    def preview_floor(self, instance: str, wish: FloorWish) -> list[str]:
        """Return sentences about the effect of raising the order keys of an instance above those
        of another one. Nothing is changed. Raises the errors of `preview_skip`.
        """
        return floor_sentences(self._published(instance), self._published(wish.above))

    def skip(self, instance: str, wish: Skip, who: Who) -> PositionView:
        """Order the instance to skip a future source transaction, or withdraw that order.

        instance  name of the instance
        wish      the transaction, its source, and the confirmation; `undo`: withdraw the order
        who       author and comment for the audit trail

        Returns the position. Raises MoveRefused, BadRequest without the confirmation.
        """
        _check(instance, wish)
        position = self._position(instance)
        (position.unskip if wish.undo else position.skip)(wish.gtid, who, wish.source)
        return self.read(instance)

    def raise_floor(self, instance: str, floor: Floor, who: Who) -> PositionView:
        """Raise the order keys of an instance above those of another instance, and return the
        position.

        instance  name of the instance whose order keys are raised
        floor     the other instance, and the confirmation
        who       author and comment for the audit trail

        Raises MoveRefused, BadRequest without the confirmation.
        """
        _check(instance, floor)
        self._position(instance).raise_floor(floor.above, who)
        return self.read(instance)

    def plan_repartition(self, instance: str, wanted: Repartitioning) -> RepartitionView:
        """Return the effect of repartitioning a topic. Nothing is changed. Raises MoveRefused."""
        return RepartitionView.of(
            instance,
            self._repartition(instance).plan(wanted.topic, wanted.partitions, wanted.table),
        )

    def repartition(self, instance: str, order: RepartitionOrder, who: Who) -> RepartitionView:
        """Change how the rows of a topic are assigned to partitions, from the next row on.

        Raises MoveRefused, BadRequest if `order.confirm` is not the instance's name.
        """
        _check(instance, order)
        repartition = self._repartition(instance)
        plan = repartition.plan(order.topic, order.partitions, order.table)
        return RepartitionView.of(instance, repartition.carry_out(plan, who, without=order.without))

    def compare_mapping(self, instance: str) -> MappingComparisonView:
        """Compare the mapping set under which an instance publishes with the active set in
        ZooKeeper.

        Raises NoSuchThing, MoveRefused, MappingRefused.
        """
        return MappingComparisonView.of(instance, self._mapping(instance).compare())

    def accept_mapping(
        self, instance: str, wanted: AcceptedMapping, who: Who
    ) -> MappingComparisonView:
        """Order an instance to publish its next rows under the mapping set in ZooKeeper.

        `wanted` is the set that the operator saw. Raises MoveRefused if it is no longer the set in
        ZooKeeper, BadRequest without the confirmation.
        """
        _check(instance, wanted)
        self._mapping(instance).accept(MappingName(wanted.set, wanted.digest), who)
        return self.compare_mapping(instance)

    def _published(self, instance: str) -> PositionView:
        """Return the position of an instance that has one. Raises BadRequest."""
        position = self.read(instance)
        if position.file is None:
            raise BadRequest(
                f"Instance {instance} has published nothing yet: it has no position.",
                remedy="Use the name of an instance that has already published.",
            )
        return position

    def _repartition(self, name: str) -> Repartition:
        return Repartition(self._settings, self._known(name), self._session)

    def _mapping(self, name: str) -> InstanceMapping:
        return InstanceMapping(self._settings, self._known(name), self._session)

    def _position(self, name: str, *, resolved: bool = False) -> InstancePosition:
        return InstancePosition(self._settings, self._known(name, resolved=resolved), self._session)

    def _known(self, name: str, *, resolved: bool = False) -> InstanceSettings:
        """Return the settings.

        Only queries to the source (`resolved`) need its secrets, which perhaps only the relays
        have.
        """
        if not is_known(self._settings, name, self._session):
            raise NoSuchThing(f"There is no instance {name}.")
        return instance_of(self._settings, name, self._session, resolved=resolved)


def _check(instance: str, wish: Confirmed) -> None:
    if wish.confirm != instance:
        raise BadRequest(
            f"`confirm` is {wish.confirm!r}, but the request is about instance {instance!r}.",
            remedy="Repeat the name of the instance in `confirm`.",
        )
