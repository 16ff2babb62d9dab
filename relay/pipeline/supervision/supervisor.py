"""Starts and ends the instances of one relay, when they are added, changed or removed
at run time.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import structlog

from relay.deadline import Deadline
from relay.errors import ResourcesExhausted
from relay.pipeline.supervision.instance import Instance
from relay.settings import InstanceSettings

_STOP_SECONDS: Final = 20.0

_log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Supervised:
    settings: InstanceSettings
    instance: Instance
    end: Callable[[], None]


class Supervisor:
    """Runs the desired instances; used by one thread.

    An instance whose settings changed ends gracefully and starts again.
    """

    def __init__(
        self,
        make: Callable[[InstanceSettings], Instance],
        begin: Callable[[Instance], Callable[[], None]],
    ) -> None:
        """`make` creates an instance. `begin` is called before it starts, and returns a function to
        call after its end.
        """
        self._make = make
        self._begin = begin
        self._hosted: dict[str, _Supervised] = {}
        self._lock = threading.Lock()

    @property
    def instances(self) -> tuple[Instance, ...]:
        """The instances that run or are ending, sorted by name."""
        with self._lock:
            return tuple(self._hosted[name].instance for name in sorted(self._hosted))

    def reconcile(self, desired: Mapping[str, InstanceSettings]) -> None:
        """Start, stop and remove instances so that those of `desired` run, without waiting.

        Instances that ended or whose thread died are removed. Those whose settings changed are
        stopped. Missing ones are started. Raises ResourcesExhausted if an instance cannot be
        started now.
        """
        for name, hosted in list(self._hosted.items()):
            if desired.get(name) != hosted.settings or hosted.instance.died:
                self._end(name, hosted)
        for name, settings in desired.items():
            if name not in self._hosted:
                self._start(name, settings)

    def stop(self) -> bool:
        """Ask all instances to end and wait up to 20 seconds; return whether all have ended."""
        for each in self.instances:
            each.ask_to_stop()
        deadline = Deadline.after(_STOP_SECONDS)
        ended = [each.stop(deadline.remaining_s) for each in self.instances]
        for hosted in self._hosted.values():
            hosted.end()
        return all(ended)

    def _start(self, name: str, settings: InstanceSettings) -> None:
        instance = self._make(settings)
        end = self._begin(instance)
        try:
            instance.start()
        except ResourcesExhausted:
            end()
            raise
        with self._lock:
            self._hosted[name] = _Supervised(settings, instance, end)

    def _end(self, name: str, hosted: _Supervised) -> None:
        died = hosted.instance.died
        if not hosted.instance.stop(0):
            return
        hosted.end()
        with self._lock:
            del self._hosted[name]
        _log.info(
            "instance_ended",
            instance=name,
            reason="its thread ended" if died else "its settings changed, or it is not configured",
        )
