"""Operating systems as rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from ganeti_tx.logic.os.fields import FIELDS, is_shown
from ganeti_tx.logic.os.on_nodes import OsOnNodes, oses_on_nodes
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.cluster import Cluster
from ganeti_tx.query.language.field import Field


class OsTable:
    """See `JobTable`; what is hidden, blacklisted or cannot be used is there when somebody asks for that."""

    fields: Mapping[str, Field] = FIELDS

    async def rows(self, unit: LogicalUnit[Any], wanted: frozenset[str]) -> tuple[Sequence[OsOnNodes], Cluster]:
        """See `JobTable`."""
        cluster = await unit.config.cluster()
        return [each for each in await oses_on_nodes(unit) if is_shown(each, cluster, wanted)], cluster
