"""ZooKeeper: does it answer, may the relay write, and do the mapping documents compile."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from relay.deadline import Deadline
from relay.errors import MappingRefused, NodeMissing, RelayError
from relay.preflight.finding import Finding, Verdict, found, not_checked, passed
from relay.route import MappingSet
from relay.settings import RelaySettings
from relay.state import InstanceStore, MappingStore, Paths, StartNote
from relay.zk import Session

_CONNECT_SECONDS: Final = 10.0
_SILENT: Final = "ZooKeeper does not answer"


@dataclass(slots=True)
class StoreView:
    """What ZooKeeper told. `mapping` None: not known; `notes` holds the instances that could be asked for, None where none is noted."""

    mapping: MappingSet | None = None
    notes: dict[str, StartNote | None] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def look_at_store(settings: RelaySettings) -> StoreView:
    """Ask ZooKeeper everything that the relay will; nothing is written."""
    view = StoreView()
    try:
        session = Session(settings.zookeeper)
    except RelayError as exc:
        view.findings += _unusable(exc)
        return view
    try:
        session.start(Deadline.after(_CONNECT_SECONDS))
        view.findings.append(passed("zookeeper", f"ZooKeeper answers at {settings.zookeeper.hosts}."))
        _look(settings, session, view)
    except RelayError as exc:
        view.findings += _unusable(exc)
    finally:
        session.stop()
    return view


def mapping_findings(mapping: MappingSet, instances: Sequence[str]) -> list[Finding]:
    """A set that compiles; none at all is no error of the relay, but it would publish nothing."""
    if mapping.number:
        topics = mapping.all_topics
        return [passed("mapping", f"Mapping set {mapping.number} compiles; it feeds {', '.join(topics) or 'no topic'}.")]
    remedy = "Save the mapping documents with the admin; until then unmapped_db says what becomes of every change."
    return [Finding("mapping", Verdict.WARNING, f"No mapping is saved for {', '.join(instances) or 'any instance'}.", remedy)]


def _look(settings: RelaySettings, session: Session, view: StoreView) -> None:
    paths = Paths.of(settings.zookeeper, settings.installation)
    names = [each.name for each in settings.instances]
    view.findings += [_writable(session, paths, name) for name in names]
    try:
        stored = MappingStore(session, paths).current()
        view.mapping = MappingSet.compile(stored.number, dict(stored.bodies))
        view.findings += mapping_findings(view.mapping, names)
    except (MappingRefused, NodeMissing) as exc:
        view.findings.append(found("mapping", exc))
    notes = InstanceStore(session, paths)
    for name in names:
        view.notes[name] = notes.started(name)


def _writable(session: Session, paths: Paths, instance: str) -> Finding:
    path = paths.leaders  # the leader's own node is ephemeral and takes no children
    try:
        session.check_writable(path)
    except RelayError as exc:
        return found("zookeeper writes", exc, instance)
    return passed("zookeeper writes", f"{path} may be written.", instance)


def _unusable(error: RelayError) -> Iterator[Finding]:
    yield found("zookeeper", error)
    yield not_checked("mapping", _SILENT)
