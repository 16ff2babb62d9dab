"""The address of ZooKeeper, the relay's login, and the access rights of its nodes."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from relay.settings.base import Settings
from relay.settings.secrets import Secret

Identity: TypeAlias = Annotated[
    str, Field(pattern=r"^(creator|sasl:[^:]+|digest:[^:]+:[A-Za-z0-9+/=]{28}|x509:.+)$")
]


class ZooKeeperAuthSettings(Settings):
    """The login at ZooKeeper and the access rights of the nodes."""

    scheme: Literal["sasl", "digest"] = "sasl"
    """`sasl`: DIGEST-MD5, which the servers check against their users.

    `digest`: an identity that needs no users at the servers.
    """
    user: Annotated[str, Field(pattern=r"^[^:\s]+$")]
    """User of the login."""
    password: Secret
    """Password of the login."""


class ZooKeeperTlsSettings(Settings):
    """TLS to ZooKeeper. The relay reads the files again for each connection."""

    mode: Literal["required", "verify_ca", "verify_identity"] = "verify_identity"
    """`verify_identity` checks authority and host name, `verify_ca` checks only the authority,
    `required` checks neither.
    """
    ca: Path | None = None
    """PEM file of the authority. Not set: the system's authorities."""
    cert: Path | None = None
    """PEM file of the relay's own certificate, if the servers require one."""
    key: Path | None = None
    """PEM file of its key. Not set: the key is in `cert`."""

    @model_validator(mode="after")
    def _files_fit_together(self) -> "ZooKeeperTlsSettings":
        if self.key is not None and self.cert is None:
            raise ValueError("key needs cert; set cert, or remove key")
        if self.mode == "required" and self.ca is not None:
            raise ValueError(
                "mode = 'required' checks no certificate, so ca has no effect; remove it, or set "
                "mode to 'verify_ca' or 'verify_identity'"
            )
        return self


class ZooKeeperSettings(Settings):
    """Connection to ZooKeeper, and who may use the nodes."""

    hosts: str
    """Servers as `host:port`, separated by commas."""
    root: str = "/roma"
    """Root node of everything that the relay stores."""
    session_timeout_seconds: Annotated[float, Field(gt=0)] = 2
    """Session timeout: when a leader has been silent for this time, a standby relay replaces it.

    The servers limit it to 2 to 20 times their tickTime. A short value is safe, because Kafka
    fences the former leader.
    """
    auth: ZooKeeperAuthSettings | None = None
    """The login. Not set: none."""
    tls: ZooKeeperTlsSettings | None = None
    """TLS. Not set: none."""
    acl: (
        Literal["open", "creator"] | Annotated[tuple[Identity, ...], Field(min_length=1)] | None
    ) = None
    """Who may read and write the nodes: `open` (everybody), `creator` (the identities of this
    login), or a list of `creator`, `sasl:USER`, `digest:USER:HASH` and `x509:NAME`.

    Not set: `creator` if there is a login or a cert, otherwise `open`.
    """

    @property
    def identities(self) -> tuple[str, ...]:
        """Return the identities that may read and write the nodes that the relay creates, as in
        `acl`. Empty: everybody.
        """
        if isinstance(self.acl, tuple):
            return self.acl
        return (
            ("creator",)
            if (self.acl or ("creator" if self.has_identity else "open")) == "creator"
            else ()
        )

    @property
    def has_identity(self) -> bool:
        """Return whether the relay logs in, by user or certificate, so that the servers can
        identify it.
        """
        return self.auth is not None or (self.tls is not None and self.tls.cert is not None)

    @model_validator(mode="after")
    def _nodes_stay_ours(self) -> "ZooKeeperSettings":
        if self.identities and not self.has_identity:
            raise ValueError(
                "acl needs zookeeper.auth, or a zookeeper.tls.cert: without a login no client "
                "could read the created nodes"
            )
        if self.identities and not any(
            each == "creator" or each.startswith(self._own()) for each in self.identities
        ):
            raise ValueError(
                f'acl does not admit this login itself: add "creator" or "{self._own()}…"'
            )
        return self

    def _own(self) -> str:
        return "x509:" if self.auth is None else f"{self.auth.scheme}:{self.auth.user}"
