from collections.abc import Mapping
from typing import Any

class CodeIDToken(dict[str, Any]):
    def __init__(
        self,
        claims: Mapping[str, Any],
        header: Mapping[str, Any],
        options: Mapping[str, Mapping[str, object]],
        params: Mapping[str, object],
    ) -> None: ...
    def validate(self, now: float | None = ..., leeway: float = ...) -> None: ...
