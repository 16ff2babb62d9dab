"""Compiled code that prints rows: it turns the bytes of an event into the bytes of messages.

If it was not built, the readable packages (decode, partition, encode) print rows, and Python code
reads events one by one. `choice` decides.
"""

from importlib import import_module
from typing import Final

from relay.compiled.choice import CompiledCode, Facts, compiled_code, slow_reason
from relay.compiled.column_plan import ColumnPlan, Envelope, Extra, Kind, Wire

MODULES: Final = (
    "chunk_images",
    "event_scanner",
    "row_printer",
    "envelopes.envelope_printer",
    "transaction_printer",
    "kafka_client.block_sender",
)
"""The compiled modules that the relay imports."""


def _failure(name: str) -> ImportError | None:
    try:
        import_module(f"relay.compiled.{name}")
    except ImportError as exc:
        return exc
    return None


CODE: Final[CompiledCode] = compiled_code({name: _failure(name) for name in MODULES})
"""Whether this process runs compiled code, and why not."""
COMPILED: Final = CODE.usable

__all__ = [
    "CODE",
    "COMPILED",
    "MODULES",
    "ColumnPlan",
    "CompiledCode",
    "Envelope",
    "Extra",
    "Facts",
    "Kind",
    "Wire",
    "slow_reason",
]
