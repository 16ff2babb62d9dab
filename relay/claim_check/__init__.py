"""Claim check: stores large values outside of Kafka, under names that contain their digests."""

from relay.claim_check.store import ClaimStore

__all__ = ["ClaimStore"]
