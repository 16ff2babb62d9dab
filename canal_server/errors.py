"""Errors that the Canal server sends to a client as an error packet."""

from typing import ClassVar


class Refused(Exception):
    """A request that the server refuses. The connection ends after the answer.

    number  code of the error packet, as Canal's: 401 for a missing name, 402 for a missing batch
            id, 400 otherwise
    """

    number: ClassVar[int] = 400


class BadPacket(Refused):
    """The bytes are not a packet, or the packet is not expected at this point."""


class NotAuthenticated(Refused):
    """The user or the password is wrong."""


class UnknownDestination(Refused):
    """The configuration has no destination of this name."""


class MissingName(Refused):
    """The destination or the client id is empty or not a valid name."""

    number = 401


class MissingBatch(Refused):
    """The client sent an acknowledgement without a batch id."""

    number = 402


class TooMany(Refused):
    """A limit of the configuration is reached."""


class Displaced(Refused):
    """A newer connection has subscribed with the same destination and client id."""
