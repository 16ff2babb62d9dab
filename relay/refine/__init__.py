"""Applies the row settings of an instance: field lists, conditions, masks and transforms.

Transforms are Python functions of the installation's own packages. Without input or output.
"""

from relay.refine.masks import TextOf
from relay.refine.refinements import AskedOfRows, Refinements, configuration_of_rows
from relay.refine.table_refinement import OPERATION, NotPublished, TableRefinement
from relay.refine.transformed import Change, Image, Lookup, Plain, TransformFunction

__all__ = [
    "OPERATION",
    "AskedOfRows",
    "Change",
    "Image",
    "Lookup",
    "NotPublished",
    "Plain",
    "Refinements",
    "TableRefinement",
    "TextOf",
    "TransformFunction",
    "configuration_of_rows",
]
