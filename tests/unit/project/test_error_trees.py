"""The tree in the docstring of each package of errors names every class, below the class that it
extends.
"""

import inspect
import re
from types import ModuleType

import pytest

import api.errors
import relay.errors
import spark_jobs.errors

_LINE = re.compile(r"^([│ ]*[├└]── )?(\w+)( |$)")


def _told(module: ModuleType) -> dict[str, str]:
    """Class → the class above it in the tree; "" at the root."""
    found: dict[str, str] = {}
    above: list[str] = []
    for line in (module.__doc__ or "").splitlines():
        match = _LINE.match(line)
        if match is not None and (match[1] or hasattr(module, match[2])):
            del above[len(match[1] or "") // 4 :]
            found[match[2]] = above[-1] if above else ""
            above.append(match[2])
    return found


@pytest.mark.parametrize(
    "module", [relay.errors, api.errors, spark_jobs.errors], ids=lambda module: module.__name__
)
def test_the_tree_names_every_error(module: ModuleType) -> None:
    classes = dict(inspect.getmembers(module, inspect.isclass))
    own = {
        name: each
        for name, each in classes.items()
        if issubclass(each, Exception) and each.__module__.startswith(module.__name__)
    }
    assert _told(module) == {
        name: next((base.__name__ for base in each.__mro__[1:] if base.__name__ in own), "")
        for name, each in own.items()
    }
