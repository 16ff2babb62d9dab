"""The dead letter topic that a client makes."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from roma_client.kafka.dead_letters import DeadLetterTopic
from tests.support.clients.made_records import row_record


def test_letters_stay_until_an_operator_deletes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    answer = SimpleNamespace(result=lambda _: None)

    def create_topics(topics: list[Any]) -> dict[str, Any]:
        made.extend(topics)
        return {each.topic: answer for each in topics}

    module = "roma_client.kafka.dead_letters"
    admin = SimpleNamespace(create_topics=create_topics)
    monkeypatch.setattr(f"{module}.AdminClient", lambda _: admin)
    monkeypatch.setattr(f"{module}.Producer", lambda _: Mock(flush=lambda _: 0))
    DeadLetterTopic({}, "letters", "group").store(row_record([{"id": "1"}]), "poison")
    (topic,) = made
    assert (topic.topic, topic.config["retention.ms"]) == ("letters", "-1")
