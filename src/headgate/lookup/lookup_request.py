"""A complete, checked lookup request: the starting point for running it in process or on Spark."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa

from headgate.columns.common_type import Unlike
from headgate.engine.limits import terms_for
from headgate.engine.shape import Shape, apart, check_column
from headgate.kernel.terms import Terms
from headgate.lookup.key_types import check_key_types, compared_as
from headgate.lookup.table import Table
from headgate.models import Frequencies
from headgate.policies import ALL_POLICIES, Policy
from headgate.policies.offline import Lfd
from headgate.policies.random import Random
from headgate.spec import Budget, Keys, SpecError, TimeWindow

How = Literal["inner", "left"]
FOREVER = TimeWindow(1 << 60)
"""Longer than any stream; twice it, and the time of a row, still fit 63 bits."""
WINDOWS = (FOREVER, TimeWindow(0))
REFERENCE_TIME = TimeWindow(2)
"""How long a reference takes by the lookup's own clock; see `lookup_step.py`."""
SERVING: tuple[type[Policy], ...] = (*ALL_POLICIES, Lfd)
NAMED = {policy.name: policy for policy in SERVING if policy.caches}


@dataclass(frozen=True)
class LookupRequest:
    """Keys (left: the table's), table, columns to fetch, budget and policy of a lookup.

    ``how`` says what to do with stream rows that have no table row; ``suffix`` is appended to a
    table column whose name also occurs in the stream.
    """

    keys: Keys
    table: Table
    schema: pa.Schema
    budget: Budget
    policy: Policy
    how: How
    suffix: str

    def shape(self, stream: pa.Schema) -> Shape:
        """The columns of the result; raises if the stream does not fit the request."""
        for name in self.keys.right:
            check_column("the stream", name, stream.names)
        check_key_types(self.keys, stream, self.schema)
        output = [(name, 1, name) for name in stream.names]
        others = [name for name in self.schema.names if name not in self.keys.shared]
        advice = "rename a column of the stream, choose other columns=, or"
        shown = apart(stream.names, others, self.suffix, advice)
        output += [(new, 0, name) for new, name in zip(shown, others, strict=True)]
        return Shape(self.keys, ("", ""), tuple(output), counted=True)

    def terms(self, shards: int = 1, reserve: float = 0.0) -> Terms:
        """The kernel's terms for one of several equal shards."""
        terms = terms_for(self.budget, WINDOWS, self.policy.without_model(), shards, reserve)
        return replace(terms, unique=True)


def wanted_columns(
    table: pa.Schema, keys: Keys, columns: Sequence[str] | None, name: str
) -> pa.Schema:
    """The table's columns to fetch: its keys, and the requested columns or all."""
    asked = table.names if columns is None else columns
    if isinstance(asked, str) or not all(isinstance(column, str) for column in asked):
        raise SpecError(f"columns={columns!r} is not accepted: give a list of column names")
    for column in (*keys.left, *asked):
        found = table.names.count(column)
        if found != 1:
            has = "no column" if found == 0 else "several columns"
            raise SpecError(f'{name} has {has} "{column}": it has {", ".join(table.names)}')
    for column in keys.left:
        kind = table.field(column).type
        try:
            compared_as(kind, kind)
        except Unlike:
            raise SpecError(
                f'key column "{column}" of {name} is {kind}, which databases cannot be asked for: '
                f"use a column of numbers, text or times"
            ) from None
    return pa.schema([field for field in table if field.name in {*keys.left, *asked}])


def chosen_policy(given: Any, frequencies: Frequencies | None, seed: int) -> Policy:
    """Return the caching policy, given by name or as an object; raise if it cannot run a cache.

    Examples
    --------
    >>> chosen_policy("lru", None, 0)
    Lru()
    """
    names = ", ".join(f'"{name}"' for name in NAMED)
    if isinstance(given, str):
        if given not in NAMED:
            known = given in {policy.name for policy in ALL_POLICIES} or given == "auto"
            why = "is for windows, and cached rows never expire" if known else "is unknown"
            raise SpecError(f'policy "{given}" {why}: give one of {names}, or a policy object')
        kind: Any = NAMED[given]
        if kind.model:
            if frequencies is None:
                raise SpecError(
                    f'policy "{given}" ranks keys by how often they come: give frequencies='
                )
            made: Policy = kind(frequencies)
        else:
            made = Random(seed) if kind is Random else kind()
        return made
    if not isinstance(given, Policy):
        raise SpecError(
            f"policy {given!r} is not accepted: give one of {names}, or a policy object"
        )
    if not given.caches:
        raise SpecError(
            f"policy {given.label} cannot rank the rows of a cache, which never expire: give one "
            f"of {names}, or a policy object of theirs"
        )
    return given.in_cache(REFERENCE_TIME)
