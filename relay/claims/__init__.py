"""Claims: large values in a place of their own, named by what they are."""

from relay.claims.store import ClaimStore

__all__ = ["ClaimStore"]
