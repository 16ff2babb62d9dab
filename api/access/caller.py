"""Describes the caller of an endpoint."""

from collections.abc import Set
from dataclasses import dataclass, field
from typing import Final

from api.errors import RightMissing
from relay.model.accounts import FILE_CALLER, Right, Role, rights_of


@dataclass(frozen=True, slots=True)
class OpenSession:
    """The session that a request belongs to.

    secret       value of its cookie
    ends_ms      the user must sign in again then; Unix milliseconds
    by_provider  an OpenID Connect provider signed the user in
    """

    secret: str = field(repr=False)
    ends_ms: int
    by_provider: bool = False


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request.

    name       name in messages; empty for a caller without a token
    rights     what the caller may do
    is_user    a user of the installation: the name is proven, and history and audit trail use it
    session    session of a signed-in user; None for a caller without a session
    by_header  whether a proxy has signed the user in
    """

    name: str
    rights: frozenset[Right]
    is_user: bool = False
    session: OpenSession | None = None
    by_header: bool = False

    @property
    def sees_values(self) -> bool:
        """Return whether the caller may see keys and values of rows."""
        return Right.VALUES in self.rights

    def check(self, needed: Set[Right]) -> None:
        """Raise RightMissing unless the caller has all rights in `needed`."""
        missing = sorted(needed - self.rights)
        if missing:
            raise RightMissing(
                f"The act requires the right {' and '.join(missing)}, and "
                f"{self.name or 'a caller without a token'} does not have it."
            )


ANONYMOUS: Final = Caller("", frozenset({Right.READ}))
"""A caller without a token: it reads mappings and states, and cannot write."""
TOKEN_OF_FILE: Final = Caller(FILE_CALLER, rights_of(Role.ADMIN, values=True))
"""The caller that sends the token of the configuration file."""
