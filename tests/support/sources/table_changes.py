"""Statements that change a table in every way that renames, moves, adds or drops columns, or the
table itself.
"""

TABLE_CHANGES = (
    "alter table {t} add column x int after id, add y varchar(9) first",
    "alter table {t} change n num bigint, change v w longtext first",
    "alter table {t} rename column x to z, rename column z_ to x",
    "alter table {t} modify num int not null default 3 after w, drop y",
    "alter table {t} add (p datetime(3), q enum('a','b') default 'b'), drop column w",
    "alter table {t} convert to character set latin1",
    "rename table {t} to {t}_del, {t}_gho to {t}",
    "drop table {t}_del",
    "create table {t}_new (id int primary key, late varchar(7), num int)",
    "rename table {t} to {t}_old, {t}_new to {t}",
)
