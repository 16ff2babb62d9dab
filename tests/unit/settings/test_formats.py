"""A format that cannot be combined with another setting is refused by name, with the way out."""

from typing import Any

import pytest
from pydantic import ValidationError

from relay.settings import InstanceSettings, MessageSettings
from relay.settings.unknown_keys import told_errors

REGISTRY: dict[str, Any] = {"registry": {"url": "http://r"}}


def instance(*rules: dict[str, Any], **settings: Any) -> InstanceSettings:
    return InstanceSettings.model_validate(
        {
            "name": "shop",
            "source": {"host": "h", "user": "u", "server_id": 7},
            "topic": {"rules": rules},
            **settings,
        }
    )


@pytest.mark.parametrize(
    ("form", "others"),
    [
        ("debezium-json", {"value_style": "canal"}),
        ("debezium-json", {"rows_per_message": "event"}),
        ("debezium-json", {"ddl": "inline"}),
        ("debezium-json", {"ddl": "barrier"}),
        ("debezium-json", {"schemas": True, "row_image": "partial"}),
        ("maxwell-json", {"rows_per_message": "event"}),
        ("maxwell-json", {"ddl": "inline"}),
        ("cloudevents", {"field_tags": "separate"}),
        ("cloudevents", {"ddl": "barrier"}),
        ("json-schema", {"value_style": "canal"}),
        ("protobuf", {"row_image": "partial"}),
    ],
)
def test_what_cannot_be_combined(form: Any, others: dict[str, Any]) -> None:
    name, value = list(others.items())[-1]
    with pytest.raises(ValidationError) as refused:
        MessageSettings(format=form, **others)
    assert f"message.format = '{form}' cannot have message.{name} = {value!r}: " in str(
        refused.value
    )


@pytest.mark.parametrize(
    "others",
    [
        {"field_tags": "separate"},
        {"tombstones": True},
        {"key_change": "canal"},
        {"key_values": "printed"},
        {"system_versions": "rows"},
        {"row_image": "partial"},
        {"ddl": "drop"},
        {"headers": "full"},
        {"schemas": True},
    ],
)
def test_what_can_be_combined(others: dict[str, Any]) -> None:
    assert MessageSettings(format="debezium-json", **others).format == "debezium-json"


def test_the_first_rule_of_a_topic_names_its_format_and_that_of_its_statements() -> None:
    shop = instance(
        {"topics": "lake.raw.*", "retention": "72h"},
        {"topics": "lake.*", "format": "avro"},
        {"topics": "*.debezium", "format": "debezium-json"},
        **REGISTRY,
    )
    named = {
        "lake.orders": "avro",
        "lake.orders.ddl": "avro",
        "lake.debezium": "avro",
        "lake.raw.orders": "canal-json",
        "orders.debezium": "debezium-json",
        "orders": "canal-json",
    }
    assert {topic: shop.format_of(topic) for topic in named} == named
    assert shop.formats == ("canal-json", "avro", "debezium-json")


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ("debezium-json", {"rows_per_message": "event"}),
        ("maxwell-json", {"value_style": "canal"}),
        ("cloudevents", {"field_tags": "separate"}),
        ("avro", {"ddl": "inline"}),
        ("protobuf", {"row_image": "partial"}),
    ],
)
def test_the_format_of_a_topic_must_work_with_the_settings_of_all_messages(
    form: str, message: dict[str, Any]
) -> None:
    ((name, value),) = message.items()
    rules = {"topics": "a", "retention": "24h"}, {"topics": "b", "format": form}
    with pytest.raises(ValidationError) as refused:
        instance(*rules, message=message, **REGISTRY)
    expected = f"topic.rules[1].format = '{form}' cannot have message.{name} = {value!r}: "
    assert expected in str(refused.value)


def test_the_format_of_a_topic_may_need_a_registry() -> None:
    with pytest.raises(ValidationError, match=r"topic.rules\[0\].format = 'avro' needs registry"):
        instance({"topics": "b", "format": "avro"})


def test_an_unknown_format_of_a_topic_is_refused() -> None:
    with pytest.raises(ValidationError, match="Input should be 'canal-json', 'debezium-json'"):
        instance({"topics": "b", "format": "csv"})


@pytest.mark.parametrize("form", ["canal-json", "maxwell-json", "cloudevents", "avro", "protobuf"])
def test_schemas_in_messages_need_a_topic_of_debezium_json(form: str) -> None:
    message = {"format": form, "schemas": True}
    with pytest.raises(ValidationError, match="the instance has none; remove schemas"):
        instance(message=message, **REGISTRY)
    rule = {"topics": "b", "format": "debezium-json"}
    assert instance(rule, message=message, **REGISTRY).message.schemas


def test_schemas_show_no_partial_rows_whichever_topic_has_them() -> None:
    rule = {"topics": "b", "format": "debezium-json"}
    with pytest.raises(ValidationError, match="an unknown column as NULL"):
        instance(rule, message={"schemas": True, "row_image": "partial"})


def test_two_formats_with_schemas_do_not_share_a_subject() -> None:
    registered = {"url": "http://r", "subject": "record_name"}
    rules = [{"topics": "lake", "format": "avro"}, {"topics": "proto", "format": "protobuf"}]
    with pytest.raises(
        ValidationError, match="a subject may have schemas of only one of avro, protobuf"
    ):
        instance(*rules, registry=registered)
    assert instance(rules[0], registry=registered).formats == ("canal-json", "avro")


@pytest.mark.parametrize("url", ["http://me:secret@r:8081", "https://me@r"])
def test_a_login_in_the_url_of_the_registry_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(ValidationError, match=r"set registry\.user and registry\.password") as seen:
        instance(message={"format": "avro"}, registry={"url": url})
    told = told_errors(seen.value, InstanceSettings)
    assert [each["loc"] for each in told] == [("registry", "url")]
    assert "secret" not in str(told)
