"""What is common to the resources that jobs can tell of."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.query.language.field import Field


class JobTable(Protocol):
    """One kind of thing that a job can be asked about."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """All its fields by name."""

    async def rows(self, unit: LogicalUnit[Any], wanted: frozenset[str]) -> tuple[Sequence[Any], Any]:
        """All rows in order, and the context that the fields read besides.

        @param wanted: the fields that will be read, by the filter, too.
        """
