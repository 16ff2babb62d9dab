"""Chooses the format of the messages of each topic."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from relay.encode import CanalJson, CloudEvents, DebeziumJson, MaxwellJson, MessageFormat
from relay.errors import ConfigurationError
from relay.settings import FormatName, InstanceSettings

_WITHOUT_PLACES: Final = "canal-json"
"""The format whose messages do not contain the coordinates of their event."""


class MessageFormats:
    """The message formats of an instance; each is created once.

    Raises ConfigurationError if the libraries of a format are not installed.
    """

    def __init__(self, instance: InstanceSettings) -> None:
        self._instance = instance
        registered = [name for name in instance.formats if name in SCHEMA_KINDS]
        # One for all formats, because it also checks that no id belongs to two schemas.
        ids = schema_registry(registered[0], instance) if registered else None
        self._made = {name: _made(name, instance, ids) for name in instance.formats}

    def of(self, topic: str) -> MessageFormat:
        """Return the format of a topic of rows, which its statements have too."""
        return self._made[self._instance.format_of(topic)]

    def by_format(self, topics: Sequence[str]) -> list[tuple[MessageFormat, tuple[str, ...]]]:
        """Return the formats of these topics, each with its topics, in the order of first use."""
        found: dict[str, list[str]] = {}
        for topic in topics:
            found.setdefault(self._instance.format_of(topic), []).append(topic)
        return [(self.of(each[0]), tuple(each)) for each in found.values()]


def _made(name: FormatName, instance: InstanceSettings, ids: Any) -> MessageFormat:
    message = instance.message
    match name:
        case "canal-json":
            return CanalJson(message.value_style)
        case "debezium-json":
            return DebeziumJson(
                instance.name,
                with_schema=message.schemas,
                numbers_rows=numbers_rows(instance),
            )
        case "maxwell-json":
            return MaxwellJson()
        case "cloudevents":
            return CloudEvents(instance.name)
        case "avro" | "json-schema" | "protobuf":
            return _registered(name, instance, ids)


def names_coordinates(form: MessageFormat) -> bool:
    """Return whether messages of the format contain the binlog coordinates of their event. If they
    do, events are printed one by one.
    """
    return form.name != _WITHOUT_PLACES


def some_name_coordinates(instance: InstanceSettings) -> bool:
    """Return whether messages of some topics contain the binlog coordinates of their event."""
    return instance.formats != (_WITHOUT_PLACES,)


def some_share_frames(instance: InstanceSettings) -> bool:
    """Return whether messages of some topics do not contain the coordinates of their event, so that
    events are printed together.
    """
    return _WITHOUT_PLACES in instance.formats


def numbers_rows(instance: InstanceSettings) -> bool:
    """Return whether messages of some topics contain the number of their row in its source
    transaction.

    A row is then printed only after the row before it was counted.
    """
    return instance.transaction_topic is not None and "debezium-json" in instance.formats


_MODULES: Final = {
    "avro": ("relay.encode.formats.avro", "avro"),
    "json-schema": ("relay.encode.formats.registered.json_schema", "avro"),
    "protobuf": ("relay.encode.formats.registered.protobuf", "protobuf"),
}
"""By format, its module and the extra of this package that has its libraries."""
SCHEMA_KINDS: Final = {"avro": "AVRO", "json-schema": "JSON", "protobuf": "PROTOBUF"}
"""The registry's name of the kind of schemas, by format."""


def schema_registry(name: FormatName, instance: InstanceSettings) -> Any:
    """Return the schema registry client for the format `name`, with the instance's settings.

    Raises ConfigurationError if the libraries of the client are not installed.
    """
    return _imported(name, "relay.registry").SchemaRegistry(instance.registry)


def _registered(name: FormatName, instance: InstanceSettings, ids: Any) -> MessageFormat:
    registry = instance.registry
    form = _imported(name, _MODULES[name][0])
    made: MessageFormat
    match name:
        case "avro":
            made = form.Avro(instance.name, ids, registry.subject, registry.names)
        case "protobuf":
            made = form.Protobuf(instance.name, ids, registry.subject, registry.names)
        case _:
            made = form.JsonSchema(instance.name, ids, registry.subject)
    return made


def _imported(name: FormatName, module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as exc:
        extra = _MODULES[name][1]
        raise ConfigurationError(
            f"The format '{name}' needs the package {exc.name}, which is not installed: "
            f"install roma-relay[relay,{extra}]."
        ) from exc
