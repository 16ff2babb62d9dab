"""The frame of every page: navigation, installation, caller, health."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import ClassVar, Final
from urllib.parse import urlsplit

from markupsafe import Markup

from api.access import Caller
from api.web.sections import GROUPS, KEYS, MORE, TABS, Section
from relay.model.accounts import Right

SHOWN_URL: Final = "HX-Current-URL"
"""Header of a request for a part of a page: the address of the document that shows the part."""
_VERSION: Final = version("roma-relay")


@dataclass(frozen=True, slots=True)
class HealthLine:
    """One line of the sidebar about the installation's health."""

    sentence: str
    good: bool


@dataclass(frozen=True, slots=True)
class Page:
    """The frame of one answer. Templates know it as `page`.

    path    path of the document that shows the answer, without the prefix that a proxy adds
    here    path and query, to return to after signing in
    done    sentence about the preceding act; empty: none
    csrf    value that a form sends back; empty for a caller without a session
    counts  key of a section → number beside its entry
    instances  names of the known instances
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
    instances: frozenset[str] = frozenset()

    version: ClassVar[str] = _VERSION
    sections: ClassVar[Sequence[tuple[str, Sequence[Section]]]] = GROUPS
    tabs: ClassVar[Sequence[Section]] = TABS
    more: ClassVar[Sequence[Section]] = MORE
    keys: ClassVar[Sequence[tuple[str, Sequence[str]]]] = KEYS

    def at(self, path: str) -> str:
        """Return a path of the admin relative to this page, because a proxy may add a prefix."""
        up = "../" * (self.path.count("/") - 1) or "./"
        return up + path.lstrip("/")

    def may(self, right: str) -> bool:
        """Return whether the caller has the right."""
        return Right(right) in self.caller.rights

    @property
    def csrf_field(self) -> Markup:
        """The hidden field against cross-site requests, which every form needs."""
        return Markup('<input type="hidden" name="csrf" value="{}">').format(self.csrf)


def document_path(path: str, shown_url: str) -> str:
    """Return the path that relative links of an answer start from.

    A part that script puts into the page above or below it resolves its links from that page.
    `shown_url` is the address of the document, empty if the answer is a document of its own.
    """
    shown = urlsplit(shown_url).path
    above, below = path.rpartition("/")[0], f"{path}/{shown.rpartition('/')[2]}"
    return next((each for each in (path, below, above) if each and shown.endswith(each)), path)
