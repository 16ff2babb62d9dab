"""Positions moved by hand, over the same functions as the command line's."""

from datetime import datetime

from api.errors import BadRequest, NoSuchThing
from api.models.position import Confirmed, Floor, FoundPlace, Move, MovePreview, Place, PositionView, Skip
from relay.model.position import BinlogPosition
from relay.operations import InstancePosition, Who, instance_of, is_known, place_by_time
from relay.settings import InstanceSettings, RelaySettings
from relay.zk import Session


class PositionDesk:
    """Reads, previews and changes positions of the instances of file and run time."""

    def __init__(self, settings: RelaySettings, session: Session) -> None:
        self._settings = settings
        self._session = session

    def read(self, instance: str) -> PositionView:
        """Return where an instance is. Raises NoSuchThing, BrokerUnreachable, PositionUnreadable."""
        return PositionView.of(instance, self._position(instance).show())

    def search(self, instance: str, time: datetime, *, file: str | None, standby: bool, source: str | None) -> FoundPlace:
        """Find the place of a time. Raises NoSuchThing, SourceNotNamed, ConfigurationError, BinlogPurged, and what keeps the
        source from answering.
        """
        return FoundPlace.of(place_by_time(self._known(instance), time, file=file, standby=standby, source=source))

    def preview(self, instance: str, to: Place) -> MovePreview:
        """Say what a move would do. Raises MoveRefused."""
        at = BinlogPosition(to.file, to.offset)
        found = self._position(instance).preview(at, as_new=to.as_new, gtid_set=to.gtid_set, source=to.source)
        return MovePreview.of(instance, found)

    def move(self, instance: str, to: Move, who: Who) -> PositionView:
        """Move a position. Raises MoveRefused, BadRequest without the confirmation."""
        _check(instance, to)
        at = BinlogPosition(to.file, to.offset)
        self._position(instance).move(at, who, as_new=to.as_new, gtid_set=to.gtid_set, source=to.source)
        return self.read(instance)

    def skip(self, instance: str, wish: Skip, who: Who) -> PositionView:
        """Leave a coming transaction out, or not any more. Raises MoveRefused, BadRequest without the confirmation."""
        _check(instance, wish)
        position = self._position(instance)
        (position.unskip if wish.undo else position.skip)(wish.gtid, who, wish.source)
        return self.read(instance)

    def raise_floor(self, instance: str, floor: Floor, who: Who) -> PositionView:
        """Lift the pairs above another instance's. Raises MoveRefused, BadRequest without the confirmation."""
        _check(instance, floor)
        self._position(instance).raise_floor(floor.above, who)
        return self.read(instance)

    def _position(self, name: str) -> InstancePosition:
        return InstancePosition(self._settings, self._known(name), self._session)

    def _known(self, name: str) -> InstanceSettings:
        if not is_known(self._settings, name, self._session):
            raise NoSuchThing(f"There is no instance {name}.")
        return instance_of(self._settings, name, self._session)


def _check(instance: str, wish: Confirmed) -> None:
    if wish.confirm != instance:
        raise BadRequest(f"confirm is {wish.confirm!r}, and the instance {instance!r}.", remedy="Name the instance once more in `confirm`.")
