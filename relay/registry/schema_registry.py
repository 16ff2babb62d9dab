"""Ids of schemas, from a registry with Confluent's interface, by the client of confluent-kafka."""

from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar

import httpx2
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from relay.errors import RegistryRefused, RegistryUnreachable, RelayError, SchemaRefused
from relay.settings import RegistrySettings

Answer = TypeVar("Answer")


class SchemaRegistry:
    """Looks schemas up, and registers those that are new; ids are kept for the life of the object.

    Used by one thread.
    """

    def __init__(self, settings: RegistrySettings) -> None:
        self._settings = settings
        self._ids: dict[tuple[str, str], int] = {}

    def id_of(self, subject: str, schema: str, kind: str) -> int:
        """Return the id of a schema in a subject; `kind` is AVRO, JSON or PROTOBUF.

        Raises RegistryUnreachable, RegistryRefused, or SchemaRefused if the registry takes no
        such schema, or where it is unknown and `registry.auto_register` is off.
        """
        known = self._ids.get((subject, schema))
        if known is None:
            with SchemaRegistryClient(_configuration(self._settings)) as client:
                known = self._ask(client, subject, Schema(schema, kind))
            self._ids[subject, schema] = known
        return known

    def subjects(self) -> list[str]:
        """Return the names of all subjects. Raises RegistryUnreachable or RegistryRefused."""
        with SchemaRegistryClient(_configuration(self._settings)) as client:
            return self._answer("(all)", client.get_subjects)

    def kind_of(self, subject: str) -> str | None:
        """Return the kind of a subject's newest schema: AVRO, JSON or PROTOBUF.

        None if the subject does not exist. Raises RegistryUnreachable or RegistryRefused.
        """
        with SchemaRegistryClient(_configuration(self._settings)) as client:
            return self._answer(subject, lambda: _kind(client, subject))

    def is_read_only(self) -> bool:
        """Return whether the registry takes no new schemas; False if it has no modes.

        Raises RegistryUnreachable or RegistryRefused.
        """
        with SchemaRegistryClient(_configuration(self._settings)) as client:
            mode = self._answer("(all)", lambda: _mode(client))
        return mode.startswith("READONLY")

    def _ask(self, client: SchemaRegistryClient, subject: str, schema: Schema) -> int:
        found = self._answer(subject, lambda: _looked_up(client, subject, schema))
        if found is not None:
            return found
        if not self._settings.auto_register:
            raise SchemaRefused(
                f"The subject {subject} at {self._settings.url} does not have the schema, and "
                f"registry.auto_register is off: {schema.schema_str}",
                remedy="Register the schema that the reason shows, then start again.",
            )
        return self._answer(subject, lambda: client.register_schema(subject, schema))

    def _answer(self, subject: str, ask: Callable[[], Answer]) -> Answer:
        try:
            return ask()
        except SchemaRegistryError as exc:
            raise self._translated(subject, exc) from exc
        except (httpx2.HTTPError, OSError) as exc:
            raise RegistryUnreachable(
                f"The schema registry {self._settings.url} does not answer: {exc}."
            ) from exc

    def _translated(self, subject: str, error: SchemaRegistryError) -> RelayError:
        status = error.http_status_code
        what = (
            f"The schema registry {self._settings.url} answers {status} for the subject "
            f"{subject}: {error.error_message}"
        )
        if status in (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY):
            return SchemaRefused(what)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
            return RegistryUnreachable(what)
        return RegistryRefused(what)


def _mode(client: SchemaRegistryClient) -> str:
    try:
        return str(client.get_global_mode())
    except SchemaRegistryError as exc:
        if exc.http_status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.NOT_IMPLEMENTED):
            return ""
        raise


def _kind(client: SchemaRegistryClient, subject: str) -> str | None:
    try:
        return str(client.get_latest_version(subject).schema.schema_type)
    except SchemaRegistryError as exc:
        if exc.http_status_code == HTTPStatus.NOT_FOUND:
            return None
        raise


def _looked_up(client: SchemaRegistryClient, subject: str, schema: Schema) -> int | None:
    try:
        return client.lookup_schema(subject, schema).schema_id
    except SchemaRegistryError as exc:
        if exc.http_status_code == HTTPStatus.NOT_FOUND:
            return None
        raise


def _configuration(settings: RegistrySettings) -> dict[str, object]:
    """The client's configuration: one try for each request, because the instance tries again."""
    found: dict[str, object] = {
        "url": settings.url,
        "timeout": settings.timeout_seconds,
        "max.retries": 0,
    }
    if settings.user is not None:
        password = "" if settings.password is None else settings.password.get_secret_value()
        found["basic.auth.user.info"] = f"{settings.user}:{password}"
    if settings.ca is not None:
        found["ssl.ca.location"] = str(settings.ca)
    return found
