"""Derives roles from the groups of a user that a provider or a proxy reports."""

from collections.abc import Collection, Mapping

from relay.model.accounts import Grant, Role


def grant_of(
    said: Collection[str], roles: Mapping[str, Role], values: Collection[str]
) -> Grant | None:
    """Return the highest role that a user's groups give, and whether they allow reading row values.

    said    groups or roles of the user, as the provider or proxy reports them
    roles   group → role
    values  groups that give the right to read values of rows

    Returns None if no group gives a role.
    """
    order = list(Role)
    found = [roles[each] for each in said if each in roles]
    if not found:
        return None
    return Grant(max(found, key=order.index), values=any(each in values for each in said))
