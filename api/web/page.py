"""What every page shows around its own part: navigation, installation, caller, health."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import ClassVar, Final

from markupsafe import Markup

from api.access import Caller
from api.web.sections import GROUPS, KEYS, MORE, TABS, Section
from relay.model.accounts import Right

_VERSION: Final = version("roma-relay")


@dataclass(frozen=True, slots=True)
class HealthLine:
    """One line on the installation's health."""

    sentence: str
    good: bool


@dataclass(frozen=True, slots=True)
class Page:
    """The frame of one answer. Templates know it as `page`.

    path    path of the request, without the prefix that a proxy adds
    here    path and query, to come back to after signing in
    done    sentence on the act that led here; empty: none
    csrf    value that a form sends back; empty for a caller without a session
    counts  key of a section → number beside its entry
    """

    path: str
    here: str
    section: str
    installation: str
    caller: Caller
    done: str = ""
    csrf: str = ""
    health: Sequence[HealthLine] = ()
    counts: Mapping[str, int] = field(default_factory=dict)

    version: ClassVar[str] = _VERSION
    sections: ClassVar[Sequence[tuple[str, Sequence[Section]]]] = GROUPS
    tabs: ClassVar[Sequence[Section]] = TABS
    more: ClassVar[Sequence[Section]] = MORE
    keys: ClassVar[Sequence[tuple[str, Sequence[str]]]] = KEYS

    def at(self, path: str) -> str:
        """Return a path of the admin relative to this page, for a proxy may add a prefix to it."""
        up = "../" * (self.path.count("/") - 1) or "./"
        return up + path.lstrip("/")

    def may(self, right: str) -> bool:
        """Whether the caller has the right."""
        return Right(right) in self.caller.rights

    @property
    def csrf_field(self) -> Markup:
        """The hidden field that every form carries."""
        return Markup('<input type="hidden" name="csrf" value="{}">').format(self.csrf)
