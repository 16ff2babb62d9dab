"""Shows the progress of long work: bars on a terminal, a line every 30 seconds elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final

from py4j.protocol import Py4JError
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Bars

from spark_jobs.spark_util.report import print_notice

_POLL_SECONDS: Final = 1.0
LINE_SECONDS: Final = 30.0
"""Seconds between two printed lines if the output is not a terminal."""


@dataclass
class Piece:
    """One piece of work with its progress.

    rows       number of rows that are done
    total      number of all rows; None: unknown
    before     number of rows that an earlier run had done
    step       name of the present step
    read_rows  returns the rows of a step that only Spark can count; None: the caller sets `rows`
    """

    name: str
    total: int | None = None
    rows: int = 0
    before: int = 0
    step: str = ""
    estimated: bool = False
    read_rows: Callable[[], int] | None = None
    clock: Callable[[], float] = monotonic
    began: float = field(init=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def next_step(self, step: str, total: int | None) -> None:
        """Begin another step; its rows and its time are counted from zero. `total` None:
        unknown.
        """
        self.read_rows = None
        self.step, self.total, self.rows, self.before, self.began = step, total, 0, 0, self.clock()

    def add(self, rows: int) -> None:
        """Add to the number of rows that are done. Thread-safe."""
        with self._lock:
            self.rows += rows

    def poll(self) -> None:
        """Update the number of rows that are done, if only Spark can count them.

        If Spark does not answer, the number is not changed.
        """
        ask = self.read_rows
        if ask is None:
            return
        try:
            found = ask()
        except (Py4JError, OSError):
            return
        if self.read_rows is ask:
            self.rows = max(self.rows, found)

    @property
    def seconds(self) -> float:
        """Seconds since the step began."""
        return self.clock() - self.began

    @property
    def rate(self) -> float:
        """Rows per second of this run."""
        return (self.rows - self.before) / max(self.seconds, 0.001)

    @property
    def remaining_seconds(self) -> float | None:
        """Return the remaining time in seconds at the mean rate; None if unknown."""
        if self.total is None or self.rate <= 0:
            return None
        return max(self.total - self.rows, 0) / self.rate

    def __str__(self) -> str:
        step = f"{self.step}, " if self.step else ""
        return f"{self.name}: {step}{self.figures}"

    @property
    def figures(self) -> str:
        """Return the number of rows, their share, the rate and the remaining time as text. Unknown
        values are left out.
        """
        told = [f"{self.rows} rows"]
        if self.total:
            about = "about " if self.estimated else ""
            told = [
                f"{self.rows} of {about}{self.total} rows ({min(self.rows / self.total, 1):.0%})"
            ]
        told.append(f"{self.rate:.0f} rows/s")
        left = self.remaining_seconds
        return ", ".join([*told, *([] if left is None else [f"{_time(left)} left"])])


class Progress:
    """Context manager that shows the progress of pieces of work.

    `console` writes to standard error; `say` prints a line if that is not a terminal.
    """

    def __init__(
        self, console: Console | None = None, say: Callable[[str], None] = print_notice
    ) -> None:
        console = console or Console(stderr=True)
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[figures]}", markup=False),
        )
        own_output = sys.stdout.isatty()
        self._bars = (
            Bars(*columns, console=console, transient=True, redirect_stdout=own_output)
            if console.is_terminal
            else None
        )
        self._say = say
        self._lock = Lock()
        self._pieces: dict[int, tuple[Piece, TaskID | None, float]] = {}
        self._ended = Event()
        self._thread = Thread(target=self._watch, name="progress", daemon=True)

    def __enter__(self) -> "Progress":
        if self._bars is not None:
            self._bars.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._bars is not None:
            self._bars.stop()

    @contextmanager
    def piece(self, piece: Piece) -> Iterator[Piece]:
        """Context manager: show a piece of work during the block. Its first line appears after 30
        seconds.
        """
        task = (
            None
            if self._bars is None
            else self._bars.add_task(piece.name, total=piece.total, figures="")
        )
        with self._lock:
            self._pieces[id(piece)] = (piece, task, piece.clock() + LINE_SECONDS)
        try:
            yield piece
        finally:
            with self._lock:
                del self._pieces[id(piece)]
            if self._bars is not None and task is not None:
                self._bars.remove_task(task)

    def _watch(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            self.show()

    def first_line(self, piece: Piece) -> None:
        """Print a line about the piece immediately, if the output is not a terminal."""
        if self._bars is None:
            self._say(str(piece))

    def show(self) -> None:
        """Redraw the bars, or print the lines whose interval has passed."""
        with self._lock:
            shown = list(self._pieces.items())
        for number, (piece, task, due) in shown:
            piece.poll()
            if self._bars is not None and task is not None:
                self._bars.update(
                    task,
                    description=piece.name,
                    completed=piece.rows,
                    total=piece.total,
                    figures=_beside_bar(piece),
                    refresh=True,
                )
            elif piece.clock() >= due:
                self._say(str(piece))
                self._next_line(number, piece.clock() + LINE_SECONDS)

    def _next_line(self, number: int, due: float) -> None:
        with self._lock:
            if number in self._pieces:
                piece, task, _ = self._pieces[number]
                self._pieces[number] = (piece, task, due)


def _beside_bar(piece: Piece) -> str:
    return ", ".join(filter(None, (piece.step, piece.figures)))


def _time(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
