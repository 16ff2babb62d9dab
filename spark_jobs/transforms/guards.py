"""The columns that a copy has beside the table's own."""

from typing import Final

KEY: Final = "_key"
ORDER: Final = "_order"
EXECUTE_TIME: Final = "_execute_time"
EXECUTE_POSITION: Final = "_execute_position"
DELETED: Final = "_deleted"
UNFIT: Final = "_unfit"
COLUMN_ORDERS: Final = "_column_orders"
RESET_ORDER: Final = "_reset_order"
GUARDS: Final = (KEY, ORDER, EXECUTE_TIME, EXECUTE_POSITION, DELETED, UNFIT, COLUMN_ORDERS, RESET_ORDER)
"""The last two are there only where rows come in parts."""
