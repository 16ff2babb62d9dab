"""Docstrings of a class's fields, which Python itself does not keep."""

import ast
import inspect
import textwrap
from itertools import pairwise


def field_docstrings(of: type) -> dict[str, str]:
    """Return field name → docstring for the class and its bases.

    The docstring of a class has precedence over those of its bases.
    """
    found: dict[str, str] = {}
    for each in reversed(of.__mro__):
        if each.__module__.split(".")[0] in {"relay", "spark_jobs"}:
            found |= _own(each)
    return found


def opening(of: type) -> str:
    """Return the summary of the class's own docstring, and the paragraph after it, on one line.

    A paragraph that begins with the name of an attribute is left out. Empty without a docstring.
    """
    summary, *more = inspect.cleandoc(of.__dict__.get("__doc__") or "").split("\n\n")
    said = [summary, *(each for each in more[:1] if not each.startswith("`"))]
    return " ".join(" ".join(said).split())


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
