"""When Python looks for unused objects in cycles."""

import gc
from typing import Final

_ALLOCATIONS_PER_COLLECTION: Final = 50_000
"""So many new containers start a collection; one list of 500 instances makes tens of thousands."""


def collect_garbage_rarely() -> None:
    """Leave everything that exists now out of all later collections, and let them come rarely.

    Call it in the process of the admin alone, after the objects that stay were made: settings,
    routes and the logical view. Objects without cycles are freed at once, as before.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS_PER_COLLECTION, *gc.get_threshold()[1:])
