"""Helpers for opening a client: the admin and its answers, the name of the group, the metrics, and
the check of Kafka's settings.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from roma_client.errors import UsageError
from roma_client.kafka.options import owned_settings
from roma_client.metrics import Metrics, NoMetrics, PrometheusMetrics
from roma_client.names import Answer, Directory
from roma_client.names.cache import Cache
from roma_client.records.change import Values

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

ADMIN_VARIABLE: Final = "ROMA_ADMIN"
ARGUMENTS_DECIDE: Final = "Leave these settings out; use the arguments of the subscription."
TOKEN_VARIABLE: Final = "ROMA_TOKEN"  # noqa: S105  # a variable's name


def admin_token(given: str | None) -> str | None:
    """Return the argument if it is given, otherwise the token in the environment; None if there is
    neither.
    """
    return given or os.environ.get(TOKEN_VARIABLE)


def admin_address(given: str | None) -> str:
    """Return the argument if it is given, otherwise the admin's address in the environment. Raises
    UsageError if there is neither.
    """
    address = given or os.environ.get(ADMIN_VARIABLE)
    if not address:
        raise UsageError(
            "The address of the admin is missing.",
            f'Give admin="http://…", or set the environment variable {ADMIN_VARIABLE}.',
        )
    return address


class Asking(Protocol):
    """The fields of a client by which it sends requests to the admin."""

    admin: str | None
    token: str | None
    values: Values
    cache: Path | str | None


def directory_of(client: Asking, named_topic: str | None = None) -> Directory:
    """Return the object by which a client requests topics from its admin. Raises UsageError without
    an admin.

    `named_topic`: the one topic that the service names itself.
    """
    return Directory(
        admin_address(client.admin),
        admin_token(client.token),
        Cache(client.cache),
        typed=client.values == "python",
        named_topic=named_topic,
    )


def refuse_owned(kafka: Mapping[str, Any], owner: str, remedy: str = "") -> None:
    """Raise UsageError if `kafka` contains settings that only `owner`, a class of this package, may
    set. `remedy` is an additional remedy.
    """
    if owned := owned_settings(kafka):
        raise UsageError(
            f"The argument `kafka` sets {', '.join(owned)}, which only {owner} may set.", remedy
        )


def default_group(answer: Answer, name: str) -> str:
    """Return the default name of the consumer group: the name of the token's user, a dot, and
    `name`.

    Raises UsageError if the token belongs to no user, because two services with the same group
    would share the changes.
    """
    if not answer.caller:
        raise UsageError(
            "No consumer group is given, and the token has no name from which one could be made.",
            'Give group="<name of the service>", or use a token of your own.',
        )
    return f"{answer.caller}.{name}"


def metrics_of(registry: "CollectorRegistry | None", group: str) -> Metrics:
    """Return metrics of a group in the given registry; without a registry, an object that counts
    nothing.
    """
    return NoMetrics() if registry is None else PrometheusMetrics(registry, group)
