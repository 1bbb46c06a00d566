"""Which providers of external storage the nodes have."""

from typing import Any

from ganeti_tx.errors import ECode, OpPrereqError
from ganeti_tx.logic.ext_storage.fields import FIELDS, is_shown
from ganeti_tx.logic.ext_storage.on_nodes import providers_on_nodes
from ganeti_tx.logic.unit import LogicalUnit
from ganeti_tx.model.opcodes import OpExtStorageDiagnose


class LUExtStorageDiagnose(LogicalUnit[OpExtStorageDiagnose]):
    """Ask all nodes that run instances; what cannot be used everywhere is left out unless its state is asked for."""

    async def check(self) -> None:
        """Only fields that there are."""
        for name in self.op.output_fields:
            if name not in FIELDS:
                raise OpPrereqError(
                    f"unknown field {name!r} of a storage provider; there are {', '.join(FIELDS)}", ECode.INVAL
                )

    async def execute(self) -> list[list[Any]]:
        """A row a provider, by name."""
        readers = [FIELDS[name].bind(None) for name in self.op.output_fields]
        return [
            [read(provider) for read in readers]
            for provider in await providers_on_nodes(self)
            if is_shown(provider, self.op.output_fields) and (not self.op.names or provider.name in self.op.names)
        ]
