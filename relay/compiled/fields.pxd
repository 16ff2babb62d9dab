# Indices of the named tuples of relay.model.change that compiled code reads. `check_fields` compares them at import.

cdef enum:  # RowsEvent
    EVENT_OPERATION = 0
    EVENT_TABLE = 1
    EVENT_ROWS = 2
    EVENT_HEADER_TIME_S = 3
    EVENT_POSITION = 4
    EVENT_SIZE_BYTES = 5
    EVENT_BODY = 6
    EVENT_IMAGES_AT = 7

cdef enum:  # TransactionBegin
    BEGIN_POSITION = 0
    BEGIN_GTID = 1
    BEGIN_COMMIT_TIME_MS = 2
    BEGIN_HEADER_TIME_S = 3

cdef enum:  # BinlogPosition
    POSITION_FILE = 0
    POSITION_OFFSET = 1
