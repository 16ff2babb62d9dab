"""The section of the configuration."""

import pytest
from pydantic import ValidationError

from spark_jobs.config.hbase import HBaseSettings


@pytest.mark.parametrize("address", ["hbase1:9090", "127.0.0.1:9090", "[::1]:9090", "a.b-c:1"])
def test_a_gateway_is_host_and_port(address: str) -> None:
    assert HBaseSettings(thrift=(address,)).thrift == (address,)


@pytest.mark.parametrize(
    "address", ["hbase1", "hbase1:", ":9090", "::1:9090", "a b:1", "hbase1:123456"]
)
def test_anything_else_is_refused(address: str) -> None:
    with pytest.raises(ValidationError):
        HBaseSettings(thrift=(address,))


def test_the_java_client_needs_the_quorum_and_nobody_else_takes_it() -> None:
    jvm = HBaseSettings(
        thrift=("a:1",),
        client="jvm",
        quorum=("z:2181",),
        client_options={"zookeeper.znode.parent": "/hbase-unsecure"},
    )
    assert (HBaseSettings(thrift=("a:1",)).client, jvm.quorum) == ("thrift2", ("z:2181",))
    for wrong in (
        {"client": "jvm"},
        {"quorum": ("z:2181",)},
        {"client": "jvm", "quorum": ("z",)},
        {"client_options": {"a": "b"}},
    ):
        with pytest.raises(ValidationError):
            HBaseSettings.model_validate({"thrift": ("a:1",), **wrong})


def test_there_is_at_least_one_gateway_and_the_salt_is_one_byte() -> None:
    with pytest.raises(ValidationError):
        HBaseSettings(thrift=())
    with pytest.raises(ValidationError):
        HBaseSettings(thrift=("a:1",), salt_buckets=257)


def test_files_need_the_java_client_and_the_guard_that_compares_nothing() -> None:
    way = {"thrift": ("a:1",), "client": "jvm", "quorum": ("z:2181",)}
    found = HBaseSettings.model_validate(
        {**way, "files": {"staging": "hdfs:///roma/staging"}}
    ).files
    assert found is not None
    assert found.from_rows == 50_000
    for wrong in (
        {"guard": "check_and_mutate"},
        {"client": "thrift2", "quorum": ()},
        {"files": {"staging": "/no/scheme"}},
    ):
        with pytest.raises(ValidationError, match="files"):
            HBaseSettings.model_validate(
                {**way, "files": {"staging": "hdfs:///roma/staging"}, **wrong}
            )
