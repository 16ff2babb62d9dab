"""The relay, with an unexpected error while a file exists: `python -m
tests.support.faults.faulty_relay relay ...`.

`ROMA_FAULT` is `<what>:<file>`:

- `memory`: the publisher raises MemoryError when it takes items
- `client`: librdkafka cannot start a thread for a producer
- `thread`: the process cannot start a thread for a request to Kafka or the source
- `placement`: the placement raises an unexpected error
- `worker`: worker 2 of a relay kills itself at its start
"""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from confluent_kafka import KafkaError, KafkaException

_CRIT_SYS_RESOURCE: Final = -194
"""librdkafka's error number when the machine cannot start a thread."""

_FAULTY_WORKER: Final = 2

WHAT, _, _FILE = os.environ["ROMA_FAULT"].partition(":")


def is_on() -> bool:
    return Path(_FILE).exists()


def breaks(
    owner: object,
    name: str,
    error: Callable[[], BaseException],
    concerns: Callable[..., bool] | None = None,
) -> None:
    """Replace a function of a class or module: it raises while the fault is on, for arguments that
    the condition accepts.
    """
    whole: Callable[..., Any] = getattr(owner, name)

    def either(*arguments: Any, **named: Any) -> Any:
        if is_on() and (concerns is None or concerns(*arguments)):
            raise error()
        return whole(*arguments, **named)

    patch.object(owner, name, either).start()


def main() -> None:
    from relay.app.workers import parent, worker
    from relay.pipeline.publishing.publisher import Publisher
    from relay.pipeline.supervision.assignment_loop import AssignmentLoop
    from relay.publish import client_queue

    match WHAT:
        case "memory":
            breaks(Publisher, "take", MemoryError)
        case "client":
            refusal = KafkaError(
                _CRIT_SYS_RESOURCE, "Failed to create thread: Resource temporarily unavailable (11)"
            )
            breaks(client_queue, "Producer", lambda: KafkaException(refusal))
        case "thread":
            no_thread = RuntimeError("can't start new thread")
            breaks(
                threading.Thread,
                "start",
                lambda: no_thread,
                lambda thread: thread.name.startswith("ask-"),
            )
        case "placement":
            breaks(AssignmentLoop, "_poll", lambda: ValueError("unheard of"))
        case "worker":
            whole = worker.become_worker

            def either(number: int, *arguments: Any) -> None:
                if is_on() and number == _FAULTY_WORKER:
                    os.kill(os.getpid(), signal.SIGKILL)
                whole(number, *arguments)

            patch.object(parent, "become_worker", either).start()
    from relay.__main__ import main as relay

    relay()


if __name__ == "__main__":
    main()
