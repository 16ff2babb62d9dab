"""A call whose result another thread waits for."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def complete_future(future: "Future[Result]", call: Callable[[], Result]) -> None:
    """Make the call; its result or error becomes the future's. Raises nothing itself."""
    try:
        result = call()
    except BaseException as exc:  # noqa: BLE001 - the future raises it to its reader; it is never swallowed
        future.set_exception(exc)
    else:
        future.set_result(result)
