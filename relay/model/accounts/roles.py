"""The roles of the admin's users, and the rights of each role."""

from enum import StrEnum
from typing import Final


class Right(StrEnum):
    """The right that an endpoint of the admin requires."""

    READ = "read"
    """Read mappings, instances, positions and the audit trail, and preview changes of them."""
    EDIT = "edit"
    """Save and roll back mapping documents, and hide unmapped tables."""
    OPERATE = "operate"
    """Pause, switch, hand over and reposition instances; send dead letters again."""
    ADMINISTER = "administer"
    """Add, change and remove instances at run time. Their settings name servers and secrets."""
    VALUES = "values"
    """Read keys and values of rows: peek and dead letters."""


class Role(StrEnum):
    """A role holds all rights of the roles before it.

    No role holds `Right.VALUES`: it is given to a user beside the role.
    """

    VIEWER = "viewer"
    EDITOR = "editor"
    OPERATOR = "operator"
    ADMIN = "admin"


_ADDED: Final = {
    Role.VIEWER: Right.READ,
    Role.EDITOR: Right.EDIT,
    Role.OPERATOR: Right.OPERATE,
    Role.ADMIN: Right.ADMINISTER,
}
"""The right that each role adds to those of the role before it."""


def rights_of(role: Role, *, values: bool = False) -> frozenset[Right]:
    """Return all rights of a role; `values` adds the right to read values of rows."""
    roles = list(Role)
    held = {_ADDED[each] for each in roles[: roles.index(role) + 1]}
    return frozenset(held | {Right.VALUES} if values else held)
