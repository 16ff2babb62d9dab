"""Makes Python's garbage collector run rarely and skip permanent objects."""

import gc
from typing import Final

_ALLOCATIONS_PER_COLLECTION: Final = 50_000
"""So many new containers start a collection; one list of 500 instances makes tens of thousands."""


def collect_garbage_rarely() -> None:
    """Exclude all existing objects from future collections, and make collections rare.

    Call this only in the process of the admin, after the permanent objects exist: settings, routes
    and the logical view. Objects without reference cycles are still freed immediately.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS_PER_COLLECTION, *gc.get_threshold()[1:])
