"""Names, texts and spaces as sessions of one sql_mode may write them."""

from random import Random
from typing import Final

NAMES: Final = (
    "a",
    "b",
    "c",
    "d",
    "e",
    "Id",
    "a b",
    "select",
    "AFTER",
    'q"q',
    "b`b",
    "back\\",
    "x,y",
    "n(1)",
    "naïve",
    "中",
    "PRIMARY KEY",
    "c]d",
    "d.d",
    "semi;",
    "*/ --",
    "/*",
    "1a",
    "$d",
    "Äö",
)
_TEXTS: Final = (
    "",
    "x",
    "a'b",
    'a"b',
    "back\\",
    "\\",
    ", ADD zz INT",
    "') , DROP a",
    "FIRST",
    "-- no",
    "/* no",
    "é中",
    "tab\there",
    "n\\n",
    "a  ",
    "; DROP TABLE t",
    "*/",
    "/*!99999 x",
)
LABELS: Final = (
    "x",
    "y",
    "a'b",
    'a"b',
    "back\\",
    "\\",
    "(f)",
    "é",
    "end ",
    "l\\n",
    "A B",
    "0x61",
    "-- z",
    "q`q",
)
_SPACES: Final = (
    " ",
    " ",
    " ",
    " ",
    "\n",
    "  ",
    " /* c, d ' */ ",
    " # it's\n",
    ' -- "x\n',
    "\t",
    " /* ; */ ",
    " -- ;\n",
    " /*!*/ ",
)


def backticked(name: str) -> str:
    """An identifier in the quotes of every SQL mode."""
    return "`" + name.replace("`", "``") + "`"


class Writing:
    """Writes what a statement is made of, each time in one of the ways that the sql_mode allows."""

    def __init__(self, random: Random, sql_mode: str) -> None:
        self.random = random
        self.modes = set(sql_mode.split(","))
        self._ansi = bool(
            self.modes & {"ANSI", "ANSI_QUOTES", "ORACLE", "MSSQL", "MAXDB", "DB2", "POSTGRESQL"}
        )
        self._escapes = "NO_BACKSLASH_ESCAPES" not in self.modes

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def name(self, name: str) -> str:
        """An identifier, quoted unless it need not be."""
        if (
            name.replace("$", "_").replace("1a", "a").isidentifier()
            and name not in ("select", "AFTER")
            and self.chance(0.5)
        ):
            return name
        if "MSSQL" in self.modes and self.chance(0.4):
            return f"[{name.replace(']', ']]')}]"
        quote = '"' if self._ansi and self.chance(0.5) else "`"
        return quote + name.replace(quote, quote * 2) + quote

    def text(self, text: str | None = None) -> str:
        """A literal of this text, or of a random one."""
        value = self.random.choice(_TEXTS) if text is None else text
        quote = "'" if self._ansi or self.chance(0.7) else '"'
        if self._escapes:
            value = value.replace("\\", "\\\\")
        doubled = not self._escapes or self.chance(0.5)
        return quote + value.replace(quote, quote * 2 if doubled else f"\\{quote}") + quote

    def executed(self, words: str) -> str:
        """The words, some of them in a comment that servers carry out."""
        return (
            f"/*!{self.random.choice(('', '32312 ', '40101 ', '50100'))} {words} */"
            if self.chance(0.06)
            else words
        )

    def spaced(self, words: str) -> str:
        r"""The words with comments between some of them; `\x00` stands where one may be."""
        return "".join(self.random.choice(_SPACES) if sign == "\0" else sign for sign in words)

    def new_name(self, taken: set[str]) -> str:
        """A name that no column has."""
        lowered = {name.lower() for name in taken}
        free = [name for name in NAMES if name.lower() not in lowered]
        return (
            self.random.choice(free)
            if free and self.chance(0.8)
            else f"c{self.random.randrange(10_000)}"
        )
