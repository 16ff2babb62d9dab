"""Message formats: each module writes the values of messages in one format. `message_format` has
the interface that the pipeline uses.
"""

from relay.encode.formats.canal_json import CanalJson
from relay.encode.formats.cloud_events import CloudEvents
from relay.encode.formats.debezium_json import DebeziumJson
from relay.encode.formats.json_rows import without_number
from relay.encode.formats.maxwell_json import MaxwellJson
from relay.encode.formats.message_format import (
    EventRows,
    MessageFormat,
    RowsEncoder,
    StatementFacts,
)

__all__ = [
    "CanalJson",
    "CloudEvents",
    "DebeziumJson",
    "EventRows",
    "MaxwellJson",
    "MessageFormat",
    "RowsEncoder",
    "StatementFacts",
    "without_number",
]
