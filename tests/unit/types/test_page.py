"""docs/types.md and its parts: every type has its line, every table of unusual shape its test, and
texts come back as they were written.
"""

from hypothesis import given
from hypothesis import strategies as st

from relay.charsets.collations import charset_of_collation
from relay.model.table import ColumnType
from tests.support.rows.types_page import PAGE, escaped, rewritten, type_lines, unescaped
from tests.types.odd_tables import ODD_TABLES

TEXT = PAGE.read_text(encoding="utf-8")
DECODED = (PAGE.parent / "types" / "decoded-values.md").read_text(encoding="utf-8")
CANAL = (PAGE.parent / "canal" / "types.md").read_text(encoding="utf-8")


def section(page: str, heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    lines = page.partition(f"## {heading}\n")[2].partition("\n## ")[0].splitlines()
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("|")
    ][2:]


def test_every_column_type_of_the_binlog_has_its_line() -> None:
    assert {kind.name for kind in ColumnType} <= {
        cells[1] for cells in section(DECODED, "How a value is stored in the binlog")
    }


def test_every_table_of_unusual_shape_is_one_that_is_tested() -> None:
    assert [cells[0] for cells in section(CANAL, "Tables of unusual shape")] == list(ODD_TABLES)


def test_every_character_set_has_its_line() -> None:
    known = {charset_of_collation(number) for number in range(2048)} - {None, "filename"}
    shown = {charset for charset in known if charset and f"CHARACTER SET {charset}`" in TEXT}
    assert known == shown


def test_every_line_is_filled_in() -> None:
    lines = type_lines()
    assert len(lines) > 140
    assert "?" not in {
        cell
        for page in (TEXT, DECODED, CANAL)
        for line in page.splitlines()
        for cell in map(str.strip, line.split("|"))
    }


@given(st.text())
def test_texts_come_back(text: str) -> None:
    cell = escaped(text)
    assert unescaped(cell) == text
    assert not set(cell) & set("|`\n\r\t")


def test_a_line_can_be_written_anew() -> None:
    number = type_lines()[0].number
    page = rewritten(TEXT, {number: ("a|b", "")})
    assert page.split("\n")[number].split("|")[3:5] == [" `a\\u007cb` ", " empty "]
    assert page.count("\n") == TEXT.count("\n")
