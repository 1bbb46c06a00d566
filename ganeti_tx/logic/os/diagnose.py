"""Which OS definitions the nodes have."""

from typing import Any

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.os.fields import FIELDS, is_shown
from ganeti_tx.logic.os.on_nodes import oses_on_nodes
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpOsDiagnose


class LUOsDiagnose(LogicalUnit[OpOsDiagnose]):
    """Ask all nodes that run instances; definitions that cannot be used are left out unless their state is asked for."""

    async def check(self) -> None:
        """Only fields that there are, and a group that there is."""
        self._group = await self.config.group(self.op.group_name) if self.op.group_name else None
        for name in self.op.output_fields:
            if name not in FIELDS:
                raise OpPrereqError(f"unknown field {name!r} of an OS; there are {', '.join(FIELDS)}", ECode.INVAL)

    async def execute(self) -> list[list[Any]]:
        """A row a definition, by name."""
        cluster = await self.config.cluster()
        readers = [FIELDS[name].bind(cluster) for name in self.op.output_fields]
        return [
            [read(found) for read in readers]
            for found in await oses_on_nodes(self, self._group)
            if is_shown(found, cluster, self.op.output_fields) and (not self.op.names or found.name in self.op.names)
        ]
