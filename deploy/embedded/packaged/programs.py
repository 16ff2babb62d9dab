"""The folders of programs in packages of Python."""

from importlib.util import find_spec
from pathlib import Path

from deploy.embedded.errors import Unavailable


def folder_of(package: str, distribution: str) -> Path:
    """Return the folder of an installed package. Raises Unavailable where it is not installed."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise Unavailable(
            f"The package {distribution} is not installed; it has files for some versions of "
            "Python only.",
            "Install the pinned packages: `make setup`.",
        )
    return Path(spec.origin).parent
