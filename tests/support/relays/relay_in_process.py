"""Runs an instance in the process of the test until it stops."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from relay.deadline import Deadline
from relay.errors import RelayError
from relay.ha import Election
from relay.pipeline import Instance, InstanceState
from relay.preflight import Finding, Verdict
from relay.settings import RelaySettings
from relay.state import InstanceStore, MappingStore, Paths
from relay.zk import Session
from tests.support.waiting import wait_until


@contextmanager
def relayed(settings: RelaySettings) -> Iterator[Instance]:
    """The instance, run in this process."""
    session = Session(settings.zookeeper)
    session.start(Deadline.after(60))
    paths = Paths.of(settings.zookeeper, settings.installation)
    election = Election(session, paths.leader("shop"), "test")
    instance = Instance(
        settings,
        settings.instances[0],
        election,
        MappingStore(session, paths),
        InstanceStore(session, paths),
    )
    instance.start()
    try:
        yield instance
    finally:
        ended = instance.stop(30)
        session.stop()
    assert ended


def failures(findings: Sequence[Finding]) -> list[Finding]:
    return [each for each in findings if each.verdict is Verdict.FAILED]


def met(instance: Instance) -> RelayError | None:
    return (
        instance.error if instance.state in (InstanceState.STOPPED, InstanceState.WAITING) else None
    )


def meets(settings: RelaySettings, provoke: Callable[[], None]) -> RelayError:
    """Run the relay until the instance stops; call `provoke` once it runs."""
    with relayed(settings) as instance:
        wait_until(
            lambda: instance.state is InstanceState.RUNNING or met(instance) is not None,
            "the relay ran or refused",
        )
        if met(instance) is None:
            provoke()
        wait_until(lambda: met(instance) is not None, "the relay stood still")
        error = met(instance)
    assert error is not None
    return error
