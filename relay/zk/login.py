"""The relay's login at ZooKeeper, and the access rights of its nodes, in kazoo's terms."""

from typing import Final, TypeAlias

from kazoo.security import ACL, CREATOR_ALL_ACL, make_acl, make_digest_acl_credential

from relay.settings import ZooKeeperSettings

SaslOptions: TypeAlias = dict[str, str]
_ALL_RIGHTS: Final = 31
EVERYBODY: Final = "world:anyone"
"""ZooKeeper's identity for everybody, as in `Session.rights`."""


def sasl_options(settings: ZooKeeperSettings) -> SaslOptions | None:
    """Return kazoo's options for a SASL login, with the present password; None without one."""
    auth = settings.auth
    if auth is None or auth.scheme != "sasl":
        return None
    return {
        "mechanism": "DIGEST-MD5",
        "username": auth.user,
        "password": auth.password.get_secret_value(),
    }


def digest_login(settings: ZooKeeperSettings) -> set[tuple[str, str]]:
    """Return the digest identity that a connection claims, with the current password.

    Empty without a digest login.
    """
    auth = settings.auth
    return (
        set()
        if auth is None or auth.scheme != "digest"
        else {("digest", f"{auth.user}:{auth.password.get_secret_value()}")}
    )


def digest_identity(user: str, password: str) -> str:
    """Return the name of a digest identity in access rights, "digest:USER:HASH"."""
    return f"digest:{make_digest_acl_credential(user, password)}"


def rights_of(settings: ZooKeeperSettings) -> list[ACL] | None:
    """Return the access rights of every node that is created. None: everybody has all rights."""
    found: list[ACL] = []
    for identity in settings.identities:
        scheme, _, name = identity.partition(":")
        found += CREATOR_ALL_ACL if scheme == "creator" else [make_acl(scheme, name, all=True)]
    return found or None


def identity_of(right: ACL) -> str | None:
    """Return the identity "SCHEME:NAME" to which this ACL entry gives all rights; None if it gives
    fewer rights.
    """
    return f"{right.id.scheme}:{right.id.id}" if right.perms == _ALL_RIGHTS else None
