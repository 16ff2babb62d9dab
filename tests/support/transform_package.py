"""An installed package with transforms, as an operator's would be: found by its entry points, not
by its path.
"""

from pathlib import Path

FUNCTIONS = '''
from decimal import Decimal


def lines(change, lookups):
    """One change for each line of an order, with the customer's city.

    An order that names no number of lines cannot be taken.
    """
    number = int(change.row["lines"])
    found = lookups["city"](change.row["customer"])
    price = change.row["price"]
    for line in range(1, number + 1):
        yield change.having(line=line, city=found and found["city"], price=price * Decimal(line))
'''


def install(folder: Path, functions: str = FUNCTIONS) -> str:
    """Put the package into the folder, and return what PYTHONPATH must be to find it."""
    metadata = folder / "shop_transforms-1.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: shop-transforms\nVersion: 1\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(
        "[roma.transforms]\norder_lines = shop_transforms:lines\n", encoding="utf-8"
    )
    (folder / "shop_transforms.py").write_text(functions, encoding="utf-8")
    return str(folder)
