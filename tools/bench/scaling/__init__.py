"""Measures the relay's speed while one quantity grows and all others are constant: `make
bench-scaling`.
"""

from tools.bench.scaling.pages import page
from tools.bench.scaling.plot import svg
from tools.bench.scaling.race import SERIES_NAMES, scale

__all__ = ["SERIES_NAMES", "page", "scale", "svg"]
