"""All operations."""

from ganeti_tx.rapi.operation import Operation
from ganeti_tx.rapi.resources import root

OPERATIONS: tuple[Operation, ...] = (*root.OPERATIONS,)
