"""The workload: changes of one table, with repeated and late ones, and the expected rows of the
copy.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from relay.envelope import order_text

Change: TypeAlias = tuple[int, int]  # key, order
TABLE: Final = "shop.orders"
TYPES: Final = '{"id":"bigint","user_id":"int","sku":"varchar(32)","price":"decimal(12,2)","status":"varchar(8)","note":"varchar(64)"}'  # noqa: E501
TIME_MS: Final = 1_700_000_000_000
_OF_TEN: Final = ("insert",) * 6 + ("update",) * 2 + ("repeat", "late")


@dataclass(slots=True)
class Changes:
    """Random changes: of ten, six are inserts, two updates, one a repeat and one a late change.

    A repeat is a message that was sent before. A late change is older than the newest change of its
    key. Inserts and updates get even orders; a late change gets the odd order just below the
    newest order of its key.
    """

    seed: int = 1
    newest: list[int] = field(default_factory=list)
    fresh: int = 0

    def draw(self, count: int) -> Iterator[Change]:
        """Yield `count` changes. `newest` then has the expected order of each key."""
        chance = random.Random(self.seed)
        sent: list[Change] = []
        for number in range(count):
            change = self._next(_OF_TEN[number % len(_OF_TEN)], chance, sent)
            sent.append(change)
            yield change

    def _next(self, what: str, chance: random.Random, sent: list[Change]) -> Change:
        match what:
            case "insert":
                self.newest.append(self._fresh_order())
                return len(self.newest) - 1, self.newest[-1]
            case "update":
                key = chance.randrange(len(self.newest))
                self.newest[key] = self._fresh_order()
                return key, self.newest[key]
            case "repeat":
                return sent[chance.randrange(len(sent))]
            case _:
                key = chance.randrange(len(self.newest))
                return key, self.newest[key] - 1

    def _fresh_order(self) -> int:
        self.fresh += 2
        return self.fresh


def row_of(key: int, order: int) -> dict[str, str]:
    """Return the columns of a change; `user_id` identifies it."""
    return {
        "id": str(key),
        "user_id": str(order),
        "sku": f"sku-{key % 1000:05d}",
        "price": f"{order % 100_000}.50",
        "status": "paid",
        "note": f"note for order {key}",
    }


def value_of(key: int, order: int) -> bytes:
    """Return the message as the relay writes it."""
    columns = ",".join(f'"{name}":"{value}"' for name, value in row_of(key, order).items())
    return (
        f'{{"data":[{{{columns}}}],"database":"shop","es":{TIME_MS},"gtid":"","id":1,"isDdl":false,"mysqlType":{TYPES},"old":null,'
        f'"pkNames":["id"],"sql":"","sqlType":null,"table":"orders","ts":{TIME_MS},"type":"UPDATE"}}'
    ).encode()


def key_of(key: int) -> bytes:
    """Return the key of the message."""
    return f'["{TABLE}","{key}"]'.encode()


def order_of(order: int) -> str:
    """Return the header `order`."""
    return order_text(TIME_MS, order)
