"""Parses the rules, masks and transforms of one instance, and combines those of each table."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from typing import Any, Protocol

from relay.errors import ConfigurationError
from relay.model.change import Operation
from relay.model.names.name_pattern import NamePattern
from relay.model.table import RowVersions, TableDefinition, TableId, TableMap
from relay.refine.bound_condition import ConditionBinder
from relay.refine.columns import listed
from relay.refine.condition import Condition
from relay.refine.condition_parser import parse_condition
from relay.refine.masks import Mask, MaskedColumn, TextOf, first_mask
from relay.refine.table_refinement import TableRefinement
from relay.refine.transform import Transform
from relay.refine.transformed import Lookup
from relay.settings import LookupSettings, MaskSettings, RowRuleSettings, TransformSettings


class AskedOfRows(Protocol):
    """The row settings of an instance, or of a Spark job that copies its tables."""

    @property
    def rules(self) -> tuple[RowRuleSettings, ...]:
        """Return the rules that choose rows and columns of tables."""

    @property
    def masks(self) -> tuple[MaskSettings, ...]:
        """Return which columns are replaced by a hash or a constant, or removed."""

    @property
    def transforms(self) -> tuple[TransformSettings, ...]:
        """Return the user's functions on rows, in the order in which they are applied."""

    @property
    def lookups(self) -> tuple[LookupSettings, ...]:
        """Return the read-only queries of the source that transforms may use."""


class _Rule:
    """One rule, with its parsed condition."""

    def __init__(self, settings: RowRuleSettings) -> None:
        self.settings = settings
        self.tables = NamePattern(settings.tables)
        self.condition: Condition | None = (
            parse_condition(settings.where) if settings.where else None
        )


class Refinements:
    """The row settings of one instance, ready to be applied.

    Raises ConfigurationError (ConditionRefused among them) if a setting cannot be parsed or names
    something that does not exist.
    """

    def __init__(self, settings: AskedOfRows, lookups: Mapping[str, Lookup]) -> None:
        self._rules = [_Rule(rule) for rule in settings.rules]
        self._masks = [Mask(mask) for mask in settings.masks]
        self._transforms = {each.table: Transform(each, lookups) for each in settings.transforms}
        if len(self._transforms) < len(settings.transforms):
            raise ConfigurationError(
                "Two transforms have the same `table`. Keep one of them; its function may call "
                "other functions."
            )

    @classmethod
    def without_answers(cls, settings: AskedOfRows) -> "Refinements":
        """Return the row settings for a check that reads no rows: each lookup answers None."""
        return cls(settings, {each.name: lambda *_: None for each in settings.lookups})

    def of(
        self,
        definition: TableDefinition,
        logical: TableId,
        text_of: TextOf,
        hashed_keys: TextOf | None = None,
    ) -> TableRefinement | None:
        """Return the rules, transform and masks of a table, combined; None: its rows are published
        unchanged.

        `text_of` makes the text of a column's values. In key columns, masks hash the text that
        `hashed_keys` makes instead: two keys with equal texts of `text_of` (a FLOAT has only six
        digits there) still get different hashes (ADR 47). Default: `text_of`. Raises RuleRefused.
        """
        rules = [rule for rule in self._rules if rule.tables.matches(str(definition.id))]
        transform = self._transforms.get(str(logical))
        is_masked = any(
            first_mask(self._masks, definition, each) is not None for each in definition.map.columns
        )
        if not rules and transform is None and not is_masked:
            return None
        texts = [
            text_of(column, text, _ignore)
            for column, text in zip(definition.map.columns, definition.type_texts, strict=True)
        ]
        binder = ConditionBinder(definition, texts)
        settings = [rule.settings for rule in rules]
        table_transform = None
        if transform is not None:
            discreet = is_masked or any(each.fields or each.without_fields for each in settings)
            table_transform = transform.of(definition, logical, texts, discreet=discreet)
        whole = definition if table_transform is None else table_transform.definition
        fields = listed(whole, settings)
        masked = self._masked(whole, text_of, hashed_keys or text_of)
        conditions = [rule.condition for rule in rules if rule.condition is not None]
        return TableRefinement(
            definition=whole,
            published=_published(whole, fields, masked),
            operations=_operations(settings),
            conditions=[binder.bind(condition) for condition in conditions],
            transform=table_transform,
            fields=fields,
            masked=masked,
        )

    def withhold(self, tables: Collection[TableId]) -> bool:
        """Return whether the text of a statement that changes rows of these tables may contain
        masked or hidden values.

        The columns in a statement are unknown. So with any mask in the settings, all statements are
        withheld. With rules that list fields, statements on their tables are withheld, and
        statements with unknown tables too.
        """
        lists = [
            rule for rule in self._rules if rule.settings.fields or rule.settings.without_fields
        ]
        if self._masks or (lists and not tables):
            return True
        return any(rule.tables.matches(str(table)) for rule in lists for table in tables)

    def _masked(
        self, definition: TableDefinition, text_of: TextOf, hashed_keys: TextOf
    ) -> dict[int, MaskedColumn]:
        keys = {*definition.key, *definition.map.primary_key}
        found = (
            (ordinal, first_mask(self._masks, definition, column))
            for ordinal, column in enumerate(definition.map.columns)
        )
        return {
            ordinal: mask.on(definition, ordinal, hashed_keys if ordinal in keys else text_of)
            for ordinal, mask in found
            if mask is not None
        }


def configuration_of_rows(settings: AskedOfRows) -> str:
    """Return a text that differs if the settings turn the same rows into other messages; "" without
    such settings.

    It reveals nothing about salts.
    """
    parts = chain(
        (rule.model_dump_json() for rule in settings.rules),
        (Mask(mask).fingerprint for mask in settings.masks),
        (transform.model_dump_json() for transform in settings.transforms),
        (lookup.model_dump_json() for lookup in settings.lookups),
    )
    text = "\n".join(parts)
    return sha256(text.encode()).hexdigest() if text else ""


def _operations(rules: Sequence[RowRuleSettings]) -> frozenset[Operation]:
    """Return the operations that every rule accepts."""
    return frozenset(Operation).intersection(
        *(frozenset(map(Operation, rule.operations)) for rule in rules)
    )


def _published(
    definition: TableDefinition, fields: tuple[int, ...] | None, masked: Mapping[int, MaskedColumn]
) -> TableDefinition:
    """Return the table as messages contain it."""
    ordinals = range(len(definition.map.columns)) if fields is None else fields
    place = {ordinal: at for at, ordinal in enumerate(ordinals)}
    columns = tuple(
        masked[each].column if each in masked else definition.map.columns[each] for each in ordinals
    )
    type_texts = tuple(
        masked[each].type_text if each in masked else definition.type_texts[each]
        for each in ordinals
    )
    primary_key = tuple(place[each] for each in definition.map.primary_key)
    table: TableMap = replace(definition.map, columns=columns, primary_key=primary_key)
    versions = definition.versions
    if versions is not None:
        versions = RowVersions(place[versions.end], tuple(place[each] for each in versions.key))
    return TableDefinition(
        table, tuple(place[each] for each in definition.key), type_texts, versions
    )


def _ignore(*_: Any) -> None:
    """Do nothing: undecodable bytes are counted where rows are published."""
