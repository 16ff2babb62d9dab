"""Docstrings of a class's fields, which Python itself does not keep."""

import ast
import inspect
import textwrap
from itertools import pairwise


def field_docstrings(of: type) -> dict[str, str]:
    """Return field name → docstring for the class and its bases; a class replaces what its bases say."""
    found: dict[str, str] = {}
    for each in reversed(of.__mro__):
        if each.__module__.split(".")[0] in {"relay", "spark_jobs"}:
            found |= _own(each)
    return found


def first_sentence(of: type) -> str:
    """Return the first paragraph of the class's own docstring on one line; empty without one."""
    own = of.__dict__.get("__doc__") or ""
    return " ".join(own.strip().split("\n\n")[0].split())


def _own(of: type) -> dict[str, str]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(of)))
    body = next(each.body for each in tree.body if isinstance(each, ast.ClassDef))
    return {
        field.target.id: " ".join(text.value.value.split())
        for field, text in pairwise(body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(text, ast.Expr)
        and isinstance(text.value, ast.Constant)
        and isinstance(text.value.value, str)
    }
