"""Providers of external storage as rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.logic.ext_storage.fields import FIELDS, is_shown
from ganeti_tx.logic.ext_storage.on_nodes import ProviderOnNodes, providers_on_nodes
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.query.language.field import Field


class ExtStorageTable:
    """See `JobTable`; what cannot be used everywhere is there when somebody asks how it is."""

    fields: Mapping[str, Field] = FIELDS

    async def rows(self, unit: LogicalUnit[Any], wanted: frozenset[str]) -> tuple[Sequence[ProviderOnNodes], None]:
        """See `JobTable`."""
        return [each for each in await providers_on_nodes(unit) if is_shown(each, wanted)], None
