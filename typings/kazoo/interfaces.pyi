from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

class IAsyncResult(Generic[T]):
    @property
    def exception(self) -> BaseException | None: ...
    def get(self, block: bool = ..., timeout: float | None = ...) -> T: ...
    def rawlink(self, callback: Callable[[IAsyncResult[T]], object]) -> None: ...
