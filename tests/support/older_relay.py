"""The relay as the version before it was, which knows the first format of the position record alone.

`python -m tests.support.older_relay relay ...`
"""

from relay.model import position_record


def main() -> None:
    position_record.FORMAT = 1  # type: ignore[misc]  # to be older is the purpose
    from relay.__main__ import main as relay

    relay()


if __name__ == "__main__":
    main()
