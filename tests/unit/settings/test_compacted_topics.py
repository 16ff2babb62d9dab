"""The last message of a key in a compacted topic is its row; other settings are refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from relay.settings import InstanceSettings

RULE = {"rules": [{"topics": "a*", "retention": "compact"}]}


@pytest.mark.parametrize("topic", [{"retention": "compact"}, RULE])
@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"row_image": "partial"}, "sends rows that lack columns"),
        ({"key_change": "canal"}, "sends no DELETE for a key that an UPDATE changed"),
        ({"field_tags": "separate"}, "sends a message for each tag"),
    ],
)
def test_settings_under_which_the_last_message_is_not_the_row_are_refused(
    topic: dict[str, Any], message: dict[str, str], reason: str
) -> None:
    source = {"host": "h", "user": "u", "server_id": 1}
    fields = {"name": "shop", "source": source}
    InstanceSettings.model_validate({**fields, "topic": topic})
    InstanceSettings.model_validate({**fields, "message": message})
    [(name, value)] = message.items()
    with pytest.raises(ValidationError, match=f"message.{name} = '{value}' {reason}"):
        InstanceSettings.model_validate({**fields, "topic": topic, "message": message})
