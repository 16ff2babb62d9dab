"""Parts of SET statements for sessions that must see all of a source, whatever its variables are.

Each is appended to a SET statement.
"""

from typing import Final

AND_SEE_ALL: Final = (
    ", SESSION sql_select_limit = 18446744073709551615"
    " /*!80030 , SESSION show_gipk_in_create_table_and_information_schema = ON */"
)
"""Makes SELECTs return all rows, and the catalogue show MySQL's generated invisible primary keys.

The binlog has such a key column in all rows, so it is the key of their messages. Other servers read
the last variable as a comment.
"""
AND_SORT_WHOLE_KEYS: Final = ", SESSION max_sort_length = 262144"
"""Makes the session sort by whole texts. Without an index in the order of the key, a server sorts
by this many bytes of each text; the default is 1024.

Rows whose texts are equal up to there would come in any order, and a chunk could begin after rows
that were never read. MariaDB has unique keys of up to 65,535 bytes.
"""
