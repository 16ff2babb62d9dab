"""Tables are copied into their topics beside the stream, and each key's last message is the row."""

from typing import Any

import orjson

from deploy.embedded import Kafka, SqlServer
from tests.e2e.conftest import NewInstallation
from tests.snapshots.commands import roma, wait_for
from tests.support.relays.relay_process import RelayProcess
from tests.support.rows.topic_reading import Seen, read_topic
from tests.support.waiting import wait_until


def rows_of(seen: list[Seen], table: str) -> dict[str, dict[str, Any] | None]:
    """The row of each key after its last message; None where it is deleted."""
    found: dict[str, dict[str, Any] | None] = {}
    for each in seen:
        if each.value is not None and each.value["table"] == table:
            row = each.value["data"][0]
            found[row["id"]] = None if each.value["type"] == "DELETE" else row
    return found


def test_a_table_is_copied_once_with_what_its_messages_say(
    database: SqlServer, kafka: Kafka, new_installation: NewInstallation
) -> None:
    installation = new_installation(database, kafka, routing={"key_scope": "shard"})
    name = installation.name
    database.execute(
        *(f"insert into {name}.t values ({i}, {i}, 'old')" for i in range(1, 6)),
        f"create table {name}.u (a varchar(10), b int, unique key (a, b), n int, id int)",
        f"alter table {name}.u modify a varchar(10) not null, modify b int not null",
        f"insert into {name}.u values ('x', 1, 1, 1), ('x', 2, 2, 2), ('Y', 1, 3, 3)",
    )
    with RelayProcess(installation) as relay:
        relay.wait_for("RUNNING")
        database.execute(f"update {name}.t set v = 'new' where id = 3")
        number = roma(installation, "start", f"{name}.*").split()[0]
        ended = wait_for(installation, number, "DONE")
        database.execute(f"update {name}.t set v = 'newer' where id = 4")
        wait_until(lambda: len(read_topic(kafka.bootstrap, name)) == 10, "all messages")
        repaired = roma(
            installation, "repair", f"{name}.t", "--keys", f'["{name}.t","2"]', "--keys", "77"
        )
        assert wait_for(installation, repaired.split()[0], "DONE")["rows"] == 1
        repaired = roma(installation, "repair", f"{name}.u", "--keys", '["Y","1"]')
        assert wait_for(installation, repaired.split()[0], "DONE")["rows"] == 1
        report = installation.folder / "report.json"
        differing = [
            {"key": f'["{name}.t","{shard}","{key}"]', "what": ["v"]}
            for shard, key in ((f"{name}.t", 5), (f"{name}_2.t", 1))
        ]
        report.write_bytes(
            orjson.dumps({"tables": [{"table": f"{name}.t", "different": differing}]})
        )
        repaired = roma(installation, "repair", "--report", str(report))
        assert wait_for(installation, repaired.split()[0], "DONE")["rows"] == 1
        database.execute("set sql_log_bin = 0", f"update {name}.t set v = 'unlogged' where id = 5")
        repaired = roma(installation, "repair", f"{name}.t", "--keys", "5")
        assert wait_for(installation, repaired.split()[0], "DONE")["rows"] == 1
        repaired = roma(installation, "repair", f"{name}.u", "--keys", '["y","01"]')
        under_another = wait_for(installation, repaired.split()[0], "DONE")
        assert under_another["rows"] == 1
        assert f'stores: ["{name}.u","{name}.u","Y","1"].' in under_another["reason"]
        repaired = roma(installation, "repair", f"{name}.u", "--keys", "Y")
        assert "columns" in wait_for(installation, repaired.split()[0], "REFUSED")["reason"]
    seen = read_topic(kafka.bootstrap, name)
    assert ended["rows"] == 8
    texts = {key: row and row["v"] for key, row in rows_of(seen, "t").items()}
    assert texts == {"1": "old", "2": "old", "3": "new", "4": "newer", "5": "unlogged"}
    assert {key: row and row["n"] for key, row in rows_of(seen, "u").items()} == {
        "1": "1",
        "2": "2",
        "3": "3",
    }
    copied = [each for each in seen if each.snapshot]
    assert {(each.value or {})["type"] for each in copied} == {"INSERT"}
    *copied, first, second, third, fourth, fifth = sorted(copied, key=lambda each: each.order)
    assert len(copied) == 8
    assert len({each.order for each in copied}) <= 2
    repairs = [each.order for each in (first, second, third, fourth, fifth)]
    assert sorted(set(repairs)) == repairs, "no change is between them"
    [update] = [each for each in seen if (each.value or {})["data"][0].get("v") == "newer"]
    assert first.order > update.order > max(each.order for each in copied)
