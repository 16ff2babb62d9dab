"""What the relay's speed does when one thing grows and everything else is held constant: `make
bench-scaling`.
"""

from tools.bench.scaling.pages import page
from tools.bench.scaling.plot import svg
from tools.bench.scaling.race import SERIES_NAMES, scale

__all__ = ["SERIES_NAMES", "page", "scale", "svg"]
