"""All operations of the Remote API."""

from collections.abc import Container

from ganeti_tx.model.opcodes import OpCode
from ganeti_tx.rapi.operations.availability import available, refusing_unavailable
from ganeti_tx.rapi.operations.operation import Operation
from ganeti_tx.rapi.operations.refusals import with_clear_refusals
from ganeti_tx.rapi.resources import (
    cluster,
    events,
    filters,
    groups,
    info,
    instance_disks,
    instance_info,
    instance_placement,
    instance_power,
    instance_settings,
    instances,
    jobs,
    metrics,
    networks,
    node_role,
    node_storage,
    nodes,
    os,
    query,
    tags,
)
from ganeti_tx.rapi.resources.openapi import with_description

_DECLARED: tuple[Operation, ...] = (
    *info.OPERATIONS,
    *cluster.OPERATIONS,
    *instances.OPERATIONS,
    *instance_info.OPERATIONS,
    *instance_settings.OPERATIONS,
    *instance_power.OPERATIONS,
    *instance_disks.OPERATIONS,
    *instance_placement.OPERATIONS,
    *nodes.OPERATIONS,
    *node_role.OPERATIONS,
    *node_storage.OPERATIONS,
    *groups.OPERATIONS,
    *networks.OPERATIONS,
    *os.OPERATIONS,
    *tags.OPERATIONS,
    *jobs.OPERATIONS,
    *filters.OPERATIONS,
    *query.OPERATIONS,
    *events.OPERATIONS,
    *metrics.OPERATIONS,
)

_CLEAR = tuple(map(with_clear_refusals, _DECLARED))
#: What Ganeti's clients know; some of it may be beyond this version.
OPERATIONS = with_description(_CLEAR)


def served_operations(built: Container[type[OpCode]]) -> tuple[Operation, ...]:
    """The operations where jobs can do the opcodes that are `built`: what needs others is refused and not described."""
    return with_description(refusing_unavailable(_CLEAR, built), available(_CLEAR, built))
