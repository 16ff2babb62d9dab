"""What the relay's speed does when one thing grows and everything else is held constant: `make bench-scaling`."""

from tests.bench.scaling.pages import page
from tests.bench.scaling.plot import svg
from tests.bench.scaling.race import SERIES_NAMES, scale

__all__ = ["SERIES_NAMES", "page", "scale", "svg"]
