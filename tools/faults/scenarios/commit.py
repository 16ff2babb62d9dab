"""Kills of the relay during a commit, at fault points that environment variables enable."""

from collections.abc import Callable
from typing import Final

from tools.faults.scenario import scenario
from tools.faults.stage import Run

_CRASHES: Final = 3
_NEVER: Final = "never:0"
_POINTS: Final = {
    "before_position": "before the position record is handed to the Kafka client",
    "position_handed_over": "after the position record is handed to the client, before it is sent",
    "position_sent": "after the broker has all records, before the commit is requested",
    "commit_under_way": "up to 5 ms after the commit is requested",
    "committed": "after the answer to the commit",
}


def _crash_at(point: str) -> Callable[[Run], None]:
    def act(run: Run) -> None:
        relay = run.leader
        relay.kill()
        for _ in range(_CRASHES):
            after_ms = f"{run.chance.uniform(0, 5):.2f}"
            relay.start(
                ROMA_CRASH=f"{point}:{run.chance.randint(1, 12)}", ROMA_CRASH_AFTER_MS=after_ms
            )
            relay.wait_for_crash(60)
        relay.start(ROMA_CRASH=_NEVER)
        run.moving()

    return act


for _point, _what in _POINTS.items():
    scenario(f"crash-{_point.replace('_', '-')}", f"the relay is killed {_what}, three times")(
        _crash_at(_point)
    )
