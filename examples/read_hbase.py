"""Read the live rows of a copy in HBase, through a Thrift2 gateway: `python examples/read_hbase.py
localhost:9090 roma:shop.orders`.

It needs `pip install 'roma-relay[spark]'` for the description of Thrift2. happybase and other
clients of the first Thrift do not work.
"""

import json
import sys
from collections.abc import Iterator

from thriftpy2.rpc import make_client

from spark_jobs.hbase.connection import idl

PAGE = 1000


def live_rows(address: str, table: str) -> Iterator[tuple[bytes, dict[str, str | None]]]:
    """Return row key and columns of every row that the source has, as text; None: NULL."""
    host, _, port = address.rpartition(":")
    client = make_client(idl.THBaseService, host, int(port))
    start = b""
    while results := client.getScannerResults(
        table.encode(), idl.TScan(startRow=start, caching=PAGE), PAGE
    ):
        for result in results:
            cells = {(cell.family, cell.qualifier): cell for cell in result.columnValues}
            order = cells[b"update_info", b"order"]
            # An older cell is left over from a column that the newest change does not have.
            now = {
                place: cell.value
                for place, cell in cells.items()
                if cell.timestamp == order.timestamp
            }
            if (b"update_info", b"deleted") not in now:
                columns = {
                    name.decode(): value.decode()
                    for (family, name), value in now.items()
                    if family == b"info"
                }
                nulls = json.loads(now.get((b"update_info", b"nulls"), b"[]"))
                yield result.row, {**columns, **dict.fromkeys(nulls)}
        start = results[-1].row + b"\0"
    client.close()


if __name__ == "__main__":
    for key, row in live_rows(*sys.argv[1:3]):
        print(key.decode(errors="backslashreplace"), json.dumps(row, ensure_ascii=False))
