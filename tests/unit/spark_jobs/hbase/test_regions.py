"""Which regions of a table are read."""

from spark_jobs.hbase.connection import idl
from spark_jobs.hbase.task import regions_of


def location(start: bytes, end: bytes, replica: int | None) -> object:
    region = idl.THRegionInfo(
        regionId=0, tableName=b"roma:shop.orders", startKey=start, endKey=end, replicaId=replica
    )
    return idl.THRegionLocation(serverName=idl.TServerName(hostName="one"), regionInfo=region)


def test_a_region_with_replicas_is_read_once() -> None:
    told = [location(b"", b"m", 0), location(b"", b"m", 1), location(b"m", b"", None)]
    assert regions_of(told) == [(b"", b"m"), (b"m", b"")]
