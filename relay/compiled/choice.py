"""Chooses between the two printers of rows, compiled code and the readable packages, and gives the
reason.

No other module decides. Both printers write the same bytes. `compiled_code` decides for the
process, when it is imported. `slow_reason` decides for a table of an instance, when the table's
plan is made. Some reasons depend on the bytes of an event (PARTIAL_IMAGE, MOVED_ROW, VALUE, LARGE,
DAMAGED): the compiled printer returns them itself.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from relay.model.row_path import RowPath, SlowReason


class CompiledCode(NamedTuple):
    """Whether this process runs compiled code.

    `reason` says why it does not, and is "" if it does.
    """

    usable: bool
    reason: str = ""

    @property
    def path(self) -> RowPath:
        """The printer of tables for which `slow_reason` returns None."""
        return RowPath.COMPILED if self.usable else RowPath.READABLE


def compiled_code(failures: Mapping[str, ImportError | None]) -> CompiledCode:
    """Return whether compiled code is used: all modules or none, because a partial build is not
    usable.

    `failures` maps each module to its import error, None if it was imported.
    """
    absent = [name for name, error in failures.items() if isinstance(error, ModuleNotFoundError)]
    if len(absent) == len(failures):
        return CompiledCode(False, "this package was installed without compiled modules")
    broken = [f"{name}: {error}" for name, error in failures.items() if error is not None]
    return (
        CompiledCode(False, f"compiled modules cannot be used: {'; '.join(broken)}")
        if broken
        else CompiledCode(True)
    )


class Facts(NamedTuple):
    """The facts that the choice of a printer depends on.

    The defaults describe a plain table of an instance with default settings, with compiled code.

    row_printer, value_style, tombstones  settings of the instance
    format_compiled   compiled code prints the message format
    refined           rules, masks or transforms apply to the table
    field_tags        the table has tags that depend on changed columns
    topics            number of topics to which the table's rows go
    system_versioned  the source keeps versions of the table's rows
    columns_known     the compiled printer prints every column, and the table has at least one
    placing_known     the compiled printer hashes every column that chooses the partition
    compiled          compiled code is usable
    """

    row_printer: str = "auto"
    value_style: str = "exact"
    format_compiled: bool = True
    tombstones: bool = False
    refined: bool = False
    field_tags: bool = False
    topics: int = 1
    system_versioned: bool = False
    columns_known: bool = True
    placing_known: bool = True
    compiled: bool = True


_RULES: Final[tuple[tuple[SlowReason, Callable[[Facts], bool]], ...]] = (
    (SlowReason.SETTING, lambda facts: facts.row_printer == "readable"),
    (SlowReason.VALUE_STYLE, lambda facts: facts.value_style != "exact"),
    (SlowReason.FORMAT, lambda facts: not facts.format_compiled),
    (SlowReason.TOMBSTONES, lambda facts: facts.tombstones),
    (SlowReason.REFINED, lambda facts: facts.refined),
    (SlowReason.FIELD_TAGS, lambda facts: facts.field_tags),
    (SlowReason.SEVERAL_TOPICS, lambda facts: facts.topics != 1),
    (SlowReason.SYSTEM_VERSIONED, lambda facts: facts.system_versioned),
    (SlowReason.COLUMN, lambda facts: not facts.columns_known),
    (SlowReason.PLACED_BY, lambda facts: not facts.placing_known),
    # This rule is the last one, so that NOT_COMPILED counts exactly the rows that compiled code
    # would print.
    (SlowReason.NOT_COMPILED, lambda facts: not facts.compiled),
)


def slow_reason(facts: Facts) -> SlowReason | None:
    """Return why the readable packages print a table's rows, the first reason that applies.

    None if compiled code prints them.
    """
    return next((reason for reason, applies in _RULES if applies(facts)), None)
