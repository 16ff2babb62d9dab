"""Faults, statements and acts of operators while tables are copied, chosen at random."""

import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from threading import Event

from pymysql import OperationalError
from typer.testing import CliRunner

from deploy.embedded import Kafka, SqlServer
from relay.cli import app
from relay.model.failover import ServerRole
from tests.snapshots.commands import requests, roma
from tests.snapshots.random_load import LOCKED
from tests.support.relays.relay_process import Installation, RelayProcess
from tests.support.rows.held_commit import held
from tests.support.sources.source_pair import caught_up
from tests.support.waiting import wait_until

SKIPPED_KEY = -1
"""The row that only skipped transactions change; it is not compared."""


@dataclass(slots=True)
class Acts:
    """Acts on one installation while a request is carried out.

    `schema`: the real database. `replica` of the source, also its standby; None without one.
    `own_broker`: whether the broker may stand still for seconds. `heal`: a table took another
    name too late for the request, so that a second one must copy it.
    """

    installation: Installation
    database: SqlServer
    relay: RelayProcess
    kafka: Kafka
    schema: str
    number: str
    chance: Random
    replica: SqlServer | None = None
    own_broker: bool = False
    heal: bool = False
    _next: int = 0
    _types: dict[str, bool] = field(default_factory=dict)

    def by_name(self) -> dict[str, Callable[[], None]]:
        """Return the acts that this installation can meet."""
        mysql = self.database.family == "mysql"
        other = "utf8mb4_0900_bin" if mysql else "utf8mb4_nopad_bin"
        found: dict[str, Callable[[], None]] = {
            "kill": self.kill,
            "kill twice": self.kill_twice,
            "alter": self.alter,
            "pause": self.pause,
            "edit": self.edit_mapping,
            "rotate": self.rotate,
            "key type": partial(self._retype, "k", "id bigint not null", "id int not null"),
            "collation": partial(
                self._retype,
                "u",
                "a varchar(10) character set utf8mb4 collate utf8mb4_bin not null",
                f"a varchar(10) character set utf8mb4 collate {other} not null",
            ),
            "rename": self.rename,
            "truncate": self.truncate,
            "XA": self.xa,
            "skip": self.skip,
            "large": self.large,
        }
        if self.replica is not None:
            found |= {"switch": self.switch, "held": self.hold}
        if self.own_broker:
            found["spool"] = self.spool
        return found

    def kill(self) -> None:
        """Kill the relay and start it again."""
        self.relay.kill()
        self.relay.start()

    def kill_twice(self) -> None:
        """Kill the relay again while it starts."""
        self.kill()
        self.kill()

    def alter(self) -> None:
        """Add a column."""
        self._execute(f"alter table {self.schema}.k add column c{self._new()} int default 7")

    def pause(self) -> None:
        """Pause the request and let it continue."""
        with suppress(AssertionError):  # it may end at this moment
            roma(self.installation, "pause", self.number)
            roma(self.installation, "resume", self.number)

    def edit_mapping(self) -> None:
        """Save another mapping set."""
        self.installation.map(tags=[{"logicTb": "k", "tag": f"k{self._new()}"}])

    def rotate(self) -> None:
        """Begin another binlog file."""
        self._execute("flush binary logs")

    def _retype(self, table: str, one: str, other: str) -> None:
        """Give a column of the key another type or collation, and back the next time."""
        changed = self._types.get(table, False)
        self._types[table] = not changed
        self._execute(f"alter table {self.schema}.{table} modify {other if changed else one}")

    def rename(self) -> None:
        """Give the name of a copied table to another one with other rows."""
        new, old = f"{self.schema}.k_new", f"{self.schema}.k_old{self._new()}"
        table = f"{self.schema}.k"
        self._execute(
            f"create table {new} like {table}",
            f"insert into {new} select * from {table} where id % 3 = 0",
            f"update {new} set n = n + 1000",
            f"rename table {table} to {old}, {new} to {table}",
        )
        self.heal |= not (self._has_tables_left() and self._has_tables_left())

    def truncate(self) -> None:
        """Empty a copied table."""
        self._execute(f"truncate table {self.schema}.k")

    def xa(self) -> None:
        """Change rows in a prepared transaction that commits later."""
        first, name = self.chance.randrange(2000), f"'{self.schema}-{self._new()}'"
        with self.database.connect() as connection, connection.cursor() as cursor:
            for statement in (
                f"xa start {name}",
                f"update {self.schema}.k set n = n + 1 where id between {first} and {first + 9}",
                f"xa end {name}",
                f"xa prepare {name}",
            ):
                cursor.execute(statement)
            Event().wait(self.chance.uniform(0, 0.5))
            cursor.execute(f"xa commit {name}")

    def skip(self) -> None:
        """Let a transaction be skipped that the relay has not read."""
        self.relay.kill()
        change = (
            f"insert into {self.schema}.k (id, n, v) values ({SKIPPED_KEY}, 1, 'x') "
            "on duplicate key update n = n + 1"
        )
        with self.database.connect() as connection, connection.cursor() as cursor:
            if self.database.family == "mysql":
                gtid = f"{uuid.UUID(int=self.chance.getrandbits(128))}:1"
                cursor.execute(f"set gtid_next = '{gtid}'")
                cursor.execute(change)
                cursor.execute("set gtid_next = 'AUTOMATIC'")
            else:
                cursor.execute(change)
                cursor.execute("select @@last_gtid")
                [(gtid,)] = cursor.fetchall()
        asked = ["position", "skip", "shop", "--gtid", str(gtid), "--yes", "shop"]
        done = CliRunner().invoke(app, [*asked, "--config", str(self.installation.file)])
        assert done.exit_code == 0, done.output
        self.relay.start()

    def large(self) -> None:
        """Change so many rows at once that the transaction is published in parts."""
        self._execute(f"update {self.schema}.k set n = n + 1, v = repeat('large', 8)")

    def switch(self) -> None:
        """Read the other server, and the first one the next time."""
        wanted = ServerRole.MASTER if self._types.get("standby") else ServerRole.STANDBY
        self._types["standby"] = wanted is ServerRole.STANDBY
        self.installation.failover.change_orders(
            "shop", lambda orders: replace(orders, switch_to=wanted, by="test")
        )
        wait_until(
            lambda: (
                (view := self.installation.failover.view("shop")) is not None
                and view.followed_role is wanted
            ),
            f"the switch to {wanted}",
        )

    def hold(self) -> None:
        """Log changes for a second before a SELECT sees them (AFTER_SYNC).

        The load's commits wait, too; a row of theirs is locked.
        """
        assert self.replica is not None
        change = f"insert into {self.schema}.t (id) values ({self._new()})"
        with held(self.database, self.replica, change):
            Event().wait(1)

    def spool(self) -> None:
        """Let the broker stand still for longer than events wait in memory."""
        self.kafka.pause()
        Event().wait(3)
        self.kafka.resume()

    def end(self) -> None:
        """Bring back what the comparison needs."""
        if self._types.get("standby"):
            assert self.replica is not None
            caught_up(self.replica, self.database)

    def _has_tables_left(self) -> bool:
        Event().wait(1)
        [request] = [each for each in requests(self.installation) if each["id"] == self.number]
        return bool(request["state"] == "RUNNING" and request["progress"].get("tables_left", 0))

    def _execute(self, *statements: str) -> None:
        """Execute statements, each until the load's locks let it through."""
        for statement in statements:
            while not self._executed(statement):
                pass

    def _executed(self, statement: str) -> bool:
        try:
            self.database.execute(statement)
        except OperationalError as exc:
            if exc.args[0] not in LOCKED:
                raise
            return False
        return True

    def _new(self) -> int:
        self._next += 1
        return self._next
