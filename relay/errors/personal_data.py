"""Errors of erasing the data of a person, and of showing hidden values."""

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


class ValueHidden(RelayError):
    """A mask or a rule of an instance hides columns of the value of a dead letter."""

    code = "VALUE_HIDDEN"
    remedy = (
        "Read the other columns on the page of the dead letter, or with `GET "
        "/api/v1/instances/{name}/dead-letters/{letter}/rows`."
    )
