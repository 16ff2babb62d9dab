"""Claim check: stores large values outside of Kafka, under names that contain their digests. The
publisher writes them; a message then contains only URL, size and digest of its value.
"""

from relay.claim_check.store import ClaimStore

__all__ = ["ClaimStore"]
