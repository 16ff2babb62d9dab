"""What a first copy must find as it was to go on behind its notes."""

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from spark_jobs.errors import TableChanged
from spark_jobs.origin import SourceDatabase, described_now
from spark_jobs.origin.shards import LogicalTable


def definition_of(table: LogicalTable) -> str:
    """Return a digest of the columns and the key of each shard, as the sources describe them.

    Where it changes after the order pair was read, changes under the older definition can have
    greater order keys than copied rows.
    """
    shards = {
        shard.name: [
            [[column.name, column.type_text, column.collation] for column in shard.columns],
            shard.key_names,
        ]
        for shard in table.shards
    }
    return sha256(json.dumps(shards, sort_keys=True).encode()).hexdigest()


def shape_of(table: LogicalTable, place: str) -> str:
    """Tell apart from every other the shards of a table, the keys that order and name their rows,
    and the place of the copies.
    """
    keys = {
        shard.name: [
            shard.shard_in_key,
            [[column.name, column.type_text, column.collation] for column in shard.key],
        ]
        for shard in table.shards
    }
    return sha256(json.dumps([place, keys], sort_keys=True).encode()).hexdigest()


def check_definition(databases: Mapping[str, SourceDatabase], table: LogicalTable) -> None:
    """Raise TableChanged where the sources describe the table otherwise than `table` does."""
    shards = [
        shard
        for instance in table.instances
        for shard in described_now(
            databases[instance], [each for each in table.shards if each.instance == instance]
        )
    ]
    if definition_of(table) != definition_of(replace(table, shards=shards)):
        raise TableChanged(
            f"{table.name}: its columns or its key changed after its order pair was read."
        )
