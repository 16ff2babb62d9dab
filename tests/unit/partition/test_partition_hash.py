"""Every vector recorded from Canal's own class, and what they leave open."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.errors import PartitionRuleRefused
from relay.model.table import TableId
from relay.partition import PartitionRule, java_hash

VECTORS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "golden" / "partition_hash.json").read_text(encoding="utf-8")
)


def _vectors(kind: str) -> list[Any]:
    return [pytest.param(vector, id=vector["id"]) for vector in VECTORS if vector["kind"] == kind]


def _rule(vector: dict[str, Any]) -> PartitionRule:
    # Canal reads a count that is not configured as one partition.
    partitions = 1 if vector["partitionsNum"] is None else vector["partitionsNum"]
    return PartitionRule(
        vector["partitionHash"], database_hash=vector["databaseHash"], partitions=partitions
    )


def _placed(vector: dict[str, Any]) -> dict[int, list[dict[str, str | None]]]:
    """Place a vector's rows, grouped by partition in their order."""
    columns = tuple(vector["columns"])
    key = tuple(columns.index(name) for name in vector["keyColumns"])
    partitioning = _rule(vector).for_table(
        TableId(vector["database"], vector["table"]), columns, key
    )
    placed: dict[int, list[dict[str, str | None]]] = {}
    for row in vector["rows"]:
        image = row["before"] if vector["type"] == "DELETE" else row["after"]
        partition = partitioning.partition_of([image[ordinal] for ordinal in partitioning.ordinals])
        placed.setdefault(partition, []).append(dict(zip(columns, image, strict=True)))
    return placed


@pytest.mark.parametrize("vector", _vectors("hash"))
def test_hash_code_equals_javas(vector: dict[str, Any]) -> None:
    assert java_hash(vector["text"]) == vector["expect"]["hashCode"]


@pytest.mark.parametrize("vector", _vectors("partition"))
def test_rows_land_where_canal_puts_them(vector: dict[str, Any]) -> None:
    if "flat_error" in vector["expect"] or "(?!" in (vector["partitionHash"] or ""):
        # Where Canal dies on the first row, the configuration is refused before it; so is a
        # look-ahead, which RE2 does not have.
        with pytest.raises(PartitionRuleRefused):
            _rule(vector)
        return
    if vector["isDdl"] or not vector["rows"] or not vector["partitionHash"]:
        # Nothing to hash: Canal's answer is partition 0, and so is the publisher's for anything
        # that is not a row.
        assert [message["partition"] for message in vector["expect"]["flat"]] == [0]
        return
    assert _placed(vector) == {
        message["partition"]: message["data"] for message in vector["expect"]["flat"]
    }


def test_no_rule_means_every_row_by_its_key() -> None:
    table = TableId("shop", "orders")
    unset = PartitionRule("", database_hash=True, partitions=16).for_table(table, ("id",), (0,))
    by_key = PartitionRule(".*\\..*:$pk$", database_hash=True, partitions=16).for_table(
        table, ("id",), (0,)
    )
    assert unset == by_key
    assert {unset.partition_of([str(number)]) for number in range(200)} == set(range(16))


def test_a_rule_that_is_no_expression_is_refused() -> None:
    with pytest.raises(PartitionRuleRefused, match="shop"):
        PartitionRule("shop\\.(:id", database_hash=True, partitions=3)


def test_an_update_of_a_hashed_column_changes_the_partition() -> None:
    partitioning = PartitionRule("d.t:owner", database_hash=False, partitions=7).for_table(
        TableId("d", "t"), ("id", "owner"), (0,)
    )
    assert partitioning.ordinals == (1,)
    assert partitioning.changes_partition(["a"], ["b"])
    assert not partitioning.changes_partition(["a"], ["a"])
    assert not partitioning.changes_partition(["a"], ["h"])  # 97 and 104 are equal mod 7


def _reference_hash(text: str) -> int:
    """Write Java's definition down again, by its formula of powers over big-endian units."""
    octets = text.encode("utf-16-be", "surrogatepass")
    units = [int.from_bytes(octets[at : at + 2], "big") for at in range(0, len(octets), 2)]
    total = sum(unit * 31 ** (len(units) - 1 - at) for at, unit in enumerate(units))
    signed: int = (total + 2**31) % 2**32 - 2**31
    return signed


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=80))
def test_hash_code_equals_its_formula(text: str) -> None:
    assert java_hash(text) == _reference_hash(text)


@given(
    st.lists(
        st.sampled_from(["d.t:a", "d.t:b", "d\\..*:a^b", "x.y:a", ".*\\..*:$pk$", "d.t"]),
        min_size=1,
        max_size=5,
    )
)
def test_the_first_rule_that_matches_decides(rules: list[str]) -> None:
    table, columns, key = TableId("d", "t"), ("a", "b"), (0,)

    def of(rule: str) -> object:
        return PartitionRule(rule, database_hash=True, partitions=5).for_table(table, columns, key)

    matching = [rule for rule in rules if not rule.startswith("x.")]
    assert of(",".join(rules)) == of(matching[0] if matching else "x.y:a")


@pytest.mark.slow
@given(st.lists(st.none() | st.text(), min_size=3, max_size=3), st.integers(1, 1000))
def test_every_row_has_a_partition(texts: list[str | None], partitions: int) -> None:
    partitioning = PartitionRule("d.t:a^b^c", database_hash=True, partitions=partitions).for_table(
        TableId("d", "t"), ("a", "b", "c"), ()
    )
    assert 0 <= partitioning.partition_of(texts) < partitions
