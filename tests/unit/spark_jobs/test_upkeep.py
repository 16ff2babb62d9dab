from dataclasses import dataclass, field

from spark_jobs.apply.maintenance import Upkeep

DAY_MS = 86_400_000


@dataclass
class TargetRow:
    """Notes what is asked of it, with the horizon of that moment."""

    horizon: "Watermark"
    asked: list[tuple[str, int]] = field(default_factory=list)

    def forget_deletes(self, before_ms: int, writer: str, /) -> None:
        assert writer == "job"
        assert self.horizon.before_ms == before_ms
        self.asked.append(("forget", before_ms))

    def tidy(self) -> None:
        self.asked.append(("tidy", 0))


@dataclass
class Watermark:
    before_ms: int = 0

    def raise_to(self, before_ms: int) -> None:
        self.before_ms = max(self.before_ms, before_ms)


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class LastTime:
    """The durable time, by the clock of the machine: it also advances between two runs."""

    age: float = 0.0
    noted: int = 0

    def age_seconds(self) -> float:
        return self.age

    def note(self) -> None:
        self.noted += 1


def upkeep(
    minutes: float | None, guards_days: float | None, last: LastTime | None = None
) -> tuple[Upkeep, TargetRow, Clock]:
    clock, line = Clock(), Watermark()
    place, last = TargetRow(line), last or LastTime()
    return (
        Upkeep((place,), line, minutes=minutes, guards_days=guards_days, clock=clock, last=last),
        place,
        clock,
    )


def test_it_comes_on_a_schedule() -> None:
    keeper, place, clock = upkeep(10, None)
    times = []
    for clock.now in range(0, 2000, 100):
        if keeper.after_batch(1, "job"):
            times.append(clock.now)
    assert times == [600, 1200, 1800]
    assert place.asked == [("tidy", 0)] * 3


def test_time_passes_while_the_job_does_not_run() -> None:
    """A job that starts again more often than `minutes` has its copies maintained all the same."""
    last = LastTime(age=550.0)
    keeper, place, clock = upkeep(10, None, last)
    assert not keeper.after_batch(1, "job")
    clock.now = 50.0
    assert keeper.after_batch(1, "job")
    assert (place.asked, last.noted) == ([("tidy", 0)], 1)


def test_never_and_always() -> None:
    for minutes, asked in ((None, []), (0, [("tidy", 0)])):
        keeper, place, _ = upkeep(minutes, None)
        keeper.after_batch(1, "job")
        assert place.asked == asked


def test_the_horizon_moves_before_anything_is_forgotten_and_never_back() -> None:
    keeper, place, _ = upkeep(0, 2)
    for newest_ms in (10 * DAY_MS, 5 * DAY_MS, 11 * DAY_MS):
        keeper.after_batch(newest_ms, "job")
    assert [what for what in place.asked if what[0] == "forget"] == [
        ("forget", days * DAY_MS) for days in (8, 8, 9)
    ]


def test_nothing_is_forgotten_before_there_is_a_limit() -> None:
    keeper, place, _ = upkeep(0, 30)
    keeper.after_batch(DAY_MS, "job")
    assert place.asked == [("forget", 0), ("tidy", 0)]
