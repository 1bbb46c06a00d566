"""The table of opcodes by OP_ID."""

from types import ModuleType

from ganeti_tx.model.opcodes import (
    backup,
    cluster,
    cluster_verify,
    ext_storage,
    group,
    instance,
    instance_create,
    instance_disks,
    instance_place,
    instance_state,
    network,
    node,
    node_storage,
    os,
    query,
    tags,
    test,
)
from ganeti_tx.model.opcodes.base import OpCode

NOUNS: tuple[ModuleType, ...] = (
    backup,
    cluster,
    cluster_verify,
    ext_storage,
    group,
    instance,
    instance_create,
    instance_disks,
    instance_place,
    instance_state,
    network,
    node,
    node_storage,
    os,
    query,
    tags,
    test,
)

OPCODES: dict[str, type[OpCode]] = {
    found.op_id(): found
    for noun in NOUNS
    for found in vars(noun).values()
    if isinstance(found, type) and issubclass(found, OpCode) and found is not OpCode
}
