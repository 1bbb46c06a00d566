"""All operations of the Remote API."""

from ganeti_tx.rapi.operation import Operation
from ganeti_tx.rapi.resources import info, instance_power

OPERATIONS: tuple[Operation, ...] = (
    *info.OPERATIONS,
    *instance_power.OPERATIONS,
)
