"""Guarantees about people with rows in several linked tables: counted by person, a part for each sensitive column."""

from __future__ import annotations

from discreet.core.errors import ParameterError
from discreet.core.guarantee import AllOf, Guarantee
from discreet.core.tables.linked_tables import LinkedTables
from discreet.guarantees.per_unit import PerUnit


def by_linked_people(guarantee: Guarantee, linked: LinkedTables) -> Guarantee:
    """Return a guarantee for the joined view of linked tables, as it is judged and written down.

    A part about sensitive values becomes one part for each column that it looks at, since people may have rows in the
    table of one and none in that of another.

    >>> import pyarrow as pa
    >>> from discreet import Table, person, quasi, sensitive
    >>> from discreet.guarantees import DistinctDiversity, KAnonymity
    >>> roles = {"who": person(), "age": quasi()}
    >>> people = Table(pa.table({"who": [1, 2], "age": [60, 60]}), roles)
    >>> drugs = Table(pa.table({"who": [1, 2], "age": [60, 60], "drug": ["a", "b"]}), {**roles, "drug": sensitive()})
    >>> by_linked_people(KAnonymity(2) & DistinctDiversity(2), LinkedTables({"people": people, "drugs": drugs}))
    KAnonymity(k=2) per 'who' & DistinctDiversity(l=2, of='drug') per 'who'
    """
    unit, names = linked.units.column, linked.schema.sensitive
    parts: list[Guarantee] = []
    for part in guarantee.parts if isinstance(guarantee, AllOf) else (guarantee,):
        inner = part.guarantee if isinstance(part, PerUnit) else part
        if hasattr(inner, "population"):
            raise ParameterError(
                f"{type(inner).__name__} counts people of a population by one table, so linked tables cannot keep it."
            )
        fields = inner.to_dict()
        fields.pop("guarantee")
        columns = inner.columns(names)
        each = [type(inner)(**{**fields, "of": column}) for column in columns] if columns else [inner]
        parts += [PerUnit(one_column, unit).bound_to(linked) for one_column in each]  # type: ignore[arg-type]
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))
