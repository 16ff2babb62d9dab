from collections.abc import Callable, Mapping, Sequence
from typing import Any

class BinLogStreamReader:
    log_file: str
    log_pos: int
    def __init__(
        self,
        connection_settings: Mapping[str, Any],
        server_id: int,
        *,
        log_file: str,
        log_pos: int,
        resume_stream: bool,
        only_events: Sequence[type],
        filter_non_implemented_events: bool,
        verify_checksum: bool,
        enable_logging: bool,
        pymysql_wrapper: Callable[..., Any],
    ) -> None: ...
    def fetchone(self) -> Any: ...
    def close(self) -> None: ...
