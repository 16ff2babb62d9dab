"""A call whose end somebody else waits for."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def settle(future: "Future[Result]", call: Callable[[], Result]) -> None:
    """Make the call; what it returns or raises becomes the future's. Raises nothing itself."""
    try:
        result = call()
    except BaseException as exc:  # noqa: BLE001 - it is handed to whoever waits for the future, never swallowed
        future.set_exception(exc)
    else:
        future.set_result(result)
