"""Builds the frame of every page: navigation, installation, caller, health."""

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
    """One line of the sidebar about the installation's health. `good` is False if something is
    wrong.
    """

    sentence: str
    good: bool


@dataclass(frozen=True, slots=True)
class Page:
    """The frame of one answer. Templates use it as `page`.

    path          path of the document that shows the answer, without a proxy's prefix
    here          path and query, to return to after signing in
    section       key of the current navigation entry
    installation  name of the installation
    caller        the sender of the request
    done          sentence about the preceding act; empty: there is none
    csrf          value that a form sends back; empty for a caller without a session
    health        lines of the sidebar about the installation's health
    counts        key of a section → number beside its entry
    instances     names of the known instances
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
        """Return the relative link from this page to a path of the admin.

        Links are relative, because a proxy may serve the admin below a prefix.
        """
        up = "../" * (self.path.count("/") - 1) or "./"
        return up + path.lstrip("/")

    def may(self, right: str) -> bool:
        """Return whether the caller has the right of this name."""
        return Right(right) in self.caller.rights

    @property
    def csrf_field(self) -> Markup:
        """The hidden field against cross-site requests, which every form needs."""
        return Markup('<input type="hidden" name="csrf" value="{}">').format(self.csrf)


def document_path(path: str, shown_url: str) -> str:
    """Return the path of the document from which relative links of an answer start.

    A script may put the answer into another page; that page's URL is `shown_url`. It is empty if
    the answer is a document itself; `path` is then the path of the request.
    """
    shown = urlsplit(shown_url).path
    above, below = path.rpartition("/")[0], f"{path}/{shown.rpartition('/')[2]}"
    return next((each for each in (path, below, above) if each and shown.endswith(each)), path)
