"""The points of each series: the quantity that grows, and the constant ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

TEMPLATE_ROWS: Final = (
    10_000  # rows are copied from a table of so many, so a transaction's size must divide it
)
_QUICK_SHARE: Final = 5


@dataclass(frozen=True, slots=True)
class Shape:
    """The written rows and the settings of the relays of one measurement.

    rows              counted rows of each instance. With several tables, each table first gets one
                      more transaction, which is not counted
    columns           columns of a table, with the key
    transaction_rows  rows of each source transaction, which is one INSERT statement
    tables            number of tables; successive transactions write to different ones
    partitions        partitions of the topic of each instance
    instances         number of instances
    processes         number of relay processes
    workers           worker processes of each relay (`placement.processes`)
    """

    rows: int
    columns: int = 12
    transaction_rows: int = 100
    tables: int = 1
    partitions: int = 4
    instances: int = 1
    processes: int = 1
    workers: int = 1

    def __post_init__(self) -> None:
        if self.rows % self.transaction_rows or TEMPLATE_ROWS % self.transaction_rows:
            raise ValueError(
                f"{self.transaction_rows} rows a transaction must divide {TEMPLATE_ROWS} and "
                f"{self.rows} rows"
            )
        if self.instances % self.processes:
            raise ValueError(
                f"{self.instances} instances cannot be spread evenly over {self.processes} "
                f"processes"
            )

    @property
    def uncounted(self) -> int:
        """Return the number of rows before the counted ones: a statement for each of several
        tables.
        """
        return self.tables * self.transaction_rows if self.tables > 1 else 0

    @property
    def written(self) -> int:
        """Return all rows of the binlog, those that are not counted included."""
        return self.uncounted + self.rows

    @property
    def transactions(self) -> int:
        """Return the number of insert statements that write the rows."""
        return self.written // self.transaction_rows


@dataclass(frozen=True, slots=True)
class Point:
    """One point on the axis. Points of several processes or workers are not on the curve."""

    label: str
    x: int
    shape: Shape

    @property
    def beside(self) -> bool:
        """Return whether the point is drawn separately from the curve, because it has several
        processes.
        """
        return self.shape.processes > 1 or self.shape.workers > 1


@dataclass(frozen=True, slots=True)
class Series:
    """A series of measurements in which one quantity grows.

    name    name of its files, and on the command line
    axis    the quantity that grows
    held    the constant quantities, as text
    points  the measurements
    """

    name: str
    axis: str
    held: str
    points: tuple[Point, ...]


def all_series() -> list[Series]:
    """Return every series with all points; a point takes some seconds."""
    return [_columns(), _transactions(), _tables(), _partitions(), _instances()]


def quick(series: Series) -> Series:
    """Return the series with fewer points and a fraction of the rows.

    The points are the first, the middle and the last one of its curve, and those of several
    processes.
    """
    curve = [point for point in series.points if not point.beside]
    chosen = [
        curve[0],
        curve[len(curve) // 2],
        curve[-1],
        *(point for point in series.points if point.beside),
    ]
    return replace(
        series, points=tuple(replace(point, shape=_smaller(point.shape)) for point in chosen)
    )


def visits(points: Sequence[Point], rounds: int) -> list[tuple[int, Point]]:
    """Return the measurements in their order, as (number of the round, point). Every second round
    is in reverse order, so that a machine that becomes slower affects all points alike.
    """
    return [
        (number, point)
        for number in range(1, rounds + 1)
        for point in (points if number % 2 else points[::-1])
    ]


def _smaller(shape: Shape) -> Shape:
    transactions = max(1, shape.rows // shape.transaction_rows // _QUICK_SHARE)
    return replace(shape, rows=transactions * shape.transaction_rows)


def _columns() -> Series:
    rows = {
        5: 400_000,
        10: 400_000,
        20: 300_000,
        40: 200_000,
        60: 150_000,
        120: 80_000,
        240: 40_000,
    }
    points = tuple(
        Point(str(columns), columns, Shape(each, columns=columns)) for columns, each in rows.items()
    )
    return Series(
        "columns",
        "columns per row",
        "1 table, 100 rows per transaction, 4 partitions, 1 instance",
        points,
    )


def _transactions() -> Series:
    rows = {
        1: 120_000,
        2: 160_000,
        5: 250_000,
        10: 300_000,
        100: 400_000,
        1000: 400_000,
        10_000: 400_000,
    }
    points = tuple(
        Point(f"{size:,}", size, Shape(each, transaction_rows=size)) for size, each in rows.items()
    )
    return Series(
        "transactions",
        "rows per source transaction",
        "1 table of 12 columns, 4 partitions, 1 instance",
        points,
    )


def _tables() -> Series:
    points = tuple(
        Point(f"{tables:,}", tables, Shape(300_000, transaction_rows=20, tables=tables))
        for tables in (1, 10, 100, 1000, 10_000)
    )
    return Series(
        "tables",
        "tables",
        (
            "12 columns, 20 rows per transaction, each row in the next table, 4 partitions, "
            "1 instance. The relay has read each table before the count begins"
        ),
        points,
    )


def _partitions() -> Series:
    points = tuple(
        Point(str(count), count, Shape(400_000, partitions=count)) for count in (1, 4, 16, 64, 256)
    )
    return Series(
        "partitions",
        "partitions of the topic",
        "1 table of 12 columns, 100 rows per transaction, 1 instance",
        points,
    )


def _instances() -> Series:
    spread = (
        *((count, 1, 1) for count in (1, 2, 4, 8)),
        *((count, 2, 1) for count in (2, 8)),
        *((count, 1, 2) for count in (2, 8)),
    )
    points = tuple(
        Point(_instances_label(*each), each[0], _instances_shape(*each)) for each in spread
    )
    held = (
        "12 columns, 100 rows per transaction, 4 partitions; every instance relays the same rows "
        "to a topic of its own"
    )
    return Series("instances", "instances", held, points)


def _instances_label(instances: int, processes: int, workers: int) -> str:
    if workers > 1:
        return f"{instances} by {workers} workers"
    return str(instances) if processes == 1 else f"{instances} in {processes} processes"


def _instances_shape(instances: int, processes: int, workers: int) -> Shape:
    return Shape(480_000 // instances, instances=instances, processes=processes, workers=workers)
