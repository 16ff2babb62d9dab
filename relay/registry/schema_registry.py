"""Reads and registers schemas in a registry with Confluent's interface, by the client of
confluent-kafka.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final, TypeVar

import httpx2
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError

from relay.errors import RegistryRefused, RegistryUnreachable, RelayError, SchemaRefused
from relay.registry.known_ids import KnownIds
from relay.settings import RegistrySettings

Answer = TypeVar("Answer")

_GREATEST_ID: Final = 2**31 - 1
"""Readers take the four bytes of an id for a signed number (Confluent documentation: wire
format).
"""
_LONGEST_ANSWER: Final = 4_000
"""Characters of an answer in a reason. Answers may contain whole schemas or pages, and ZooKeeper
does not take a status with them.
"""
_READ_ONLY: Final = 42205
"""Confluent's error code of a registry or subject that takes no schemas now."""
_TRANSIENT: Final = frozenset(
    {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
)
_NO_ANSWER: Final = (ValueError, TypeError, AttributeError, KeyError)
"""Errors of the client for an answer that is not the one of a registry."""


class SchemaRegistry:
    """Returns ids of schemas, and registers new schemas. Ids are cached for the life of the object.

    Used by one thread.
    """

    def __init__(self, settings: RegistrySettings) -> None:
        self._settings = settings
        self._known = KnownIds()

    def id_of(self, subject: str, schema: str, kind: str) -> int:
        """Return the id of a schema in a subject; `kind` is AVRO, JSON or PROTOBUF.

        Raises RegistryUnreachable or RegistryRefused. Raises SchemaRefused if the registry refuses
        the schema, or if it lacks the schema and `registry.auto_register` is off.
        """
        known = self._known.find(subject, schema)
        if known is None:
            with self._client() as client:
                known = self._ask(client, subject, Schema(schema, kind))
            self._known.add(subject, schema, kind, known)
        return known

    def subjects(self) -> list[str]:
        """Return the names of all subjects. Raises RegistryUnreachable or RegistryRefused."""
        with self._client() as client:
            return self._answer("(all)", lambda: list(client.get_subjects()))

    def kind_of(self, subject: str) -> str | None:
        """Return the kind of a subject's newest schema: AVRO, JSON or PROTOBUF.

        None if the subject does not exist. Raises RegistryUnreachable or RegistryRefused.
        """
        with self._client() as client:
            return self._answer(subject, lambda: _kind(client, subject))

    def is_read_only(self) -> bool:
        """Return whether the registry accepts no new schemas; False if it does not have modes.

        Raises RegistryUnreachable or RegistryRefused.
        """
        with self._client() as client:
            mode = self._answer("(all)", lambda: _mode(client))
        return mode.startswith("READONLY")

    @contextmanager
    def _client(self) -> Iterator[SchemaRegistryClient]:
        try:
            client = SchemaRegistryClient(_configuration(self._settings))
        except (ValueError, OSError) as exc:
            raise self._unusable(exc) from exc
        with client:
            yield client

    def _ask(self, client: SchemaRegistryClient, subject: str, schema: Schema) -> int:
        found = self._answer(subject, lambda: _looked_up(client, subject, schema))
        if found is None:
            if not self._settings.auto_register:
                raise SchemaRefused(
                    f"The subject {subject} at {self._settings.url} does not have the schema, and "
                    f"registry.auto_register is off: {schema.schema_str}",
                    remedy="Register the schema that the reason shows, then start again.",
                )
            found = self._answer(subject, lambda: _registered(client, subject, schema))
        if found > _GREATEST_ID:
            raise RegistryRefused(
                f"The schema registry {self._settings.url} gives the id {found} to the schema of "
                f"{subject}, but the greatest id that fits into a message is {_GREATEST_ID}.",
                remedy="Use a registry with smaller ids, then start the instance again.",
            )
        return found

    def _answer(self, subject: str, ask: Callable[[], Answer]) -> Answer:
        try:
            return ask()
        except SchemaRegistryError as exc:
            raise self._translated(subject, exc) from exc
        except httpx2.InvalidURL as exc:
            raise self._unusable(exc) from exc
        except (httpx2.HTTPError, OSError) as exc:
            raise RegistryUnreachable(
                f"The schema registry {self._settings.url} does not answer: {exc}."
            ) from exc
        except _NO_ANSWER as exc:
            raise RegistryUnreachable(
                f"{self._settings.url} answers for the subject {subject}, but not as a schema "
                f"registry: {exc}."
            ) from exc

    def _unusable(self, error: Exception) -> RegistryRefused:
        return RegistryRefused(
            f"No request can be made to the schema registry {self._settings.url}: {error}.",
            remedy="Correct registry.url (http:// or https://) and registry.ca (a PEM file that "
            "the relay may read), then start again.",
        )

    def _translated(self, subject: str, error: SchemaRegistryError) -> RelayError:
        status = error.http_status_code
        answered = str(error.error_message)
        more = "" if len(answered) <= _LONGEST_ANSWER else " …"
        what = (
            f"The schema registry {self._settings.url} answers {status} for the subject "
            f"{subject}: {answered[:_LONGEST_ANSWER]}{more}"
        )
        if error.error_code == _READ_ONLY:
            return SchemaRefused(
                what, remedy="Let the registry accept new schemas, then start again."
            )
        if status in (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY):
            return SchemaRefused(what)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _TRANSIENT:
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
        return _number(client.lookup_schema(subject, schema).schema_id)
    except SchemaRegistryError as exc:
        if exc.http_status_code == HTTPStatus.NOT_FOUND:
            return None
        raise


def _registered(client: SchemaRegistryClient, subject: str, schema: Schema) -> int:
    """Register a schema, and return its id.

    Two relays may register it at the same time; the later one is then refused as a conflict.
    """
    try:
        return _number(client.register_schema(subject, schema))
    except SchemaRegistryError as exc:
        if exc.http_status_code != HTTPStatus.CONFLICT:
            raise
        found = _looked_up(client, subject, schema)
        if found is None:
            raise
        return found


def _number(answered: object) -> int:
    """Return the id in an answer. Raises ValueError if it has none."""
    if not isinstance(answered, int) or isinstance(answered, bool) or answered < 0:
        raise ValueError(f"the id is {answered!r}")
    return answered


def _configuration(settings: RegistrySettings) -> dict[str, object]:
    """Return the client's configuration. The client sends each request once, because the instance
    tries again.
    """
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
