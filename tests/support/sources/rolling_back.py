"""Transactions whose rolled-back rows are in the binlog."""

from deploy.embedded import SqlServer

_AT_ONCE = 500


def insert_and_roll_back(server: SqlServer, name: str, *, first: int, rows: int) -> list[int]:
    """Insert three times `rows` rows into `<name>.t` in one transaction, and roll the second third
    back to a savepoint.

    Because of a temporary table without transactions, MariaDB leaves the rolled-back rows in the
    binlog. MySQL removes them nevertheless. Returns the numbers of the rows that are kept, from
    `first` on.
    """
    with server.connect(user="repl", autocommit=False) as connection, connection.cursor() as cursor:
        for sql in (f"create temporary table {name}.scratch (a int) engine=myisam", "begin"):
            cursor.execute(sql)
        for third, then in enumerate(("savepoint s", "rollback to savepoint s", "")):
            numbers = range(first + third * rows, first + (third + 1) * rows)
            for some in (numbers[at : at + _AT_ONCE] for at in range(0, rows, _AT_ONCE)):
                cursor.execute(
                    f"insert into {name}.t values "
                    + ",".join(f"({each}, 0, repeat('x', 400))" for each in some)
                )
            if third == 1:
                cursor.execute(f"insert into {name}.scratch values (1)")
            if then:
                cursor.execute(then)
        connection.commit()
    return [*range(first, first + rows), *range(first + 2 * rows, first + 3 * rows)]
