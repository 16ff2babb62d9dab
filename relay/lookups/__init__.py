"""Queries that transforms may send to the source's server while it is read."""

from relay.lookups.answers import KeptAnswers
from relay.lookups.source_lookups import SourceLookups

__all__ = ["KeptAnswers", "SourceLookups"]
