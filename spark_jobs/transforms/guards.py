"""The columns that a copy has beside the table's own."""

from typing import Final

KEY: Final = "_key"
ORDER: Final = "_order"
EXECUTE_TIME: Final = "_execute_time"
EXECUTE_POSITION: Final = "_execute_position"
DELETED: Final = "_deleted"
GUARDS: Final = (KEY, ORDER, EXECUTE_TIME, EXECUTE_POSITION, DELETED)
