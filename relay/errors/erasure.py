"""Errors of erasing the data of a person."""

from relay.errors.base import RelayError


class ErasureRefused(RelayError):
    """The erasure of a person cannot begin; nothing was changed."""

    code = "ERASURE_REFUSED"
    remedy = "Correct the error in the reason, and search again with --preview."


class ErasureInterrupted(RelayError):
    """An erasure lost the right to write, or another program changed its topic meanwhile. A part of
    the erasure may be done.
    """

    code = "ERASURE_INTERRUPTED"
    remedy = "Search again with --preview, and erase what the search finds."
