"""Copies in a real HBase of tables whose rows move between shards of two instances: a newer change
then can have a lower execute position.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from deploy.embedded import HBase
from relay.model.message import OutboundMessage
from spark_jobs.apply.apply import Copies
from spark_jobs.config.hbase import HBaseSettings
from spark_jobs.errors import InstancesMixed
from spark_jobs.hbase.cells import INFO, UPDATE_INFO
from spark_jobs.hbase.gateway import Gateway
from spark_jobs.sinks import live_rows
from tests.support.copies.hbase_rows import cells
from tests.support.copies.spark_copies import change, copies, records

pytestmark = pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
TIME_MS = 1_700_000_000_000
HIGH, LOW = 900_000, 10
"""Execute positions of the two instances."""
OpenCopies = Callable[..., Copies]


@pytest.fixture
def opened(
    spark: SparkSession, hbase: HBase, fresh_name: Callable[[str], str], tmp_path: Path
) -> OpenCopies:
    """Copies in a namespace of the test's own; arguments are settings of the section."""
    section = {"thrift": (hbase.address,), "namespace": fresh_name("instances")}

    def opened(client: str = "thrift2", **settings: object) -> Copies:
        way: dict[str, object] = (
            {} if client == "thrift2" else {"client": "jvm", "quorum": (hbase.quorum,)}
        )
        if client == "files":
            way["files"] = {"staging": (tmp_path / "staging").as_uri(), "from_rows": 1}
        return copies(spark, tmp_path, sink="hbase", hbase={**section, **way, **settings})

    return opened


def moved_row(second: int, position: int, kind: str, /, **here: str) -> OutboundMessage:
    """A change of row 1, so many seconds later."""
    time_ms = TIME_MS + 1000 * second
    return change("t", kind, "1", position, time_ms=time_ms, row=here, id="1")


def apply(place: Copies, spark: SparkSession, *messages: OutboundMessage) -> None:
    place.apply(records(spark, messages), "tests", None)


def live(place: Copies) -> Mapping[str, Mapping[str, str | None]]:
    copy = place.sink.read("shop.orders")
    assert copy is not None
    return {
        row["id"]: {name: value for name, value in row.asDict().items() if name[0] != "_"}
        for row in live_rows(copy).collect()
    }


@pytest.mark.parametrize("client", ["thrift2", pytest.param("jvm", marks=pytest.mark.long)])
def test_the_newer_change_wins_although_its_position_is_lower(
    spark: SparkSession, opened: OpenCopies, hbase: HBase, client: str
) -> None:
    place = opened(client, guard="check_and_mutate")
    apply(place, spark, moved_row(1, HIGH, "INSERT", here="a", only_first="x"))
    apply(place, spark, moved_row(2, LOW, "UPDATE", here="b"))
    assert live(place) == {"1": {"id": "1", "here": "b", "only_first": None}}
    for _ in range(2):
        apply(place, spark, moved_row(1, HIGH + 1, "UPDATE", here="late", only_first="late"))
        apply(place, spark, moved_row(3, LOW + 1, "UPDATE", here="c"))
        assert live(place) == {"1": {"id": "1", "here": "c", "only_first": None}}
    assert isinstance(place.settings.hbase, HBaseSettings)
    name = f"{place.settings.hbase.namespace}:shop.orders".encode()
    with Gateway(place.settings.hbase) as gateway:
        stored = cells(gateway, name)[b"1"]
    seen = {qualifier: value for family, qualifier, value, _ in stored if family == INFO}
    assert seen == {b"id": b"1", b"here": b"c"}, "a reader of cells sees no older value"
    guards = {qualifier: value for family, qualifier, value, _ in stored if family == UPDATE_INFO}
    assert guards[b"execute_position"] == b"%d" % (LOW + 1)
    apply(place, spark, moved_row(4, HIGH + 5, "DELETE"))
    assert live(place) == {}
    apply(place, spark, moved_row(5, LOW + 2, "INSERT", here="d"))
    apply(place, spark, moved_row(4, HIGH + 5, "DELETE"))
    assert live(place) == {"1": {"id": "1", "here": "d", "only_first": None}}


@pytest.mark.parametrize("client", ["thrift2", pytest.param("jvm", marks=pytest.mark.long)])
def test_a_forgotten_delete_hides_no_later_row_of_a_lower_position(
    spark: SparkSession, opened: OpenCopies, client: str
) -> None:
    """Until a major compaction, HBase hides what a delete of a greater timestamp covers."""
    place = opened(client, guard="check_and_mutate")
    apply(place, spark, moved_row(1, HIGH, "INSERT", here="a"))
    apply(place, spark, moved_row(2, HIGH + 1, "UPDATE", here="a2"))
    apply(place, spark, moved_row(3, HIGH + 2, "DELETE"))
    place.sink.forget_deletes(TIME_MS + 10_000, "tests")
    assert live(place) == {}
    apply(place, spark, moved_row(20, LOW, "INSERT", here="b"))
    assert live(place) == {"1": {"id": "1", "here": "b"}}
    apply(place, spark, moved_row(21, LOW + 1, "UPDATE", here="c"))
    assert live(place) == {"1": {"id": "1", "here": "c"}}


@pytest.mark.parametrize("client", ["thrift2", pytest.param("files", marks=pytest.mark.long)])
def test_several_named_instances_stop_by_name_under_version(
    spark: SparkSession, opened: OpenCopies, client: str
) -> None:
    def of(instance: str, key: str, order: int) -> OutboundMessage:
        return change("t", "INSERT", key, order, real=f"{instance}/db.orders", id=key)

    apply(opened(client), spark, of("a", "1", HIGH))
    with pytest.raises(InstancesMixed, match=r"shop\.orders is published by the instances a, b"):
        apply(opened(client), spark, of("b", "2", LOW))
    assert sorted(live(opened(client))) == ["1"], "nothing of the refused batch is written"
    apply(opened(client), spark, of("a", "3", HIGH + 1))
    apply(opened(client, several_instances="allow"), spark, of("b", "2", LOW))
    assert sorted(live(opened(client))) == ["1", "2", "3"]


@pytest.mark.parametrize("client", ["thrift2", pytest.param("jvm", marks=pytest.mark.long)])
def test_orders_that_contradict_each_other_stop_by_name_under_version(
    spark: SparkSession, opened: OpenCopies, client: str
) -> None:
    """Default headers do not name the instance."""
    apply(opened(client), spark, moved_row(1, HIGH, "INSERT", here="a"))
    apply(opened(client), spark, moved_row(2, HIGH + 4, "UPDATE", here="b"))
    apply(opened(client), spark, moved_row(1, HIGH + 3, "UPDATE", here="late"))
    with pytest.raises(InstancesMixed, match=rf"position {LOW} after one with {HIGH + 4}"):
        apply(opened(client), spark, moved_row(3, LOW, "UPDATE", here="c"))
    other = change("t", "INSERT", "2", LOW, time_ms=TIME_MS + 9000, id="2")
    with pytest.raises(InstancesMixed, match=rf"position {LOW} after one with {HIGH + 9}"):
        apply(opened(client), spark, moved_row(4, HIGH + 9, "UPDATE", here="d"), other)
    assert {key: row["here"] for key, row in live(opened(client)).items()} == {"1": "b"}
    apply(opened(client, several_instances="allow"), spark, other)
    assert sorted(live(opened(client))) == ["1", "2"]
