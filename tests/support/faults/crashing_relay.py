"""The relay, with a Kafka producer that kills the process at a chosen instruction.

Called as `python -m tests.support.faults.crashing_relay relay ...`. `ROMA_CRASH` names the point,
and the number of the commit at which the process is killed: `position_sent:3`. Only the client
library's producer is replaced, where the relay opens it. The relay's code is unchanged.

- `before_position`: the broker has the rows; their position record is not yet produced
- `position_handed_over`: the position record is in the client's queue
- `position_sent`: the broker has all records, and the commit is not yet requested
- `commit_under_way`: the process is killed `ROMA_CRASH_AFTER_MS` after the commit is requested
- `committed`: directly after the broker confirmed the commit

Without Kafka transactions (`delivery = "at_least_once"`) no commit follows the delivery of the
position record: `commit_under_way` is never reached, and `position_sent` is the same as
`committed`.
"""

import os
import signal
import threading
from typing import Any, Final
from unittest.mock import patch

import confluent_kafka

POINT, _, _AT = os.environ.get("ROMA_CRASH", "never:0").partition(":")
AT_COMMIT: Final = int(_AT)
AFTER_S: Final = float(os.environ.get("ROMA_CRASH_AFTER_MS", "1")) / 1000


def crash() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class CrashingProducer(confluent_kafka.Producer):
    """Counts the commits of this process and crashes at the chosen one."""

    commits = 0
    _transactional = False
    _position_waits = False

    def begin_transaction(self) -> None:
        self._transactional = True
        super().begin_transaction()

    def flush(self, *arguments: Any) -> int:
        left = super().flush(*arguments)
        if self._position_waits and not left:
            self._position_waits = False
            self._reached("position_sent")
            self._reached("committed")
        return left

    def produce(self, topic: str, *arguments: Any, **named: Any) -> None:
        own = ".position." in topic and arguments[1:2] == (
            topic.rpartition(".")[2].encode(),
        )  # not one of the records kept beside it
        if own:
            CrashingProducer.commits += 1
            self._reached("before_position")
        super().produce(topic, *arguments, **named)
        if own:
            self._reached("position_handed_over")
            self._position_waits = not self._transactional

    def commit_transaction(self, *arguments: Any) -> None:
        self._reached("position_sent")
        self._reached("commit_under_way")
        super().commit_transaction(*arguments)
        self._reached("committed")

    def _reached(self, point: str) -> None:
        if point != POINT or CrashingProducer.commits != AT_COMMIT:
            return
        if point != "position_handed_over":
            self.flush()
        if point == "commit_under_way":
            threading.Timer(AFTER_S, crash).start()
        else:
            crash()


def main() -> None:
    from relay.__main__ import main as relay
    from relay.publish import client_queue

    with patch.object(client_queue, "Producer", CrashingProducer):
        relay()


if __name__ == "__main__":
    main()
