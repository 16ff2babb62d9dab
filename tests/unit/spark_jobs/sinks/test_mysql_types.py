import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.types import DataType, StringType

from spark_jobs.transforms import spark_type, widest

_TYPES = {
    "tinyint": "tinyint", "tinyint(1)": "tinyint", "BOOL": "tinyint",
    "tinyint unsigned": "smallint", "TINYINT(3) unsigned": "smallint",
    "smallint": "smallint", "smallint(5) unsigned": "int", "mediumint(9)": "int",
    "mediumint(8) unsigned": "int",
    "int": "int", "INTEGER(1)": "int", "int(10) unsigned": "bigint",
    "int(8) unsigned zerofill": "bigint", "int(8) zerofill": "bigint",
    "bigint(20)": "bigint", "BIGINT unsigned": "decimal(20,0)", "serial": "decimal(20,0)",
    "year": "smallint", "year(4)": "smallint", "bit": "bigint", "BIT(63)": "bigint",
    "bit(64)": "decimal(20,0)",
    "decimal": "decimal(10,0)", "DECIMAL(5)": "decimal(5,0)", "numeric(1,1)": "decimal(1,1)",
    "decimal(10,2) unsigned": "decimal(10,2)",
    "decimal(12, 3) unsigned zerofill": "decimal(12,3)", "decimal(38,30)": "decimal(38,30)",
    "decimal(39,0)": "string", "decimal(65,30)": "string",
    "float": "float", "FLOAT(24)": "float", "float(7,3)": "float", "float(30,3)": "float",
    "float(53)": "double", "float unsigned": "float",
    "double": "double", "double precision": "double", "DOUBLE(20,5)": "double", "REAL": "double",
    "date": "date", "datetime(3)": "timestamp_ntz", "DATETIME": "timestamp_ntz",
    "timestamp(6)": "timestamp", "time(6)": "string",
    "binary(16)": "binary", "varbinary(20)": "binary", "MEDIUMBLOB": "binary", "point": "binary",
    "GeometryCollection": "binary",
    "vector(3)": "binary", "inet6": "string", "uuid": "string",
    "char(5)": "string", "varchar(20)": "string", "NVARCHAR(20)": "string", "longtext": "string",
    "json": "string",
    "enum('a','int')": "string", "set('x','bigint unsigned')": "string", "": "string",
    "(10)": "string", "中文": "string",
}  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), _TYPES.items())
def test_every_type_of_mysql_has_its_type_of_spark(text: str, kind: str) -> None:
    assert spark_type(text).simpleString() == kind


@pytest.mark.parametrize("family", ["mysql", "mariadb"])
def test_the_servers_own_text_and_the_statements_say_the_same(family: str) -> None:
    golden = Path(__file__).parents[3] / "golden"
    own: dict[tuple[str, str], str] = {}
    for line in (golden / f"truth.{family}.jsonl").read_text(encoding="utf-8").strip().split("\n"):
        document = json.loads(line)
        own |= {
            (document["table"], name): column["type"]
            for name, column in document["columns"].items()
        }
    compared = 0
    for line in (
        (golden / f"canal_messages.{family}.jsonl").read_text(encoding="utf-8").strip().split("\n")
    ):
        document = json.loads(line)
        for name, text in (document["mysqlType"] or {}).items():
            if (
                document["table"],
                name,
            ) in own and text != "VARCHAR(40)":  # CHARACTER SET binary, which Canal leaves out
                compared += 1
                assert spark_type(text) == spark_type(own[document["table"], name]), (
                    text,
                    own[document["table"], name],
                )
    assert compared > 100


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ("int", "bigint", "bigint"),
        ("bigint unsigned", "int", "decimal(20,0)"),
        ("decimal(10,2)", "decimal(12,0)", "decimal(14,2)"),
        ("decimal(10,2)", "int", "decimal(12,2)"),
        ("decimal(38,0)", "decimal(38,30)", "string"),
        ("float", "double", "double"),
        ("int", "float", "double"),
        ("date", "datetime", "timestamp_ntz"),
        ("datetime", "timestamp", "string"),
        ("int", "varchar(3)", "string"),
        ("varbinary(3)", "varchar(3)", "string"),
    ],
)
def test_what_holds_both(one: str, other: str, both: str) -> None:
    assert widest(spark_type(one), spark_type(other)).simpleString() == both
    assert widest(spark_type(other), spark_type(one)).simpleString() == both


@given(st.lists(st.sampled_from(sorted(_TYPES)).map(spark_type), min_size=1, max_size=5))
def test_a_wider_type_stays_when_it_meets_the_same_types_again(types: list[DataType]) -> None:
    once = widest(*types)
    assert widest(once, *types) == once or once == StringType()
