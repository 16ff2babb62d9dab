"""MySQL's generated invisible primary keys, which a server may hide from its catalogue.

Rows in the binlog have the column all the same, and messages have it as their key (MySQL manual:
Generated Invisible Primary Keys, show_gipk_in_create_table_and_information_schema).
"""

from typing import Final

AND_SHOW_GENERATED_KEYS: Final = (
    " /*!80030 , SESSION show_gipk_in_create_table_and_information_schema = ON */"
)
"""The end of a SET statement: the session's catalogue shows generated keys. Other servers take it
for a comment.
"""
