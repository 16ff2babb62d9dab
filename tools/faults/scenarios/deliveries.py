"""Repeats scenarios with other settings: long transactions in parts, no Kafka transactions
(`delivery = "at_least_once"`), and two transactional ids (`producers = 2`).
"""

from typing import Any, Final

from tools.faults.scenario import variant

_LONG_EVERY: Final = 150
_PARTS: Final[dict[str, Any]] = {"split_bytes": 6000}
_LOOSE: Final[dict[str, Any]] = {"delivery": "at_least_once"}
_IN_PARTS: Final = (
    "broker-killed",
    "broker-paused",
    "kafka-cut",
    "kafka-black-hole",
    "cluster-broker-killed",
    "crash-before-position",
    "crash-position-handed-over",
    "crash-committed",
    "relay-killed",
    "takeover-after-kill",
    "takeover-after-stop",
    "leader-paused",
    "successor-killed",
    "relay-paused",
    "source-cut",
    "source-killed",
    "source-switched",
    "zookeeper-away",
)
_WITHOUT_TRANSACTIONS: Final = (
    *_IN_PARTS,
    "broker-killed-three-times",
    "kafka-black-hole-often",
    "broker-away-and-binlog-purged",
    "source-black-hole",
    "source-switched-by-digest",
    "zookeeper-restarted",
    "message-too-large",
    "topic-deleted",
)
_BOTH: Final = (
    "broker-killed",
    "kafka-black-hole",
    "crash-before-position",
    "relay-killed",
    "takeover-after-kill",
    "successor-killed",
)
_TWO_IDS: Final = (
    *_IN_PARTS,
    "broker-killed-three-times",
    "transaction-timeout",
    "machine-resumed",
    "cluster-coordinator-killed",
    "cluster-coordinator-moved",
    "crash-position-sent",
    "crash-commit-under-way",
    "kafka-black-hole-often",
    "stranger",
    "message-too-large",
    "topic-deleted",
    "store-lost-running",
    "broker-away-and-binlog-purged",
)


def list_variants() -> None:
    """Register the variants; their base scenarios must be registered before."""
    for name in _IN_PARTS:
        variant(
            name,
            "in-parts",
            "long transactions in parts",
            long_every=_LONG_EVERY,
            instance={"transaction": _PARTS},
        )
    for name in _WITHOUT_TRANSACTIONS:
        variant(
            name, "loose", "at_least_once", drops_repeats=True, instance={"transaction": _LOOSE}
        )
    for name in _BOTH:
        variant(
            name,
            "loose-in-parts",
            "at_least_once, long transactions in parts",
            long_every=_LONG_EVERY,
            drops_repeats=True,
            instance={"transaction": {**_PARTS, **_LOOSE}},
        )
    for name in _TWO_IDS:
        variant(
            name, "two-ids", "two transactional ids", instance={"transaction": {"producers": 2}}
        )
