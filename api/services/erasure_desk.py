"""Erases a person's data for the admin: it runs one search or erasure at a time, in a separate
thread.

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
"""Seconds after which a search is deleted together with its keys and texts."""
MOST_KEPT: Final = 20
_SWITCHES: Final = Switches("delete_records", "by_text")
_BUSY: Final = frozenset[ErasureState]({"looking", "erasing"})


class Erasure(Protocol):
    """The part of `relay.operations.PersonErasure` that the desk uses."""

    def plan(self) -> ErasurePlan:
        """Search every store, and return what an erasure would change."""

    def erase(self, plan: ErasurePlan, who: Who, choice: ErasureChoice) -> None:
        """Erase what a plan contains. `choice` selects optional steps; `who` is for the audit
        trail.
        """


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
    """Searches and erasures of this admin process, the newest first. Thread-safe."""

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
        """Return the service of an installation.

        settings  settings of the installation
        session   the connection to ZooKeeper
        turn      lock in ZooKeeper that allows one erasure at a time in the installation
        """

        def make(
            needles: Needles, topics: Iterable[str], told: Callable[[str], object]
        ) -> PersonErasure:
            return PersonErasure(settings, session, needles, topics, told, turn)

        return cls(settings.installation, make)

    def search(self, wish: ErasureWish, asked_by: str) -> ErasureView:
        """Start a search of every store; nothing is changed.

        `asked_by` is the name of the caller. Raises ErasureRefused for unusable keys and texts, and
        while another search or erasure runs.
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
        """Start to erase what a search has found.

        number  number of the search
        order   the optional steps, and the confirmation
        who     author and comment for the audit trail

        Raises NoSuchThing for an unknown search, BadRequest without the confirmation,
        ErasureRefused.
        """
        if order.confirm.strip() != self._installation:
            raise BadRequest(
                f"You typed the name {order.confirm.strip()!r}, but this installation has the "
                f"name {self._installation!r}.",
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
        """Return one search, with the effect that an erasure with `choice` would have. Raises
        NoSuchThing.
        """
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
        """Delete a search together with its keys and texts.

        Raises NoSuchThing for an unknown search, ErasureRefused while the search or its erasure
        runs.
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
                f"This admin process has no search {number!r}. Each process has its own "
                "searches, and loses them when it ends.",
                remedy="Search again, with requests to the same admin process.",
            )
        return found

    def _refuse_busy(self, only: _Job | None = None) -> None:
        for each in self._jobs.values() if only is None else (only,):
            if each.state in _BUSY:
                raise ErasureRefused(
                    (
                        f"Search {each.number}, which {each.asked_by} started, is in the state "
                        f"{each.state!r}."
                    ),
                    remedy="Wait until that search or erasure has ended.",
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
            (
                f"Search {job.number} is in the state {job.state!r}, and has no findings that can "
                "be erased."
            ),
            remedy="Search again, and erase those findings.",
        )
    if now_s - job.found_at_s > FRESH_SECONDS:
        raise ErasureRefused(
            f"Search {job.number} ended more than {FRESH_SECONDS / 60:.0f} minutes ago. New "
            "rows with its keys may have arrived since then.",
            remedy="Search again, and erase those findings.",
        )
    if job.plan.changes_nothing(choice):
        raise ErasureRefused(
            "The search found nothing that this erasure is allowed to change.",
            remedy=(
                "Set delete_records to also delete records of topics without compaction, or "
                "by_text to also erase what only a text was found in."
            ),
        )
    return job.erasure, job.plan


def _told(job: _Job, step: str) -> None:
    job.step = step
