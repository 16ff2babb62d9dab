"""The erasure of a person by the admin: one search or erasure at a time, in a separate thread.

It calls the functions of `roma erase`. Keys and texts are only in memory, until the erasure has
ended, the search is dropped, or an hour has passed.
"""

import secrets
import threading
from collections.abc import Callable, Iterable
from contextvars import copy_context
from dataclasses import dataclass, field
from time import monotonic, time
from typing import Final, Protocol

from api.errors import BadRequest, NoSuchThing
from api.models.values.erasure import ErasureOrder, ErasureState, ErasureView, ErasureWish
from relay.errors import ErasureRefused, RelayError
from relay.operations import (
    FRESH_SECONDS,
    ErasureChoice,
    ErasurePlan,
    Needles,
    PersonErasure,
    Switches,
    Who,
    erased,
    planned,
    read_needles,
)
from relay.settings import RelaySettings
from relay.state import ErasureTurn
from relay.threads import RelayThread
from relay.zk import Session

KEPT_SECONDS: Final = 3600.0
"""A search is forgotten after this time, with its keys and texts."""
MOST_KEPT: Final = 20
_SWITCHES: Final = Switches("delete_records", "by_text")
_BUSY: Final = frozenset[ErasureState]({"looking", "erasing"})


class Erasure(Protocol):
    """The methods of `relay.operations.PersonErasure` that the desk uses."""

    def plan(self) -> ErasurePlan:
        """Search every store, and return the effect of an erasure."""

    def erase(self, plan: ErasurePlan, who: Who, choice: ErasureChoice) -> None:
        """Erase the findings of a plan."""


Maker = Callable[[Needles, Iterable[str], Callable[[str], object]], Erasure]


@dataclass(slots=True)
class _Job:
    """One search. `erasure` holds the keys and texts, and is None once they are not needed."""

    number: str
    asked_by: str
    started_ms: int
    at_s: float
    state: ErasureState = "looking"
    step: str = ""
    erasure: Erasure | None = None
    plan: ErasurePlan | None = None
    found_at_s: float = 0.0
    error: tuple[str, str, str] = ("", "", "")
    left: list[str] = field(default_factory=list)


class ErasureDesk:
    """Searches and erasures of this admin process, the newest first. Threads may share one."""

    def __init__(
        self, installation: str, make: Maker, clock_s: Callable[[], float] = monotonic
    ) -> None:
        self._installation = installation
        self._make = make
        self._clock_s = clock_s
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}

    @classmethod
    def of(cls, settings: RelaySettings, session: Session, turn: ErasureTurn) -> "ErasureDesk":
        """Return the desk of an installation; `turn` is the one of the session."""

        def make(
            needles: Needles, topics: Iterable[str], told: Callable[[str], object]
        ) -> PersonErasure:
            return PersonErasure(settings, session, needles, topics, told, turn)

        return cls(settings.installation, make)

    def search(self, wish: ErasureWish, asked_by: str) -> ErasureView:
        """Start a search of every store; nothing is changed.

        Raises ErasureRefused for unusable keys and texts, and while another search or erasure runs.
        """
        needles = read_needles(wish.keys, wish.texts)
        job = _Job(secrets.token_hex(8), asked_by, int(time() * 1000), self._clock_s())
        with self._lock:
            self._refuse_busy()
            self._forget_old()
            self._jobs[job.number] = job

        def run() -> None:
            erasure = self._make(needles, tuple(wish.topics), lambda step: _told(job, step))
            plan = erasure.plan()
            with self._lock:
                job.erasure, job.plan, job.state, job.step = erasure, plan, "found", ""
                job.found_at_s = self._clock_s()

        self._start(job, run)
        return self._view(job, ErasureChoice())

    def erase(self, number: str, order: ErasureOrder, who: Who) -> ErasureView:
        """Start to erase the findings of a search.

        Raises NoSuchThing, BadRequest, ErasureRefused.
        """
        if order.confirm.strip() != self._installation:
            raise BadRequest(
                f"The name typed is {order.confirm.strip()!r}, and the installation is "
                f"{self._installation!r}.",
                remedy=f"Type {self._installation} to confirm.",
            )
        choice = ErasureChoice(order.delete_records, order.by_text)
        with self._lock:
            self._forget_old()
            job = self._job(number)
            self._refuse_busy()
            erasure, plan = _found(job, choice, self._clock_s())
            job.state = "erasing"

        def run() -> None:
            erasure.erase(plan, who, choice)
            with self._lock:
                job.left = erased(plan)[:-1]
                job.left.append("Search again until nothing is found.")
                job.state, job.step, job.erasure, job.plan = "erased", "", None, None

        self._start(job, run)
        return self._view(job, choice)

    def show(self, number: str, choice: ErasureChoice) -> ErasureView:
        """Return one search, with the effect of a choice. Raises NoSuchThing."""
        with self._lock:
            self._forget_old()
            return self._view(self._job(number), choice)

    def shown(self) -> list[ErasureView]:
        """Return all searches, the newest first."""
        with self._lock:
            self._forget_old()
            every = reversed(self._jobs.values())
            return [self._view(each, ErasureChoice()) for each in every]

    def forget(self, number: str) -> None:
        """Drop a search with its keys and texts.

        Raises NoSuchThing, and ErasureRefused while it runs.
        """
        with self._lock:
            self._refuse_busy(self._job(number))
            del self._jobs[number]

    def _start(self, job: _Job, call: Callable[[], None]) -> None:
        def run() -> None:
            try:
                call()
            except RelayError as exc:
                self._fail(job, (exc.code, exc.reason, exc.way_out))
            except BaseException:
                self._fail(
                    job,
                    (
                        "UNEXPECTED",
                        "An unexpected error.",
                        "Read the log of the admin around this time.",
                    ),
                )
                raise

        try:
            RelayThread("erasure", "", copy_context().run, run).start()
        except RelayError as exc:
            self._fail(job, (exc.code, exc.reason, exc.way_out))

    def _fail(self, job: _Job, error: tuple[str, str, str]) -> None:
        with self._lock:
            job.state, job.step, job.error = "failed", "", error
            job.erasure = job.plan = None

    def _job(self, number: str) -> _Job:
        found = self._jobs.get(number)
        if found is None:
            raise NoSuchThing(
                f"This admin process has no search {number!r}. Each process has its own, and "
                "drops them when it ends.",
                remedy="Search again, with requests to the same admin process.",
            )
        return found

    def _refuse_busy(self, only: _Job | None = None) -> None:
        for each in self._jobs.values() if only is None else (only,):
            if each.state in _BUSY:
                raise ErasureRefused(
                    f"Search {each.number} of {each.asked_by} is {each.state}.",
                    remedy="Wait until it has ended.",
                )

    def _forget_old(self) -> None:
        ended = [each for each in self._jobs.values() if each.state not in _BUSY]
        for at, each in enumerate(ended):
            is_old = self._clock_s() - each.at_s > KEPT_SECONDS
            if is_old or len(ended) - at > MOST_KEPT:
                del self._jobs[each.number]

    def _view(self, job: _Job, choice: ErasureChoice) -> ErasureView:
        code, reason, remedy = job.error
        found = [] if job.plan is None else planned(job.plan, choice, _SWITCHES)
        return ErasureView(
            number=job.number,
            state=job.state,
            step=job.step,
            asked_by=job.asked_by,
            started_ms=job.started_ms,
            sentences=job.left or found,
            nothing_found=job.plan is not None and job.plan.is_empty,
            code=code,
            reason=reason,
            remedy=remedy,
        )


def _found(job: _Job, choice: ErasureChoice, now_s: float) -> tuple[Erasure, ErasurePlan]:
    """Return the findings that can be erased now. Raises ErasureRefused."""
    if job.state != "found" or job.erasure is None or job.plan is None:
        raise ErasureRefused(
            f"Search {job.number} has ended.", remedy="Search again, and erase those findings."
        )
    if now_s - job.found_at_s > FRESH_SECONDS:
        raise ErasureRefused(
            f"Search {job.number} ended more than {FRESH_SECONDS / 60:.0f} minutes ago. Rows with "
            "its keys may have come since.",
            remedy="Search again, and erase those findings.",
        )
    if job.plan.changes_nothing(choice):
        raise ErasureRefused(
            "Nothing that this erasure may change was found.",
            remedy="Choose delete_records or by_text, if that is meant.",
        )
    return job.erasure, job.plan


def _told(job: _Job, step: str) -> None:
    job.step = step
