"""The indexes of a table, and the unique key that names a row, as servers keep them."""
