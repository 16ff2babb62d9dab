"""Which settings contradict each message format (docs/formats/index.md). The instance's settings
model calls `refusals` and `refusal_of_all`.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, TypeAlias

from pydantic import Field, field_validator

from relay.settings.base import Settings
from relay.settings.secrets import Secret

FormatName: TypeAlias = Literal[
    "canal-json",
    "debezium-json",
    "maxwell-json",
    "cloudevents",
    "avro",
    "json-schema",
    "protobuf",
]
REGISTERED: Final[frozenset[FormatName]] = frozenset({"avro", "json-schema", "protobuf"})
"""Formats whose schemas are stored in a schema registry."""


class RegistrySettings(Settings):
    """The schema registry of the formats `avro`, `json-schema` and `protobuf`."""

    url: str | None = None
    """URL of its Confluent-compatible API, such as `http://registry:8081`."""
    user: str | None = None
    """User. Not set: requests carry no login."""
    password: Secret | None = None
    """Password of the user."""
    ca: Path | None = None
    """PEM file of the authority of the registry. Not set: the system's authorities."""
    subject: Literal["topic_record_name", "record_name", "topic_name"] = "topic_record_name"
    """Subject of a schema: topic and logical table, only the logical table, or only the topic."""
    auto_register: bool = True
    """Register new schemas. False: a schema that the registry lacks stops the instance."""
    names: Literal["strict", "escape"] = "strict"
    """Treatment of a name that Avro or Protobuf does not allow: stop the instance, or escape the
    name.
    """
    timeout_seconds: Annotated[float, Field(gt=0)] = 5
    """Timeout of a request to the registry."""

    @field_validator("url")
    @classmethod
    def _has_no_login(cls, value: str | None) -> str | None:
        """Refuse a login in the URL, which logs and error messages show."""
        _, _, behind = (value or "").partition("//")
        if "@" in behind.partition("/")[0]:
            raise ValueError(
                "must not contain a login, which logs would show; set registry.user and "
                "registry.password"
            )
        return value


class Refusal(NamedTuple):
    """A setting that a format excludes: its name, the refused values, and the reason."""

    setting: str
    values: tuple[object, ...]
    reason: str


_STYLE: Final = Refusal(
    "value_style", ("canal",), "value_style = 'canal' is for canal-json; remove it"
)
_PACKED: Final = Refusal(
    "rows_per_message", ("event",), "its messages hold one row; set rows_per_message = 'row'"
)
_STATEMENTS_BESIDE_ROWS: Final = Refusal(
    "ddl",
    ("inline", "barrier"),
    "its readers fail on statements in a topic of rows; set ddl = 'topic' or 'drop'",
)
_CANAL_ALONE: Final = (_STYLE, _PACKED, _STATEMENTS_BESIDE_ROWS)
_ONE_ID_A_CHANGE: Final = Refusal(
    "field_tags",
    ("separate",),
    "the messages of one change would have one id, by which readers drop repeated events; set "
    "field_tags = 'header'",
)


def _shows_null(what: str) -> Refusal:
    return Refusal(
        "row_image", ("partial",), f"{what} shows an unknown column as null; set row_image = 'full'"
    )


REFUSED: Final[Mapping[FormatName, tuple[Refusal, ...]]] = {
    "canal-json": (),
    "debezium-json": _CANAL_ALONE,
    "maxwell-json": _CANAL_ALONE,
    "cloudevents": (*_CANAL_ALONE, _ONE_ID_A_CHANGE),
    "avro": (*_CANAL_ALONE, _shows_null("a record")),
    "json-schema": _CANAL_ALONE,
    "protobuf": (*_CANAL_ALONE, _shows_null("a message")),
}
"""Settings that each format cannot be combined with. Every other combination works."""
PARTIAL_WITH_SCHEMA: Final = Refusal(
    "row_image",
    ("partial",),
    "a value with a schema shows an unknown column as NULL; set row_image = 'full', "
    "schemas = false or format = 'canal-json'",
)


NO_SCHEMAS: Final = (
    "message.schemas = true is for topics with the format debezium-json, and the instance has "
    "none; remove schemas"
)


def refusals(where: str, name: FormatName, settings: Mapping[str, object]) -> list[str]:
    """Return a sentence for each setting that contradicts the format.

    `where` is the setting that names the format. `settings` maps each name of `message` to its
    value.
    """
    with_schemas = name == "debezium-json" and bool(settings["schemas"])
    rules = REFUSED[name] + ((PARTIAL_WITH_SCHEMA,) if with_schemas else ())
    return [
        f"{where} = '{name}' cannot have message.{rule.setting} = "
        f"{settings[rule.setting]!r}: {rule.reason}"
        for rule in rules
        if settings[rule.setting] in rule.values
    ]


def refusal_of_all(
    names: Collection[FormatName], registry: RegistrySettings, *, schemas: bool
) -> str | None:
    """Return a sentence if a setting contradicts the formats of an instance together, else None.

    `schemas` is the setting `message.schemas`.
    """
    if schemas and "debezium-json" not in names:
        return NO_SCHEMAS
    kinds = [each for each in names if each in REGISTERED]
    if len(kinds) > 1 and registry.subject == "record_name":
        return (
            "registry.subject = 'record_name' gives the schemas of a table one subject, and a "
            f"subject may have schemas of only one of {', '.join(kinds)}; set "
            "'topic_record_name'"
        )
    return None
