"""Runs the queries that transforms send to the source's server while a row is published."""

from relay.lookups.answers import KeptAnswers
from relay.lookups.source_lookups import SourceLookups

__all__ = ["KeptAnswers", "SourceLookups"]
