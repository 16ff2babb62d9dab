"""What a first copy must find as it was to go on behind its notes."""

import json
from hashlib import sha256

from spark_jobs.sources import LogicalTable


def shape_of(table: LogicalTable, place: str) -> str:
    """Tell apart from every other the shards of a table, the keys that order and name their rows, and the place of the copies."""
    keys = {
        shard.name: [shard.shard_in_key, [[column.name, column.type_text, column.collation] for column in shard.key]]
        for shard in table.shards
    }
    return sha256(json.dumps([place, keys], sort_keys=True).encode()).hexdigest()
