"""Objects that stay are left out of collections once the logical view was computed."""

import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import Any, cast

from api.services.mappings.logical.warm_up import WarmUp
from relay.errors import StoreUnreachable

PROGRAM = """
import gc
from api.garbage import collect_garbage_rarely
before = gc.get_threshold()
kept = [[] for _ in range(1000)]
collect_garbage_rarely()
assert gc.get_freeze_count() > 1000, gc.get_freeze_count()
assert gc.get_threshold()[0] > before[0] and gc.get_threshold()[1:] == before[1:]
"""


def test_later_collections_leave_out_what_exists() -> None:
    # In a process of its own: it holds for the whole process.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_the_end_is_reported_once_and_after_the_view_was_computed() -> None:
    ended, steps = threading.Event(), list[str]()

    def mapping() -> None:
        steps.append("computed")
        if len(steps) == 1:
            raise StoreUnreachable("ZooKeeper did not answer.")

    def on_end() -> None:
        steps.append("ended")
        ended.set()

    session, views = SimpleNamespace(connected=True), SimpleNamespace(mapping=mapping)
    warm_up = WarmUp(cast("Any", session), cast("Any", views), on_end)
    warm_up.start()
    assert ended.wait(60)
    warm_up.stop()
    assert steps == ["computed", "computed", "ended"]
