"""A condition holds for a row where the server says that it does."""

from collections.abc import Callable

from deploy.embedded import SqlServer
from tests.support.conditions import ANSWERS, bound
from tests.support.conditions import CUSTOMER as READ

_TABLE = """create table {}.customer (id int primary key,
email varchar(100) character set utf8mb4 collate utf8mb4_bin,
name varchar(100) character set latin1 collate latin1_bin,
price decimal(10,2), ratio double, made datetime(3), lasts time,
state enum('draft','sold'), raw varbinary(10), flags set('a','b'), doc json)"""
_ROW = """insert into {}.customer values
(7, 'Ann@example.org', 'Müller', 12.5, 0.1, '2026-01-31 23:59:59.5',
'-01:30:00', 'sold', x'ff', 'a,b', null)"""


def test_the_server_says_the_same(database: SqlServer, fresh_name: Callable[[str], str]) -> None:
    name = fresh_name("conditions")
    database.execute(f"create database {name}", _TABLE.format(name), _ROW.format(name))
    selected = ", ".join(f"({text})" for text, _ in ANSWERS)
    with database.connect(database=name) as connection, connection.cursor() as cursor:
        cursor.execute(f"select {selected} from customer")
        (answers,) = cursor.fetchall()
    said = {
        text: None if answer is None else bool(answer)
        for (text, _), answer in zip(ANSWERS, answers, strict=True)
    }
    assert said == {text: bound(text)(READ) for text, _ in ANSWERS}
