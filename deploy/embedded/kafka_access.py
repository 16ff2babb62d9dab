"""The listeners of an embedded broker that require a login, and the rights of users."""

from collections.abc import Iterable, Mapping
from typing import Final

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from deploy.embedded.servers.server_tls import ServerTls

RIGHTS: Final = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
"""Settings under which a client has only the rights that `allow` granted to its principal.

Clients of the listener without a login have all rights.
"""
_KINDS: Final = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "transactional-id": ResourceType.TRANSACTIONAL_ID,
    "cluster": ResourceType.BROKER,
}
_CLUSTER: Final = "kafka-cluster"
_LOGIN_MODULES: Final = "org.apache.kafka.common.security"
_REQUEST_S: Final = 20.0


def allow(bootstrap: str, principal: str, rights: Iterable[tuple[str, str, str]]) -> None:
    """Grant rights to a principal.

    rights  for each right the operation ("Write"), the kind of the resource ("topic", "cluster"),
            and the name of the resource ("" for the cluster)
    """
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for done in admin.create_acls([_binding(principal, *right) for right in rights]).values():
        done.result(_REQUEST_S)


def listeners(tls: ServerTls, plain: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of the listeners SECURE (SASL) and MUTUAL (client certificates).

    `plain`: the password of each user that may log in with the mechanism PLAIN.
    """
    users = "".join(f' user_{user}="{password}"' for user, password in plain.items())
    return {
        "sasl.enabled.mechanisms": "SCRAM-SHA-512,PLAIN",
        "listener.name.secure.scram-sha-512.sasl.jaas.config": (
            f"{_LOGIN_MODULES}.scram.ScramLoginModule required;"
        ),
        "listener.name.secure.plain.sasl.jaas.config": (
            f"{_LOGIN_MODULES}.plain.PlainLoginModule required{users};"
        ),
        **_tls(
            "secure", tls, {"none": "none", "want": "requested", "need": "required"}[tls.clients]
        ),
        **_tls("mutual", tls, "required"),
    }


def _tls(listener: str, tls: ServerTls, clients: str) -> dict[str, str]:
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(tls.identity),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(tls.authority),
        "ssl.client.auth": clients,
    }
    return {f"listener.name.{listener}.{name}": value for name, value in settings.items()}


def _binding(principal: str, operation: str, kind: str, name: str) -> AclBinding:
    may = AclOperation[_constant(operation)]
    return AclBinding(
        _KINDS[kind],
        name or _CLUSTER,
        ResourcePatternType.LITERAL,
        principal,
        "*",
        may,
        AclPermissionType.ALLOW,
    )


def _constant(operation: str) -> str:
    """DescribeConfigs → DESCRIBE_CONFIGS."""
    return "".join(
        f"_{each}" if each.isupper() and at else each for at, each in enumerate(operation)
    ).upper()
