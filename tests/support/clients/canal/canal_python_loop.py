"""The usual loop of canal-python: get a batch, print its rows, acknowledge it.

Arguments: host, port, destination, filter, number of rows to end after. Run with
PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=python: its generated modules are too old for the compiled
library of Protobuf.
"""

import sys
import time

from canal.client import Client
from canal.protocol import EntryProtocol_pb2


def main() -> None:
    """Run the loop."""
    host, port, destination, filter_, rows = sys.argv[1:]
    client = Client()
    client.connect(host=host, port=int(port))
    client.check_valid(username=b"", password=b"")
    client.subscribe(client_id=b"1001", destination=destination.encode(), filter=filter_.encode())
    left = int(rows)
    while left > 0:
        message = client.get(100)
        for entry in message["entries"]:
            left -= printed(entry)
        time.sleep(0.1)
    client.disconnect()


def printed(entry: EntryProtocol_pb2.Entry) -> int:
    """Print the rows of an entry; return how many it has."""
    if entry.entryType != EntryProtocol_pb2.EntryType.ROWDATA:
        return 0
    change = EntryProtocol_pb2.RowChange()
    change.MergeFromString(entry.storeValue)
    kind = EntryProtocol_pb2.EventType.Name(entry.header.eventType)
    for row in change.rowDatas:
        columns = row.beforeColumns if kind == "DELETE" else row.afterColumns
        texts = [f"{each.name}={each.value}" for each in columns]
        print(kind, f"{entry.header.schemaName}.{entry.header.tableName}", *texts)
    return len(change.rowDatas)


if __name__ == "__main__":
    main()
