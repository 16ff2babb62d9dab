"""Claim check: large values in a store of their own, named by their digest."""

from relay.claim_check.store import ClaimStore

__all__ = ["ClaimStore"]
