"""Opcodes that make instances."""

from collections.abc import Mapping
from typing import Any

from ganeti_tx.model.enums import DiskTemplate, FileDriver, Hypervisor
from ganeti_tx.model.opcodes.base import OpCode
from ganeti_tx.model.opcodes.private import Private, Secret
from ganeti_tx.model.opcodes.types import (
    DEFAULT_SHUTDOWN_TIMEOUT,
    NO_COMPRESSION,
    DiskParams,
    InstanceCreateMode,
    NicParams,
    NonEmpty,
    Params,
    Seconds,
)


class OpInstanceCreate(OpCode, tag="OP_INSTANCE_CREATE"):
    """Make an instance, by installing, importing or receiving it."""

    summary_field = "instance_name"

    instance_name: str
    force_variant: bool = False
    wait_for_sync: bool = True
    name_check: bool = True
    ignore_ipolicy: bool = False
    opportunistic_locking: bool = False
    beparams: Params = {}
    disks: tuple[DiskParams, ...]
    disk_template: DiskTemplate | None = None
    group_name: NonEmpty | None = None
    file_driver: FileDriver | None = None
    file_storage_dir: NonEmpty | None = None
    hvparams: Params = {}
    hypervisor: Hypervisor | None = None
    iallocator: NonEmpty | None = None
    identify_defaults: bool = False
    ip_check: bool = True
    conflicts_check: bool = True
    mode: InstanceCreateMode
    nics: tuple[NicParams, ...]
    no_install: bool | None = None
    osparams: Params = {}
    osparams_private: dict[str, Private] | None = None
    osparams_secret: dict[str, Secret] | None = None
    os_type: NonEmpty | None = None
    pnode: NonEmpty | None = None
    pnode_uuid: NonEmpty | None = None
    snode: NonEmpty | None = None
    snode_uuid: NonEmpty | None = None
    source_handshake: tuple[Any, ...] | None = None
    source_instance_name: NonEmpty | None = None
    source_shutdown_timeout: Seconds = DEFAULT_SHUTDOWN_TIMEOUT
    source_x509_ca: NonEmpty | None = None
    src_node: NonEmpty | None = None
    src_node_uuid: NonEmpty | None = None
    src_path: NonEmpty | None = None
    compress: str = NO_COMPRESSION
    start: bool = True
    forthcoming: bool = False
    commit: bool = False
    tags: tuple[NonEmpty, ...] = ()
    instance_communication: bool = False
    helper_startup_timeout: int | None = None
    helper_shutdown_timeout: int | None = None
    #: An import without interfaces gets those of its export; with this it gets none.
    no_nics: bool = False


class OpInstanceMultiAlloc(OpCode, tag="OP_INSTANCE_MULTI_ALLOC"):
    """Place many new instances at once, each then made by a job of its own."""

    opportunistic_locking: bool = False
    iallocator: NonEmpty | None = None
    instances: tuple[OpInstanceCreate, ...] = ()

    @classmethod
    def upgrade(cls, raw: Mapping[str, Any]) -> Mapping[str, Any]:
        """See `OpCode`: what is null in an instance is left to its default, as in an opcode by itself."""
        instances = raw.get("instances")
        return (
            raw if not isinstance(instances, list) else {**raw, "instances": [without_null(each) for each in instances]}
        )


def without_null(instance: object) -> object:
    """A new instance in a list of them; what is none is left to the decoder's judgement."""
    if not isinstance(instance, Mapping):
        return instance
    return {"OP_ID": OpInstanceCreate.op_id(), **{name: value for name, value in instance.items() if value is not None}}
