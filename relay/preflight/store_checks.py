"""Checks ZooKeeper: whether it answers, whether the relay may write, and whether the mapping
documents are valid.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from relay.deadline import Deadline
from relay.errors import MappingRefused, NodeMissing, RelayError
from relay.model.names.mapping_name import MappingName
from relay.model.records.topic_partitioning import TopicAgreement
from relay.preflight.finding import Finding, Verdict, found, not_checked, passed
from relay.route import MappingSet, Router, known_topics
from relay.settings import RelaySettings
from relay.state import InstanceStore, MappingStore, Paths, StartNote
from relay.zk import EVERYBODY, Session

_CONNECT_SECONDS: Final = 10.0
_SETS_NAMED: Final = 50
_SILENT: Final = "ZooKeeper does not answer"


@dataclass(slots=True)
class StoreView:
    """The state of ZooKeeper.

    mapping     the active mapping; None: unknown
    notes       instance → its note, or None without one; instances that cannot be read are missing
    active      name of the active set; None: unknown
    sets        number → set, for the newest ones
    agreements  topic → the instances that publish to it
    """

    mapping: MappingSet | None = None
    active: MappingName | None = None
    sets: dict[int, MappingName] = field(default_factory=dict)
    agreements: dict[str, TopicAgreement] = field(default_factory=dict)
    notes: dict[str, StartNote | None] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def check_store(settings: RelaySettings) -> StoreView:
    """Read everything in ZooKeeper that the relay will read; nothing is written."""
    view = StoreView()
    try:
        session = Session(settings.zookeeper)
    except RelayError as exc:
        view.findings += _unusable(exc)
        return view
    try:
        session.start(Deadline.after(_CONNECT_SECONDS))
        view.findings.append(
            passed("zookeeper", f"ZooKeeper answers at {settings.zookeeper.hosts}.")
        )
        view.findings.append(_access(settings, session))
        _check(settings, session, view)
    except RelayError as exc:
        view.findings += _unusable(exc)
    finally:
        session.stop()
    return view


def mapping_findings(mapping: MappingSet, instances: Sequence[str]) -> list[Finding]:
    """Return a finding: passed if a mapping set is saved, a warning if not.

    `mapping` is the compiled set; its number is 0 if no set is saved. Then an instance waits
    (MAPPING_MISSING) unless it has a default topic.
    """
    if mapping.number:
        topics = mapping.all_topics
        return [
            passed(
                "mapping",
                (
                    f"Mapping set {mapping.number} compiles; it feeds "
                    f"{', '.join(topics) or 'no topic'}."
                ),
            )
        ]
    remedy = (
        "Save the mapping documents with the admin; until then instances wait (MAPPING_MISSING), "
        "unless they have a default topic."
    )
    return [
        Finding(
            "mapping",
            Verdict.WARNING,
            f"No mapping is saved for {', '.join(instances) or 'any instance'}.",
            remedy,
        )
    ]


def _access(settings: RelaySettings, session: Session) -> Finding:
    """Report whether others can reach the data in ZooKeeper: passwords of run-time instances,
    orders and mappings.
    """
    check, base = "zookeeper access", Paths.of(settings.zookeeper, settings.installation).base
    warning = partial(Finding, check, Verdict.WARNING)
    if not settings.zookeeper.identities:
        sentence = (
            "Everybody who reaches ZooKeeper may read the passwords of run-time instances, "
            "order switches of sources, and change mappings."
        )
        return warning(sentence, "Set zookeeper.auth and zookeeper.acl (docs/security.md).")
    if session.exists(base) and EVERYBODY in session.rights(base):
        sentence = f"{base} was made before zookeeper.acl was set: everybody may use it."
        return warning(
            sentence,
            "Give every relay and admin a login (zookeeper.auth, "
            "zookeeper.acl), then run `roma zookeeper protect`.",
        )
    if settings.zookeeper.tls is None:
        sentence = (
            "The login to ZooKeeper is not encrypted: passwords of run-time instances cross the "
            "network in plain text."
        )
        return warning(sentence, "Set zookeeper.tls (docs/security.md).")
    return passed(
        check,
        (
            f"Only {', '.join(settings.zookeeper.identities)} may use the relay's nodes in "
            f"ZooKeeper."
        ),
    )


def _check(settings: RelaySettings, session: Session, view: StoreView) -> None:
    paths = Paths.of(settings.zookeeper, settings.installation)
    names = [each.name for each in settings.instances]
    view.findings += [_writable(session, paths, name) for name in names]
    try:
        mappings = MappingStore(session, paths)
        stored = mappings.current()
        view.mapping, view.active = (
            MappingSet.compile(stored.number, dict(stored.bodies)),
            stored.name,
        )
        view.sets = dict(_newest(mappings))
        view.findings += mapping_findings(view.mapping, names)
    except (MappingRefused, NodeMissing) as exc:
        view.findings.append(found("mapping", exc))
    notes = InstanceStore(session, paths)
    mapping = view.mapping or MappingSet.empty()
    routers = [Router(mapping, each.routing) for each in settings.instances]
    for topic in {topic for router in routers for topic in known_topics(router)}:
        view.agreements[topic] = notes.topics.read(topic)
    for name in names:
        view.notes[name] = notes.started(name)


def _newest(mappings: MappingStore) -> Iterator[tuple[int, MappingName]]:
    """Return the names of the newest readable sets: relays publish under one of them."""
    for number in mappings.set_numbers()[:_SETS_NAMED]:
        with suppress(MappingRefused, NodeMissing):
            yield number, mappings.load(number).name


def _writable(session: Session, paths: Paths, instance: str) -> Finding:
    path = paths.leaders  # the nodes of leaders are ephemeral, so they cannot have children
    try:
        session.check_writable(path)
    except RelayError as exc:
        return found("zookeeper writes", exc, instance)
    return passed("zookeeper writes", f"{path} may be written.", instance)


def _unusable(error: RelayError) -> Iterator[Finding]:
    yield found("zookeeper", error)
    yield not_checked("mapping", _SILENT)
