"""Checks the conditions under which an interrupted first copy may continue."""

import json
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

from spark_jobs.errors import TableChanged
from spark_jobs.origin import SourceDatabase, described_now
from spark_jobs.origin.shards import LogicalTable


def definition_of(table: LogicalTable) -> str:
    """Return a digest of the columns and the key of each shard, as the sources describe them.

    If it changes after the order key was read, changes under the older definition can have greater
    order keys than copied rows.
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
    """Return a digest of a table's shards, of the keys that order and identify their rows, and of
    the location of the copies (`place`).
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
    """Raise TableChanged if the sources now describe the table differently than `table` does."""
    shards = [
        shard
        for instance in table.instances
        for shard in described_now(
            databases[instance], [each for each in table.shards if each.instance == instance]
        )
    ]
    if definition_of(table) != definition_of(replace(table, shards=shards)):
        raise TableChanged(
            f"{table.name}: its columns or its key changed after its order key was read."
        )
