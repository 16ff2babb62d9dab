"""Erases a person: removes all data with given keys and texts from every store of an installation
(ADR 67).
"""

from relay.operations.erasure.left_settings import put_back_settings
from relay.operations.erasure.needles import Needles, read_needles
from relay.operations.erasure.person import FRESH_SECONDS, PersonErasure
from relay.operations.erasure.plan import ErasureChoice, ErasurePlan
from relay.operations.erasure.sentences import Switches, erased, planned

__all__ = [
    "FRESH_SECONDS",
    "ErasureChoice",
    "ErasurePlan",
    "Needles",
    "PersonErasure",
    "Switches",
    "erased",
    "planned",
    "put_back_settings",
    "read_needles",
]
