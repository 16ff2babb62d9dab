"""Tables, rows and changes that hypothesis makes up, for real servers."""

import json
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

from tests.unit.encode.canal_tables import GOLDEN

Values: TypeAlias = st.SearchStrategy[Any]

_UNICODE: Final = ("utf8mb4", "utf16", "utf16le", "utf32")
_CHARSETS: Final = (
    *(
        "utf8mb3",
        "latin1",
        "ascii",
        "latin2",
        "latin5",
        "latin7",
        "cp1250",
        "cp1251",
        "cp1256",
        "cp1257",
        "cp850",
        "cp852",
        "cp866",
    ),
    *(
        "koi8r",
        "koi8u",
        "greek",
        "hebrew",
        "tis620",
        "armscii8",
        "geostd8",
        "dec8",
        "hp8",
        "keybcs2",
        "macce",
        "macroman",
        "swe7",
    ),
    *("gbk", "gb2312", "big5", "sjis", "cp932", "ujis", "eucjpms", "euckr", "ucs2"),
)
_LABELS: Final = ("a", "b", "it''s", "x y", 'q"q', "é", "Ж", "0", "")


@dataclass(frozen=True, slots=True)
class MadeColumn:
    """A column: its declaration, the SQL that its values stand in, and the values."""

    declared: str
    values: Values
    sql: str = "%s"


@dataclass(frozen=True, slots=True)
class Change:
    """What is done to the table: rows inserted, columns of one row set, or one row removed (by its
    number).
    """

    inserted: tuple[tuple[Any, ...], ...] = ()
    number: int = 0
    assigned: dict[int, Any] | None = None


@dataclass(frozen=True, slots=True)
class MadeTable:
    """Columns behind `id`, whether `id` is a key, the row image, and the changes in their order."""

    columns: tuple[MadeColumn, ...]
    keyed: bool
    image: str
    compressed: bool
    changes: tuple[Change, ...]


@cache
def _characters(charset: str) -> Values:
    """The characters of a set; those of the Unicode sets are all."""
    if charset in _UNICODE:
        return st.characters(codec="utf-8")
    if charset in ("utf8mb3", "ucs2"):
        return st.characters(codec="utf-8", max_codepoint=0xFFFF)
    leads = json.loads((GOLDEN / "charsets.mariadb.json").read_text(encoding="utf-8"))[charset]
    return st.sampled_from(
        [*"aZ 09", *(character for _, characters in leads.values() for character in characters)]
    )


def _texts(charset: str, most: int) -> Values:
    return st.text(_characters(charset), max_size=most)


def _integers() -> list[MadeColumn]:
    bits = {"TINYINT": 8, "SMALLINT": 16, "MEDIUMINT": 24, "INT": 32, "BIGINT": 64}
    signed = [
        MadeColumn(kind, st.integers(-(2 ** (n - 1)), 2 ** (n - 1) - 1)) for kind, n in bits.items()
    ]
    unsigned = [
        MadeColumn(f"{kind} UNSIGNED", st.integers(0, 2**n - 1)) for kind, n in bits.items()
    ]
    filled = [
        MadeColumn("INT(7) UNSIGNED ZEROFILL", st.integers(0, 2**32 - 1)),
        MadeColumn("BIGINT UNSIGNED ZEROFILL", st.integers(0, 99)),
    ]
    return (
        signed
        + unsigned
        + filled
        + [MadeColumn(f"BIT({n})", st.integers(0, 2**n - 1)) for n in (1, 9, 64)]
    )


def _decimal(precision: int, scale: int) -> MadeColumn:
    most = 10**precision - 1
    return MadeColumn(
        f"DECIMAL({precision},{scale})",
        st.integers(-most, most).map(lambda n: format(Decimal(n).scaleb(-scale), "f")),
    )


def _numbers() -> list[MadeColumn]:
    decimals = [_decimal(*measures) for measures in ((1, 0), (6, 2), (20, 10), (28, 28), (18, 9))]
    whole = MadeColumn(
        "DECIMAL(65,30)", st.from_regex(r"-?[0-9]{1,35}\.[0-9]{1,30}", fullmatch=True)
    )
    doubles = st.floats(allow_nan=False, allow_infinity=False).filter(
        lambda number: number != 0 or str(number) == "0.0"
    )
    singles = st.floats(width=32, allow_nan=False, allow_infinity=False).filter(
        lambda number: number != 0 or str(number) == "0.0"
    )
    small = st.floats(-999, 999).filter(lambda number: abs(number) > 0.01)
    return [
        *decimals,
        whole,
        MadeColumn("DOUBLE", doubles),
        MadeColumn("FLOAT", singles),
        MadeColumn("DOUBLE(9,3)", small),
    ]


def _days() -> Values:
    real = st.dates(date(1000, 1, 1)).map(str)
    partly = st.tuples(st.integers(0, 9999), st.integers(0, 12), st.integers(0, 28)).map(
        lambda d: f"{d[0]:04d}-{d[1]:02d}-{d[2]:02d}"
    )
    return st.one_of(real, partly, st.just("0000-00-00"))


def _clock() -> Values:
    return st.timedeltas(timedelta(0), timedelta(hours=23, minutes=59, seconds=59)).map(_time)


def _time(span: timedelta) -> str:
    whole, micro = divmod(abs(span) // timedelta(microseconds=1), 1_000_000)
    return f"{'-' if span < timedelta(0) else ''}{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}.{micro:06d}"  # noqa: E501


def _times() -> list[MadeColumn]:
    moments = st.tuples(_days(), _clock()).map(" ".join)
    longest = timedelta(hours=838, minutes=59, seconds=58)
    stamps = st.tuples(st.dates(date(1970, 1, 2), date(2038, 1, 18)).map(str), _clock()).map(
        " ".join
    )
    found = [
        MadeColumn("DATE", _days()),
        MadeColumn("YEAR", st.one_of(st.integers(1901, 2155), st.just("0000"))),
    ]
    for digits in range(7):
        found.append(MadeColumn(f"DATETIME({digits})", moments))
        found.append(
            MadeColumn(
                f"TIMESTAMP({digits}) NULL", st.one_of(stamps, st.just("0000-00-00 00:00:00"))
            )
        )
        found.append(MadeColumn(f"TIME({digits})", st.timedeltas(-longest, longest).map(_time)))
    return found


def _strings() -> list[MadeColumn]:
    found = []
    for charset in (*_UNICODE, *_CHARSETS):
        of = f"CHARACTER SET {charset}"
        found += [
            MadeColumn(f"VARCHAR(12) {of}", _texts(charset, 12)),
            MadeColumn(f"CHAR(6) {of}", _texts(charset, 6)),
        ]
        found.append(MadeColumn(f"TEXT {of}", _texts(charset, 40)))
    found.append(MadeColumn("VARCHAR(300)", _texts("utf8mb4", 300)))
    kinds = (
        "BINARY(5)",
        "VARBINARY(9)",
        "TINYBLOB",
        "BLOB",
        "MEDIUMBLOB",
        "LONGBLOB",
        "VARCHAR(9) CHARACTER SET binary",
    )
    return found + [MadeColumn(kind, st.binary(max_size=5)) for kind in kinds]


def _labelled() -> list[MadeColumn]:
    listed = ",".join(f"'{label}'" for label in _LABELS)
    plain = [label.replace("''", "'") for label in _LABELS]
    enums = MadeColumn(f"ENUM({listed}) CHARACTER SET utf8mb4", st.sampled_from(plain))
    sets = MadeColumn(
        f"SET({listed}) CHARACTER SET utf8mb4",
        st.sets(st.sampled_from(plain[:-1])).map(lambda some: ",".join(sorted(some))),
    )
    odd = [
        MadeColumn("ENUM('é','ü') CHARACTER SET latin1", st.sampled_from("éü")),
        MadeColumn("ENUM('中','文') CHARACTER SET gbk", st.sampled_from("中文")),
        MadeColumn("ENUM('é','中') CHARACTER SET utf16", st.sampled_from("é中")),
        MadeColumn("SET('č','ž') CHARACTER SET keybcs2", st.sampled_from(["č", "č,ž", ""])),
        MadeColumn("SET('あ','漢') CHARACTER SET ujis", st.sampled_from(["あ", "漢", "あ,漢"])),
    ]
    return [enums, sets, *odd]


def _documents() -> Values:
    texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
    numbers = st.integers(-(2**63), 2**64 - 1) | st.floats(
        allow_nan=False, allow_infinity=False
    ).filter(lambda number: number != 0)
    leaves = st.one_of(st.none(), st.booleans(), numbers, texts)
    trees = st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=12,
    )
    return trees.map(json.dumps)


def _of_family(family: str) -> list[MadeColumn]:
    points = st.tuples(st.integers(-90, 90), st.integers(-90, 90)).map(
        lambda p: f"POINT({p[0]} {p[1]})"
    )
    found = [
        MadeColumn("GEOMETRY", points, "ST_GeomFromText(%s)"),
        MadeColumn("JSON", _documents()),
    ]
    if family == "mysql":
        vectors = st.lists(st.integers(-9, 9), min_size=3, max_size=3).map(str)
        return [
            *found,
            MadeColumn("VECTOR(3)", vectors, "TO_VECTOR(%s)"),
            MadeColumn("VARCHAR(9) CHARACTER SET gb18030", _texts("utf8mb4", 9)),
        ]
    addresses = [
        MadeColumn("INET6", st.ip_addresses(v=6).map(str)),
        MadeColumn("INET4", st.ip_addresses(v=4).map(str)),
    ]
    packed = [
        MadeColumn("TEXT COMPRESSED", _texts("utf8mb4", 200)),
        MadeColumn("VARCHAR(90) COMPRESSED CHARACTER SET latin1", _texts("latin1", 90)),
    ]
    return [*found, MadeColumn("UUID", st.uuids().map(str)), *addresses, *packed]


@cache
def column_pool(family: str) -> tuple[MadeColumn, ...]:
    """Every kind of column that servers of a family have."""
    return (*_integers(), *_numbers(), *_times(), *_strings(), *_labelled(), *_of_family(family))


@st.composite
def made_tables(draw: st.DrawFn, family: str) -> MadeTable:
    """A table of any columns, with a key or without one, and what happens to it."""
    columns = tuple(draw(st.lists(st.sampled_from(column_pool(family)), min_size=1, max_size=8)))
    keyed = draw(st.booleans())
    images = ["FULL", "MINIMAL", "NOBLOB"] if keyed else ["FULL"]
    rows = [
        tuple(draw(st.one_of(st.none(), column.values)) for column in columns)
        for _ in range(draw(st.integers(1, 5)))
    ]
    changes = [Change(inserted=tuple(rows))]
    for _ in range(draw(st.integers(0, 4))):
        number = draw(st.integers(0, len(rows) - 1))
        some = draw(st.sets(st.integers(0, len(columns) - 1)))
        assigned = {each: draw(st.one_of(st.none(), columns[each].values)) for each in sorted(some)}
        changes.append(Change(number=number, assigned=assigned or None))
    return MadeTable(
        columns, keyed, draw(st.sampled_from(images)), draw(st.booleans()), tuple(changes)
    )
