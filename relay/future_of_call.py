"""Runs a call and passes its result to another thread by a future."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

Result = TypeVar("Result")


def complete_future(future: "Future[Result]", call: Callable[[], Result]) -> None:
    """Make the call, and store its result or error in the future. Raises no error itself."""
    try:
        result = call()
    except BaseException as exc:  # noqa: BLE001 - the future raises it to its reader; it is never swallowed
        future.set_exception(exc)
    else:
        future.set_result(result)
