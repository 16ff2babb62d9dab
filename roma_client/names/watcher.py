"""Requests the topics of a client's tables from the admin at intervals while the client reads."""

import logging
from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import Final

from roma_client.errors import ClientError, IncompatibleVersion, TableMoved, UnknownTable
from roma_client.log import log_event
from roma_client.names.answer import Answer


class NameWatcher:
    """Holds the admin's newest answer about the client's tables. A thread requests it at intervals.

    If the admin is unavailable the client continues to read.
    """

    def __init__(
        self,
        ask: Callable[[], Answer],
        judge: Callable[[Answer], ClientError | None],
        refresh_seconds: float | None,
    ) -> None:
        """`judge` returns the error that an answer means for the client.

        `refresh_seconds` None: never ask, the topic was chosen by the service.
        """
        self._ask = ask
        self._judge = judge
        self._seconds = refresh_seconds
        self._end = Event()
        self._found: ClientError | None = None
        self._thread = Thread(target=self._watch, name="roma-client-names", daemon=True)

    def __enter__(self) -> "NameWatcher":
        if self._seconds is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()

    def check(self) -> None:
        """Raise an error if a table must now be read from another topic; otherwise return.

        Raises TableMoved, IncompatibleVersion, and the error that `judge` returned for the newest
        answer.
        """
        if self._found is not None:
            raise self._found

    def _watch(self) -> None:
        while self._found is None and not self._end.wait(self._seconds):
            try:
                self._found = self._judge(self._ask())
            except UnknownTable as exc:
                self._found = TableMoved(
                    f"The mapping has no such table any more: {exc.reason}",
                    "To read what is left, map the table to its former topic again.",
                )
            except IncompatibleVersion as exc:
                self._found = exc
            except ClientError as exc:
                log_event(logging.INFO, "names_not_refreshed", reason=exc.reason)
            except Exception as exc:  # noqa: BLE001  # the thread must not end without a word
                reason = f"{type(exc).__name__}: {exc}"
                log_event(logging.ERROR, "names_not_refreshed", reason=reason)


READ_THE_REST: Final = (
    'Read the rest with `topic="{topic}"` until no more changes come, then start without `topic`.'
)


OF_VERBS: Final = (
    "Canal's verbs follow no moves, and the next subscription skips what is left in {topic}: map "
    "the table to {topic} again and read that first. The page of `roma canal-server` has the steps."
)


def moved_from(
    answer: Answer, places: Mapping[str, str], remedy: str = READ_THE_REST
) -> TableMoved | None:
    """Return the error if a table is no longer in the topic that it is read from.

    `places` maps each table to the topic from which it is read. A table that is not in the answer
    is ignored. In `remedy`, `{topic}` is replaced by that topic.
    """
    for table in answer.tables:
        topic = places.get(table.name)
        if topic is not None and topic not in table.topics:
            return TableMoved(
                f"The mapping sends {table.name} to {', '.join(table.topics)} (set "
                f"{answer.number}), and this client reads it from topic {topic}.",
                remedy.format(topic=topic),
            )
    return None
