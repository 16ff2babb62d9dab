"""Messages that `relay.testing` makes are those of a relay, byte for byte."""

import json
from contextlib import closing
from typing import Any

from confluent_kafka import Consumer, Message

from relay.testing import Clock, MadeMessage, MessageMaker
from tests.e2e.client.conftest import Shop
from tests.support.waiting import wait_until


def test_made_messages_are_the_bytes_of_the_relay(shop: Shop) -> None:
    columns = (
        "u bigint unsigned, m mediumint unsigned, s smallint, d decimal(10,2), f float, g double, "
        "e enum('a','b'), w set('a','b'), c char(3), b varbinary(4), x text, y blob, z year, "
        "p bit(3), k date, q time(3), r datetime(3), o timestamp null, h point, i uuid, j inet6"
    )
    shop.execute(
        f"alter table {{t}} {', '.join(f'add {each}' for each in _columns(columns))}",
        "insert into {t} (id, n, u, d, e) values (1, 2, 3, 4.5, 'b')",
        "update {t} set n = 3, e = 'a', y = x'00', i = uuid() where id = 1",
        "delete from {t} where id = 1",
    )
    published = _read(shop, 3)
    kinds = []
    for each in published:
        value = json.loads(each.value() or b"")
        order = dict(each.headers() or [])["order"]
        assert isinstance(order, bytes)
        time, position = map(int, order.split(b"."))
        maker = MessageMaker(
            shop.name,
            "t",
            value["mysqlType"],
            value["pkNames"],
            clock=Clock(time, position - 1),
            gtid=value["gtid"],
        )
        made = _made(maker, value)
        kinds.append(value["type"])
        assert json.loads(made.value or b"")["sqlType"] == value["sqlType"]
        assert _plain(made.value) == _plain(each.value())
        assert (made.key, made.headers) == (each.key(), each.headers())
    assert kinds == ["INSERT", "UPDATE", "DELETE"]


def _columns(text: str) -> list[str]:
    """Split a column list at the commas outside parentheses."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return found


def _made(maker: MessageMaker, value: dict[str, Any]) -> MadeMessage:
    row = value["data"][0]
    match value["type"]:
        case "INSERT":
            return maker.insert(row)
        case "UPDATE":
            return maker.update({**row, **value["old"][0]}, row)
        case _:
            return maker.delete(row)


def _plain(value: bytes | None) -> bytes:
    """The value with the same times and batch in all messages, otherwise byte for byte."""
    text = value or b""
    for field in (b"es", b"id", b"ts"):
        found = json.loads(text)[field.decode()]
        text = text.replace(b'"%b":%d,' % (field, found), b'"%b":0,' % field, 1)
    return text


def _read(shop: Shop, count: int) -> list[Message]:
    found: list[Message] = []
    settings = {"bootstrap.servers": shop.kafka.bootstrap, "group.id": f"{shop.name}-bytes"}
    with closing(Consumer({**settings, "auto.offset.reset": "earliest"})) as consumer:
        consumer.subscribe([shop.name])

        def complete() -> bool:
            found.extend(each for each in consumer.consume(10, 0.2) if each.error() is None)
            return len(found) >= count

        wait_until(complete, "the messages")
    return found
