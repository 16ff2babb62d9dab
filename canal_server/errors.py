"""Errors that a client of the Canal server gets as an error packet."""

from typing import ClassVar


class Refused(Exception):
    """A request that the server refuses; the connection ends after the answer.

    number  the code of the error packet: as Canal, 401 for a missing name, 402 for a missing batch
            id, 400 otherwise
    """

    number: ClassVar[int] = 400


class BadPacket(Refused):
    """Bytes that are no packet, or a packet that is not expected here."""


class NotAuthenticated(Refused):
    """User or password are wrong."""


class UnknownDestination(Refused):
    """The configuration has no destination of this name."""


class MissingName(Refused):
    """The destination or the client id is empty or no name."""

    number = 401


class MissingBatch(Refused):
    """The client acknowledged without a batch id."""

    number = 402


class TooMany(Refused):
    """A limit of the configuration is reached."""


class Displaced(Refused):
    """A newer connection has subscribed with the same destination and client id."""
