"""How the instances that feed a topic place its rows: one document for each topic, changed under
its version.
"""

from collections.abc import Callable
from typing import Final

from relay.errors import NodeMissing, VersionConflict
from relay.model.records.topic_placing import Feeder, PlacingRules, TopicAgreement, TopicPlacing
from relay.state.json_object import JsonObject, write_json
from relay.state.paths import Paths
from relay.zk import Session

FORMAT: Final = 1
_ATTEMPTS: Final = 20
"""Two relays that change one document at a time meet seldom, and each change is done in
milliseconds.
"""


class TopicAgreementStore:
    """Reads and changes agreements."""

    def __init__(self, session: Session, paths: Paths) -> None:
        self._session = session
        self._paths = paths

    def read(self, topic: str) -> TopicAgreement:
        """Return who feeds a topic, nobody where it was never noted. Raises StoreUnreachable."""
        node = self._session.find(self._paths.topic_agreement(topic), synced=True)
        return TopicAgreement() if node is None else _read(node.value)

    def change(
        self, topic: str, change: Callable[[TopicAgreement], TopicAgreement]
    ) -> TopicAgreement:
        """Change an agreement and return what holds then.

        Raises VersionConflict after many attempts, StoreUnreachable.
        """
        path = self._paths.topic_agreement(topic)
        for attempts_left in reversed(range(_ATTEMPTS)):
            node = self._session.find(path, synced=True)
            before = TopicAgreement() if node is None else _read(node.value)
            after = change(before)
            if after == before:
                return after
            try:
                if node is None:
                    self._session.create(path, _write(after))
                else:
                    self._session.compare_and_set(path, _write(after), node.version)
            except (VersionConflict, NodeMissing):
                if not attempts_left:
                    raise
            else:
                return after
        raise AssertionError("the last attempt returns or raises")


def _write(agreement: TopicAgreement) -> bytes:
    return write_json(
        {
            "format": FORMAT,
            "feeders": [_fields(name, each) for name, each in sorted(agreement.feeders.items())],
        }
    )


def _fields(instance: str, feeder: Feeder) -> dict[str, object]:
    placing = feeder.placing
    return {
        "instance": instance,
        "joined": feeder.joined,
        "partitions": placing.partitions,
        **placing.rules._asdict(),
    }


def _read(value: bytes) -> TopicAgreement:
    """Read it; an entry that cannot be read is left out, and its instance writes it again."""
    entries = JsonObject.read(value).objects("feeders")
    return TopicAgreement(
        {each.text("instance"): _feeder(each) for each in entries if each.whole("partitions") > 0}
    )


def _feeder(fields: JsonObject) -> Feeder:
    rules = PlacingRules(
        fields.text("partition_hash"), fields.truth("database_hash"), fields.text("names")
    )
    return Feeder(TopicPlacing(fields.whole("partitions"), rules), fields.truth("joined"))
