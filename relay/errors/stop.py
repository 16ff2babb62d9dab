"""The branch of errors that stop an instance until an operator acts."""

from relay.errors.base import RelayError


class Stop(RelayError):
    """The instance stops until an operator acts; nothing is lost in the meantime."""

    code = "STOPPED"
