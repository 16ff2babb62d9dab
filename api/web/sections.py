"""Lists the sections of the navigation, in their order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the navigation.

    key      its name in code
    path     the path of its page
    icon     the name of its icon
    short    the title on narrow screens
    counted  the unit of the number beside the entry, for screen readers
    """

    key: str
    path: str
    title: str
    icon: str
    short: str
    counted: str = ""


OVERVIEW: Final = Section("overview", "/", "Overview", "grid", "Overview", "need attention")
ROUTES: Final = Section("routes", "/routes", "Route finder", "route", "Routes")
PEEK: Final = Section("peek", "/peek", "Peek", "eye", "Peek")
DEAD_LETTERS: Final = Section(
    "dead-letters", "/dead-letters", "Dead letters", "letter", "Dead letters", "dead letters"
)
MAPPINGS: Final = Section("mappings", "/mappings", "Mappings", "map", "Mappings")
FAILOVER: Final = Section("failover", "/failover", "Failover", "swap", "Failover")
SERVERS: Final = Section("servers", "/servers", "Servers", "server", "Servers")
AUDIT: Final = Section("audit", "/audit", "Audit", "list", "Audit")
USERS: Final = Section("users", "/users", "Users and tokens", "user", "Users, tokens")
BACKUP: Final = Section("backup", "/backup", "Backup", "db", "Backup")

GROUPS: Final[Sequence[tuple[str, Sequence[Section]]]] = (
    ("Watch", (OVERVIEW, ROUTES, PEEK, DEAD_LETTERS)),
    ("Change", (MAPPINGS, FAILOVER, SERVERS)),
    ("Record", (AUDIT, USERS, BACKUP)),
)
TABS: Final = (OVERVIEW, ROUTES, PEEK, MAPPINGS)
"""The entries at the bottom edge of a small screen; the others are in the menu More."""
MORE: Final = (FAILOVER, SERVERS, DEAD_LETTERS, AUDIT, USERS, BACKUP)

KEYS: Final[Sequence[tuple[str, Sequence[str]]]] = (
    ("Search", "/"),
    ("This help", "?"),
    ("Next or previous row", "jk"),
    ("Open the row", ("Enter",)),
    ("Filter the list", "f"),
    ("Close, or leave the field", ("Esc",)),
    ("Overview", "go"),
    ("Mappings", "gm"),
    ("Route finder", "gr"),
    ("Failover", "gf"),
    ("Peek", "gp"),
    ("Dead letters", "gd"),
    ("Servers", "gs"),
    ("Audit", "ga"),
    ("Users and tokens", "gu"),
    ("Backup", "gb"),
    ("Hold or continue live figures", "p"),
)
"""Keyboard shortcuts for the help: group → title and keys of each shortcut."""
