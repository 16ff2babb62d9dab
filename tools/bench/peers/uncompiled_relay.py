"""The relay without compiled modules: `python -m tools.bench.peers.uncompiled_relay
relay --config FILE`.
"""

import sys
from typing import Any


def main() -> None:
    """Hide the compiled printer from imports, then run the command line as usual."""
    modules: dict[str, Any] = sys.modules
    modules["relay.compiled.row_printer"] = (
        None  # Python then raises ModuleNotFoundError at the import
    )
    from relay.__main__ import main as relay

    relay()


if __name__ == "__main__":
    main()
