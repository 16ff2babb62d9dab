"""Checks at import that compiled code and Python agree on the fields and numbers that compiled code
reads by index.
"""

from enum import IntEnum


def check_fields(kind: type, **indices: int) -> None:
    """Raise ImportError unless `indices` gives every field of the named tuple `kind` its index.

    Compiled code reads and creates such tuples by these indices. If the fields were reordered, it
    would silently read another field.
    """
    fields: tuple[str, ...] = getattr(kind, "_fields", ())
    found = {name: index for index, name in enumerate(fields)}
    if found != indices:
        raise ImportError(
            f"compiled code reads {kind.__name__} as {_in_order(indices)}; its fields are "
            f"{', '.join(fields)}"
        )


def check_numbers(kind: type[IntEnum], **numbers: int) -> None:
    """Raise ImportError unless `numbers` names every member of `kind` with its number."""
    found = {member.name: int(member) for member in kind}
    if found != numbers:
        wrong = sorted(
            name for name in found.keys() | numbers.keys() if found.get(name) != numbers.get(name)
        )
        raise ImportError(
            f"compiled code has other numbers than {kind.__name__} for {', '.join(wrong)}"
        )


def _in_order(indices: dict[str, int]) -> str:
    return ", ".join(sorted(indices, key=lambda name: indices[name]))
