"""The guards: columns that a copy has in addition to the columns of its table, such as the key, the
order key of the newest change, and whether the row is deleted.
"""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

KEY: Final = "_key"
ORDER: Final = "_order"
EXECUTE_TIME: Final = "_execute_time"
EXECUTE_POSITION: Final = "_execute_position"
DELETED: Final = "_deleted"
UNFIT: Final = "_unfit"
COLUMN_ORDERS: Final = "_column_orders"
RESET_ORDER: Final = "_reset_order"
REAL_TABLE: Final = "_real_table"
WHOLE_ROW_GUARDS: Final = (KEY, ORDER, EXECUTE_TIME, EXECUTE_POSITION, DELETED, UNFIT)
GUARDS: Final = (*WHOLE_ROW_GUARDS, COLUMN_ORDERS, RESET_ORDER, REAL_TABLE)
"""The names of all guard columns.

COLUMN_ORDERS and RESET_ORDER exist only with partial rows, REAL_TABLE only with `truncate =
"follow"`.
"""


def own_columns(copy: DataFrame) -> dict[str, DataType]:
    """Return the columns that a copy has from its table, without the guards: name → type."""
    return {field.name: field.dataType for field in copy.schema.fields if field.name not in GUARDS}
